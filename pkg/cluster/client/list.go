package client

import (
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Query says what to request: the list of a type, in one namespace or all, or one object.
type Query struct {
	Type          snapshot.Type
	Namespace     string
	FieldSelector string // selects a part of the list
	Name          string // of a single object; empty: a list
	Metadata      bool   // EachPage and what calls it read metadata alone
	DryRun        bool   // the answer is that of a dry run, which may lack a resourceVersion
}

// QueryOf returns the query for one object. The error is ErrNotServed if no request can be made for it.
func QueryOf(view *snapshot.View, o object.Identity) (Query, error) {
	m, ok := view.Map(o.APIVersion, o.Kind)
	if !ok || !m.Served || !snapshot.ValidName(o.Name) {
		return Query{}, ErrNotServed
	}
	return Query{Type: m.Type, Namespace: o.Namespace, Name: o.Name}, nil
}

func (q Query) Listing() snapshot.Listing {
	return snapshot.Listing{Group: q.Type.Group, Resource: q.Type.Resource, Namespace: q.Namespace}
}

// ListResult is the result of a list. With an error, the objects are valid but incomplete.
type ListResult struct {
	Objects         []*object.Object
	ResourceVersion string
	Err             error
}

// ListAll requests the lists concurrently and returns their results in the same order. A list
// that fails does not affect the others. The error is the context's.
func (c *Client) ListAll(ctx context.Context, queries []Query, labels bool) ([]ListResult, error) {
	flights := c.Config.SmallConcurrency
	if slices.ContainsFunc(queries, func(q Query) bool { return q.Namespace == "" }) {
		flights = c.Config.Concurrency
	}
	var mu sync.Mutex // guards progress
	progress := ScanProgress{Total: len(queries)}
	return InParallel(ctx, flights, queries, func(q Query) ListResult {
		a := c.List(ctx, q, labels)
		if c.Config.Progress != nil && q.FieldSelector == "" {
			mu.Lock()
			defer mu.Unlock()
			progress.Done++
			progress.Objects += len(a.Objects)
			c.Config.Progress(progress)
		}
		return a
	})
}

// maxObjects limits the length of a list. etcd cannot hold that many, and a server that never
// stops sending them would use up all memory.
const maxObjects = 10_000_000

// notInCache is in the answer of an API server that cannot fill its watch cache of a type, for example because it
// cannot read an object. It rejects lists then, except those with a limit, which etcd answers.
const notInCache = "storage is (re)initializing"

// List requests one list. If a continue token expires (410), it starts over once, without pages.
// What was read before an error is returned with it.
func (c *Client) List(ctx context.Context, q Query, labels bool) ListResult {
	var objects []*object.Object
	r := c.newListReader(q, labels)
	options := metav1.ListOptions{Limit: c.Config.ChunkSize, FieldSelector: q.FieldSelector}
	for pages, restarted := (Pages{}), false; ; options.Continue = pages.Continue {
		all, page, err := r.page(ctx, options, objects, maxObjects-len(objects))
		if apierrors.IsResourceExpired(err) && options.Continue != "" && !restarted {
			c.Memory.Drop(objects...)
			objects, pages, restarted = nil, Pages{}, true
			options.Limit = 0
			continue
		}
		if options.Limit == 0 && err != nil && strings.Contains(err.Error(), notInCache) {
			options.Limit = DefaultChunkSize
			continue
		}
		more := false
		if err == nil {
			more, err = pages.Next(page, len(all)-len(objects))
			objects = all
		}
		if err != nil || !more {
			return ListResult{objects, page.ResourceVersion, err}
		}
	}
}

// FirstPage returns the objects on the first page of a list, at most limit.
func (c *Client) FirstPage(ctx context.Context, q Query, limit int64) ([]*object.Object, error) {
	objects, _, err := c.newListReader(q, false).page(ctx, metav1.ListOptions{Limit: limit}, nil, maxObjects)
	return objects, err
}

// announced returns how many more objects the page announces, 0 if that is unknown.
func announced(page metav1.ListMeta) int64 {
	if page.RemainingItemCount == nil {
		return 0
	}
	return max(0, *page.RemainingItemCount)
}

// DefaultChunkSize is how many objects a page requests from a server that does not stream lists.
const DefaultChunkSize = 5000

// streamingRelease is the first release that sends a list while it encodes it, and serves one
// without pages from its cache (StreamingCollectionEncodingToProtobuf, ConsistentListFromCache).
// From then on pages cost more than they save: those behind the first are read from etcd, unless
// the type has changed since the last compaction.
var streamingRelease = version.MustParseGeneric("1.33")

// ForServer returns the client for a server of that version, such as v1.36.3. With
// Config.ChooseChunkSize it reads no pages from a server that streams lists. An unknown version
// changes nothing.
func (c *Client) ForServer(release string) *Client {
	if !c.Config.ChooseChunkSize || c.Config.ChunkSize == 0 {
		return c
	}
	if v, err := version.ParseGeneric(release); err != nil || v.LessThan(streamingRelease) {
		return c
	}
	out := *c
	out.Config.ChunkSize = 0
	return &out
}
