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
}

func (j job) listing() snapshot.Listing {
	return snapshot.Listing{Group: j.of.Group, Resource: j.of.Resource, Namespace: j.namespace}
}

// answer is what a list brought. err leaves the objects true but not all.
type answer struct {
	objects []*object.Object
	err     error
}

// listAll runs the jobs with bounded concurrency; answers are in the order of
// the jobs. A failed list fails alone. The error is the context's.
func (c *Cluster) listAll(ctx context.Context, jobs []job, labels bool) ([]answer, error) {
	progress := counter{total: len(jobs), tell: c.options.Progress}
	return each(ctx, c.atOnce(jobs), jobs, func(j job) answer {
		objects, err := c.list(ctx, j, labels)
		progress.add(len(objects))
		return answer{objects, err}
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

// list reads a type page by page. When the server forgets the point from which
// the pages are cut (410), it starts over without pages. What was read before
// an error is answered with it.
func (c *Cluster) list(ctx context.Context, j job, labels bool) ([]*object.Object, error) {
	var objects []*object.Object
	pages := c.paging(j, labels)
	options := metav1.ListOptions{Limit: c.options.ChunkSize, FieldSelector: j.fields}
	for left := mostObjects; ; {
		all, page, err := pages.page(ctx, options, objects, left)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			objects, options = nil, metav1.ListOptions{FieldSelector: j.fields}
			continue
		}
		if err != nil {
			return objects, err
		}
		if n := slices.IndexFunc(all[len(objects):], func(o *object.Object) bool { return o.Name == "" || o.UID == "" }); n >= 0 {
			return all[:len(objects)+n], errNoMetadata
		}
		left -= max(len(all)-len(objects), 1) // or pages that hold nothing would never end
		objects = all
		switch page.Continue {
		case "":
			return objects, nil
		case options.Continue:
			return objects, errors.New("the server sends the same page again and again")
		}
		options.Continue = page.Continue
	}
}

// Names are the names of a type's objects in a namespace, or everywhere where
// that is empty: what could be read of them.
func (c *Cluster) Names(ctx context.Context, t snapshot.Type, namespace string) []string {
	objects, _ := c.list(ctx, job{of: t, namespace: namespace}, false) // some names are better than none
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Name
	}
	return names
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
