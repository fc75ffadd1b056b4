package client

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// resourceVersions knows the newest resourceVersion that was seen of each type. Lists are asked
// for without a resourceVersion, so that a server has to answer with its newest state
// (Kubernetes API concepts, "the resourceVersion parameter"): one that is older than
// what was seen before is the answer of a server which lags behind, or of a cache in
// between. A version that is no number is not compared. It is safe for concurrent use.
type resourceVersions struct {
	mu     sync.Mutex
	newest map[schema.GroupResource]uint64
}

// newestOf returns the newest state that was seen of a type, or 0.
func (s *resourceVersions) newestOf(of schema.GroupResource) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest[of]
}

// record notes that a state of a type was seen. It returns an error if that is older than
// floor, which was the newest when the request was sent.
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

// NotAfter reports whether an object of that resourceVersion was in that state when a list
// was made; false where that cannot be told.
func NotAfter(object, list string) bool {
	of, err := strconv.ParseUint(object, 10, 64)
	made, none := strconv.ParseUint(list, 10, 64)
	return err == nil && none == nil && of <= made
}

// NoteState notes the state of an object that was read or written.
func (c *Client) NoteState(t snapshot.Type, m *metav1.PartialObjectMetadata) {
	_ = c.resourceVersions.record(t.GroupResource(), 0, m.ResourceVersion) // no state is older than none
}

// TypeHistory holds the types that a server named at any time, and those of them that a
// CustomResourceDefinition defined. All scans of a connection share it.
type TypeHistory struct {
	Mu     sync.Mutex // guards what follows
	Types  map[schema.GroupResource]bool
	Custom map[schema.GroupResource]bool
}
