package cluster

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

// job is one list: a type, in one namespace or everywhere.
type job struct {
	of        snapshot.Type
	namespace string
	fields    string // a field selector; such a list shows a part only
	name      string // of the single object that is asked for; empty: a list
	unstored  bool   // the answer to a dry run: what is not stored has no resourceVersion
}

func (j job) listing() snapshot.Listing {
	return snapshot.Listing{Group: j.of.Group, Resource: j.of.Resource, Namespace: j.namespace}
}

// answer is what a list brought. err leaves the objects true but not all.
type answer struct {
	objects []*object.Object
	version string // the resourceVersion of the list
	err     error
}

// listAll runs the jobs with bounded concurrency; answers are in the order of
// the jobs. A failed list fails alone. The error is the context's.
func (c *Cluster) listAll(ctx context.Context, jobs []job, labels bool) ([]answer, error) {
	progress := counter{total: len(jobs), tell: c.options.Progress}
	pace := newPace(c.atOnce(jobs))
	return inParallel(ctx, c.atOnce(jobs), jobs, func(j job) answer {
		a := c.listAmong(ctx, pace, j, labels)
		progress.add(len(a.objects))
		return a
	})
}

// atOnce is how many of the jobs are run at a time.
func (c *Cluster) atOnce(jobs []job) int {
	if slices.ContainsFunc(jobs, func(j job) bool { return j.namespace == "" }) {
		return c.options.Concurrency
	}
	return c.options.Small
}

// mostObjects is how much of a list is read: more than etcd holds, and less than
// the memory that a server which sends no end of them would take.
const mostObjects = 10_000_000

// list reads a type by itself.
func (c *Cluster) list(ctx context.Context, j job, labels bool) answer {
	return c.listAmong(ctx, newPace(c.options.Concurrency), j, labels)
}

// listAmong reads a type page by page. When the server forgets the point from which
// the pages are cut (410), or its pages contradict each other, it starts over once,
// without pages. What was read before an error is returned with it. at bounds the
// requests in flight, those of other lists among them.
func (c *Cluster) listAmong(ctx context.Context, at *pageSize, j job, labels bool) answer {
	if err := at.flights.Acquire(ctx, 1); err != nil {
		return answer{err: err}
	}
	defer at.flights.Release(1)
	var objects []*object.Object
	newest := c.states.newestOf(j.of.GroupResource())
	reading := c.paging(j, labels, at)
	defer reading.close()
	options := metav1.ListOptions{Limit: c.options.ChunkSize, FieldSelector: j.fields}
	for read, over := (pages{}), false; ; options.Continue = read.at {
		if options.Continue != "" && options.Limit > 0 {
			options.Limit = reading.size
		}
		all, page, err := reading.page(ctx, options, objects, mostObjects-read.read)
		more := false
		if err == nil {
			fresh := all[len(objects):]
			objects = all
			if more, err = read.next(page, firstOf(fresh), len(fresh)); err == nil {
				err = c.states.note(j.of.GroupResource(), newest, page.ResourceVersion)
			}
		}
		again := apierrors.IsResourceExpired(err) && options.Continue != "" || errors.Is(err, errContradicted)
		switch {
		case again && !over:
			c.memory.give(objects)
			objects, read, over = nil, pages{}, true
			options.Limit = 0
		case err != nil || !more:
			return answer{objects, read.version, err}
		default:
			objects = slices.Grow(objects, remaining(page))
		}
	}
}

// firstOf is where the first object of a page lives, or empty.
func firstOf(page []*object.Object) string {
	if len(page) == 0 {
		return ""
	}
	return page[0].Namespace + "/" + page[0].Name
}

// believed is up to how many objects to come there is room made for: no more memory than
// a server's word is worth.
const believed = 1 << 20

// remaining is how many objects the pages behind this one hold, as far as it says so.
func remaining(page metav1.ListMeta) int {
	if page.RemainingItemCount == nil {
		return 0
	}
	return int(max(0, min(*page.RemainingItemCount, believed)))
}

// counter adds up progress from many goroutines.
type counter struct {
	mu                   sync.Mutex
	done, total, objects int
	tell                 func(Progress)
}

func (c *counter) add(objects int) {
	if c.tell == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.objects += objects
	c.tell(Progress{Done: c.done, Total: c.total, Objects: c.objects})
}
