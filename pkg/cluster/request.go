package cluster

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	acceptObject = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptList   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	acceptTable  = "application/json;as=Table;g=meta.k8s.io;v=v1"
)

// retryAfter bounds how often client-go itself honours a Retry-After.
const retryAfter = 2

// again is how a transient failure is asked for again.
var again = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 4, Jitter: 0.2, Steps: 3}

// get asks for a type, or for one object of it. The name must be valid as a
// path segment.
func (c *Cluster) get(t snapshot.Type, namespace, name, accept string) *rest.Request {
	return on(c.rest.Get(), t, namespace, name).SetHeader("Accept", accept).MaxRetries(retryAfter)
}

// on leads a request to a type, or to one object of it.
func on(r *rest.Request, t snapshot.Type, namespace, name string) *rest.Request {
	root := []string{"apis", t.Group, t.Version}
	if t.Group == "" {
		root = []string{"api", t.Version}
	}
	for _, segment := range append(root, t.Resource) {
		if !snapshot.ValidName(segment) {
			return r.Name(segment) // which makes it fail: joined, such a path would lead elsewhere
		}
	}
	r = r.AbsPath(root...)
	if t.Namespaced && namespace != "" {
		r = r.Namespace(namespace)
	}
	r = r.Resource(t.Resource)
	if name != "" {
		r = r.Name(name)
	}
	return r
}

// do sends the request, again where that may help, within the time of one request.
func (c *Cluster) do(ctx context.Context, request func() *rest.Request) (result rest.Result, err error) {
	err = c.persist(ctx, func(ctx context.Context) error {
		result = request().Do(ctx)
		return result.Error()
	})
	return result, err
}

// persist asks, again where that may help, within the time of one request.
func (c *Cluster) persist(ctx context.Context, ask func(context.Context) error) error {
	if c.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	var failed error
	err := wait.ExponentialBackoffWithContext(ctx, again, func(ctx context.Context) (bool, error) {
		failed = ask(ctx)
		return failed == nil || !transient(failed), nil
	})
	if failed == nil && wait.Interrupted(err) {
		return ctx.Err()
	}
	return failed
}
