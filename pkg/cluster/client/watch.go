package client

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// Watch starts a watch of the metadata of a query's objects. The server has to begin its answer within
// Options.Timeout; from then on, the watch lasts until the server or the context ends it, or Stop does.
// Its events are not verified.
func (c *Client) Watch(ctx context.Context, q Query, o metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.Options.Timeout > 0 {
		late := time.AfterFunc(c.Options.Timeout, func() { cancel(context.DeadlineExceeded) })
		defer late.Stop()
	}
	o.FieldSelector = q.FieldSelector
	w, err := c.resource(q).Watch(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		cancel(nil)
		return nil, err
	}
	return &begunWatch{w, func() { cancel(nil) }}, nil
}

// begunWatch ends the context of its request, too.
type begunWatch struct {
	watch.Interface
	cancel func()
}

// Stop ends the watch.
func (w *begunWatch) Stop() {
	w.Interface.Stop()
	w.cancel()
}

// ListWatch returns what a reflector needs to list and watch the metadata of a query's objects.
// Options.Timeout limits each list, and each watch until it begins. Neither is verified.
func (c *Client) ListWatch(q Query) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			ctx, cancel := c.WithTimeout(ctx)
			defer cancel()
			o.FieldSelector = q.FieldSelector
			return c.resource(q).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, q, o)
		},
	}
}

// resource returns client-go's client for a query's objects.
func (c *Client) resource(q Query) metadata.ResourceInterface {
	t := q.Type
	return c.metadata.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}).Namespace(q.Namespace)
}
