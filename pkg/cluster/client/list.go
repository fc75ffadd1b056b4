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

func (j Query) Listing() snapshot.Listing {
	return snapshot.Listing{Group: j.Type.Group, Resource: j.Type.Resource, Namespace: j.Namespace}
}

// ListResult is the result of a list. With an error, the objects are valid but incomplete.
type ListResult struct {
	Objects         []*object.Object
	ResourceVersion string
	Err             error
}

// ListAll requests the lists concurrently and returns their results in the same order. A list
// that fails does not affect the others. The error is the context's.
func (c *Client) ListAll(ctx context.Context, jobs []Query, labels bool) ([]ListResult, error) {
	progress := progressCounter{total: len(jobs), report: c.Options.Progress}
	pace := newListLimits(c.concurrency(jobs))
	return InParallel(ctx, c.concurrency(jobs), jobs, func(j Query) ListResult {
		a := c.listWithin(ctx, pace, j, labels)
		progress.add(len(a.Objects))
		return a
	})
}

// concurrency returns how many of the lists to request at a time.
func (c *Client) concurrency(jobs []Query) int {
	if slices.ContainsFunc(jobs, func(j Query) bool { return j.Namespace == "" }) {
		return c.Options.Concurrency
	}
	return c.Options.Small
}

// maxObjects limits the length of a list. etcd cannot hold that many, and a server that never
// stops sending them would use up all memory.
const maxObjects = 10_000_000

// List requests one list.
func (c *Client) List(ctx context.Context, j Query, labels bool) ListResult {
	return c.listWithin(ctx, newListLimits(c.Options.Concurrency), j, labels)
}

// listWithin requests a list page by page. If the continue token expires (410) or the pages
// contradict each other, it starts over once, without pages. What was read before an error is
// returned with it. limits are shared with the other lists of a scan.
func (c *Client) listWithin(ctx context.Context, at *listLimits, j Query, labels bool) ListResult {
	if err := at.requests.Acquire(ctx, 1); err != nil {
		return ListResult{Err: err}
	}
	defer at.requests.Release(1)
	var objects []*object.Object
	newest := c.resourceVersions.newestOf(j.Type.GroupResource())
	reading := c.newPager(j, labels, at)
	defer reading.close()
	options := metav1.ListOptions{Limit: c.Options.ChunkSize, FieldSelector: j.FieldSelector}
	for read, over := (Pages{}), false; ; options.Continue = read.Continue {
		if options.Continue != "" && options.Limit > 0 {
			options.Limit = reading.nextSize
		}
		all, page, err := reading.page(ctx, options, objects, maxObjects-read.read)
		more := false
		if err == nil {
			fresh := all[len(objects):]
			objects = all
			if more, err = read.Next(page, firstName(fresh), len(fresh)); err == nil {
				err = c.resourceVersions.record(j.Type.GroupResource(), newest, page.ResourceVersion)
			}
		}
		again := apierrors.IsResourceExpired(err) && options.Continue != "" || errors.Is(err, ErrContradictoryPages)
		switch {
		case again && !over:
			c.Memory.releaseObjects(objects)
			objects, read, over = nil, Pages{}, true
			options.Limit = 0
		case err != nil || !more:
			return ListResult{objects, read.version, err}
		default:
			objects = slices.Grow(objects, remaining(page))
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

// remaining returns how many more objects the page announces, up to maxPreallocated.
func remaining(page metav1.ListMeta) int {
	if page.RemainingItemCount == nil {
		return 0
	}
	return int(max(0, min(*page.RemainingItemCount, maxPreallocated)))
}

// progressCounter adds up progress from several goroutines.
type progressCounter struct {
	mu                   sync.Mutex
	done, total, objects int
	report               func(Progress)
}

func (c *progressCounter) add(objects int) {
	if c.report == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.objects += objects
	c.report(Progress{Done: c.done, Total: c.total, Objects: c.objects})
}
