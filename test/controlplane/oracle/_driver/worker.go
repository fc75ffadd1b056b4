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

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/apiserver"
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
		c.collector(&pausingClient{c.server, pause, c.scenario.Faults.Misread}).processAttemptToDeleteWorker(context.Background())
	})
}

// startOrphanWorker does not pause: the collector patches dependents from goroutines of
// its own, which cannot.
func (c *cluster) startOrphanWorker() {
	c.start(true, func(func()) {
		c.collector(&pausingClient{c.server, func() {}, c.scenario.Faults.Misread}).processAttemptToOrphanWorker(klog.Background())
	})
}

// pausingClient is a client of the server that calls pause before each request. It shows another
// object in the place of each that is misread.
type pausingClient struct {
	server  *apiserver.Server
	pause   func()
	misread []types.UID
}

// Resource implements metadata.Interface.
func (p *pausingClient) Resource(r schema.GroupVersionResource) metadata.Getter {
	return &pausingResource{pausingClient: p, resource: r}
}

// pausingResource has what the collector and the namespace controller use. All lists are complete.
type pausingResource struct {
	metadata.ResourceInterface
	*pausingClient
	resource  schema.GroupVersionResource
	namespace string
}

// Namespace implements metadata.Getter.
func (p *pausingResource) Namespace(namespace string) metadata.ResourceInterface {
	return &pausingResource{pausingClient: p.pausingClient, resource: p.resource, namespace: namespace}
}

// Get implements metadata.ResourceInterface, and so do the others.
func (p *pausingResource) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	p.pause()
	out, err := p.server.Get(p.resource, p.namespace, name)
	if err == nil && slices.Contains(p.misread, out.UID) {
		out.UID = "another object"
	}
	return metadataOf(out, err)
}

func (p *pausingResource) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	p.pause()
	objects, err := p.server.List(p.resource, p.namespace)
	out := &metav1.PartialObjectMetadataList{}
	for _, o := range objects {
		out.Items = append(out.Items, o.PartialObjectMetadata)
	}
	return out, err
}

func (p *pausingResource) Delete(_ context.Context, name string, o metav1.DeleteOptions, _ ...string) error {
	p.pause()
	_, err := p.server.Delete(p.resource, p.namespace, name, o)
	return err
}

func (p *pausingResource) DeleteCollection(_ context.Context, o metav1.DeleteOptions, _ metav1.ListOptions) error {
	p.pause()
	return p.server.DeleteCollection(p.resource, p.namespace, o)
}

func (p *pausingResource) Patch(_ context.Context, name string, pt types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	p.pause()
	return metadataOf(p.server.Patch(p.resource, p.namespace, name, pt, data))
}

func metadataOf(o *apiserver.Object, err error) (*metav1.PartialObjectMetadata, error) {
	if err != nil {
		return nil, err
	}
	return &o.PartialObjectMetadata, nil
}
