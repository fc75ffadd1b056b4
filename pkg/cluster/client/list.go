package client

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Query says what to request: the list of a type, in one namespace or all, or one object.
type Query struct {
	Type          snapshot.Type
	Namespace     string
	FieldSelector string // selects a part of the list
	Name          string // of a single object; empty: a list
	DryRun        bool   // the answer is that of a dry run, which may lack a resourceVersion
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

// Lister requests lists, within limits that all of its lists share.
type Lister struct {
	client *Client
	limits *listLimits
}

// NewLister returns a Lister of whole types.
func (c *Client) NewLister() *Lister { return &Lister{c, newListLimits(c.Options.Concurrency)} }

// List requests one list, as soon as the limits allow it.
func (l *Lister) List(ctx context.Context, q Query, labels bool) ListResult {
	return l.client.listWithin(ctx, l.limits, q, labels)
}

// ListAll requests the lists concurrently and returns their results in the same order. A list
// that fails does not affect the others. The error is the context's.
func (c *Client) ListAll(ctx context.Context, queries []Query, labels bool) ([]ListResult, error) {
	flights := c.Options.SmallConcurrency
	if slices.ContainsFunc(queries, func(q Query) bool { return q.Namespace == "" }) {
		flights = c.Options.Concurrency
	}
	limits := newListLimits(flights)
	var mu sync.Mutex // guards progress
	progress := Progress{Total: len(queries)}
	return InParallel(ctx, flights, queries, func(q Query) ListResult {
		a := c.listWithin(ctx, limits, q, labels)
		if c.Options.Progress != nil && q.FieldSelector == "" {
			mu.Lock()
			defer mu.Unlock()
			progress.Done++
			progress.Objects += len(a.Objects)
			c.Options.Progress(progress)
		}
		return a
	})
}

// maxObjects limits the length of a list. etcd cannot hold that many, and a server that never
// stops sending them would use up all memory.
const maxObjects = 10_000_000

// List requests one list.
func (c *Client) List(ctx context.Context, q Query, labels bool) ListResult {
	return c.NewLister().List(ctx, q, labels)
}

// listWithin requests a list page by page. If the continue token expires (410) or the pages
// contradict each other, it starts over once, without pages. What was read before an error is
// returned with it. limits are shared with the other lists of a scan.
func (c *Client) listWithin(ctx context.Context, limits *listLimits, q Query, labels bool) ListResult {
	if err := limits.requests.Acquire(ctx, 1); err != nil {
		return ListResult{Err: err}
	}
	defer limits.requests.Release(1)
	var objects []*object.Object
	newest := c.resourceVersions.newestOf(q.Type.GroupResource())
	p := c.newPager(q, labels, limits)
	defer p.close()
	options := metav1.ListOptions{Limit: c.Options.ChunkSize, FieldSelector: q.FieldSelector}
	for pages, restarted := (Pages{}), false; ; options.Continue = pages.Continue {
		if options.Continue != "" && options.Limit > 0 {
			options.Limit = p.nextSize
		}
		all, page, err := p.page(ctx, options, objects, maxObjects-pages.read)
		more := false
		if err == nil {
			fresh := all[len(objects):]
			objects = all
			if more, err = pages.Next(page, firstName(fresh), len(fresh)); err == nil {
				err = c.resourceVersions.record(q.Type.GroupResource(), newest, page.ResourceVersion)
			}
		}
		startOver := apierrors.IsResourceExpired(err) && options.Continue != "" || errors.Is(err, ErrContradictoryPages)
		switch {
		case startOver && !restarted:
			c.Memory.Drop(objects...)
			objects, pages, restarted = nil, Pages{}, true
			options.Limit = 0
		case err != nil || !more:
			return ListResult{objects, pages.version, err}
		default:
			objects = slices.Grow(objects, int(min(announced(page), maxPreallocated)))
		}
	}
}

// FirstPage returns the objects on the first page of a list, at most limit.
func (c *Client) FirstPage(ctx context.Context, q Query, limit int64) ([]*object.Object, error) {
	p := c.newPager(q, false, nil)
	defer p.close()
	objects, _, err := p.page(ctx, metav1.ListOptions{Limit: limit}, nil, maxObjects)
	return objects, err
}

// firstName returns namespace and name of the first object, or an empty string.
func firstName(page []*object.Object) string {
	if len(page) == 0 {
		return ""
	}
	return page[0].Namespace + "/" + page[0].Name
}

// maxPreallocated limits how many objects are allocated on a server's announcement.
const maxPreallocated = 1 << 20

// announced returns how many more objects the page announces, 0 if that is unknown.
func announced(page metav1.ListMeta) int64 {
	if page.RemainingItemCount == nil {
		return 0
	}
	return max(0, *page.RemainingItemCount)
}
