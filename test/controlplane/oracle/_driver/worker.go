package garbagecollector

import (
	"context"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"
)

// maxWorkers is how many items the workers of the collector process at the same time.
const maxWorkers = 2

// routine is a worker or controller that pauses before each of its requests, so that others
// can act in between.
type routine struct {
	next   func() (struct{}, bool)
	worker bool // of the garbage collector
}

// start begins a routine. do runs up to its first call of pause.
func (c *cluster) start(worker bool, do func(pause func())) {
	next, _ := iter.Pull(func(yield func(struct{}) bool) { do(func() { yield(struct{}{}) }) })
	r := &routine{next: next, worker: worker}
	c.running = append(c.running, r)
	c.resume(r)
}

// resume continues a routine until its next pause or its end.
func (c *cluster) resume(r *routine) {
	if _, more := r.next(); !more {
		c.running = slices.DeleteFunc(c.running, func(other *routine) bool { return other == r })
	}
}

func (c *cluster) workers() int {
	n := 0
	for _, r := range c.running {
		if r.worker {
			n++
		}
	}
	return n
}

func (c *cluster) startDeleteWorker() {
	c.start(true, func(pause func()) {
		c.collector(&pausingClient{c.server.Client(), pause, c.scenario.Faults.Misread}).processAttemptToDeleteWorker(context.Background())
	})
}

// startOrphanWorker does not pause: the collector patches dependents from goroutines of
// its own, which cannot.
func (c *cluster) startOrphanWorker() {
	c.start(true, func(func()) {
		c.collector(&pausingClient{c.server.Client(), func() {}, c.scenario.Faults.Misread}).processAttemptToOrphanWorker(klog.Background())
	})
}

// pausingClient calls pause before each request. It shows another object in the place of each that
// is misread.
type pausingClient struct {
	metadata.Interface
	pause   func()
	misread []types.UID
}

// Resource implements metadata.Interface.
func (p *pausingClient) Resource(r schema.GroupVersionResource) metadata.Getter {
	return &pausingResource{p.Interface.Resource(r), p.Interface.Resource(r), p.pause, p.misread}
}

type pausingResource struct {
	metadata.ResourceInterface
	getter  metadata.Getter
	pause   func()
	misread []types.UID
}

// Namespace implements metadata.Getter.
func (p *pausingResource) Namespace(namespace string) metadata.ResourceInterface {
	return &pausingResource{p.getter.Namespace(namespace), p.getter, p.pause, p.misread}
}

// Get implements metadata.ResourceInterface, and so do the others.
func (p *pausingResource) Get(ctx context.Context, name string, o metav1.GetOptions, sub ...string) (*metav1.PartialObjectMetadata, error) {
	p.pause()
	out, err := p.ResourceInterface.Get(ctx, name, o, sub...)
	if err == nil && slices.Contains(p.misread, out.UID) {
		out = out.DeepCopy()
		out.UID = "another object"
	}
	return out, err
}

func (p *pausingResource) List(ctx context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	p.pause()
	return p.ResourceInterface.List(ctx, o)
}

func (p *pausingResource) Delete(ctx context.Context, name string, o metav1.DeleteOptions, sub ...string) error {
	p.pause()
	return p.ResourceInterface.Delete(ctx, name, o, sub...)
}

func (p *pausingResource) DeleteCollection(ctx context.Context, o metav1.DeleteOptions, l metav1.ListOptions) error {
	p.pause()
	return p.ResourceInterface.DeleteCollection(ctx, o, l)
}

func (p *pausingResource) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*metav1.PartialObjectMetadata, error) {
	p.pause()
	return p.ResourceInterface.Patch(ctx, name, pt, data, o, sub...)
}
