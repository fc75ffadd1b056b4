package client

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// resourceVersions holds the newest resourceVersion seen for each type. Lists are requested
// without a resourceVersion, so a server must return its newest state (Kubernetes API concepts,
// "the resourceVersion parameter"). An older one comes from a server that lags behind or from a
// cache. Versions that are not numbers are not compared. It is safe for concurrent use.
type resourceVersions struct {
	mu     sync.Mutex
	newest map[schema.GroupResource]uint64
}

// newestOf returns the newest resourceVersion seen for a type, or 0.
func (s *resourceVersions) newestOf(of schema.GroupResource) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest[of]
}

// record records a resourceVersion. It returns an error if that is older than floor, the newest
// one when the request was sent.
func (s *resourceVersions) record(of schema.GroupResource, floor uint64, resourceVersion string) error {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil {
		s.newest = map[schema.GroupResource]uint64{}
	}
	s.newest[of] = max(s.newest[of], version)
	if version < floor {
		return NewAnswerError("the list is of resourceVersion %d, and %d was seen before", version, floor)
	}
	return nil
}

// NotAfter reports whether the object's resourceVersion is known to be no newer than the list's.
func NotAfter(object, list string) bool {
	of, err := strconv.ParseUint(object, 10, 64)
	made, none := strconv.ParseUint(list, 10, 64)
	return err == nil && none == nil && of <= made
}

// NoteState records the resourceVersion of an object that was read or written.
func (c *Client) NoteState(t snapshot.Type, m *metav1.PartialObjectMetadata) {
	_ = c.resourceVersions.record(t.GroupResource(), 0, m.ResourceVersion) // cannot be older than 0
}

// TypeHistory holds all types that discovery has returned on this connection.
type TypeHistory struct {
	Mu     sync.Mutex // guards the maps
	Types  map[schema.GroupResource]bool
	Custom map[schema.GroupResource]bool
}
