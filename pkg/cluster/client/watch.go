package client

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// watchOverrun is how long after its timeoutSeconds a watch is still trusted.
const watchOverrun = 30 * time.Second

// Watch starts a watch of the metadata of a query's objects. The server has to begin its answer within
// Config.Timeout; from then on, the watch lasts until the server or the context ends it, or Stop does.
// A watch that lasts longer than its timeoutSeconds and watchOverrun may have missed any event: it
// ends with the error that events have expired, after which a reflector lists again. Every other event
// is what verify returns of it, if that keeps it.
func (c *Client) Watch(ctx context.Context, q Query, o metav1.ListOptions, verify func(watch.Event) (event watch.Event, keep bool)) (watch.Interface, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.Config.Timeout > 0 {
		late := time.AfterFunc(c.Config.Timeout, func() { cancel(context.DeadlineExceeded) })
		defer late.Stop()
	}
	o.FieldSelector = q.FieldSelector
	in, err := c.resource(q).Watch(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		cancel(nil)
		return nil, err
	}
	w := &begunWatch{Interface: in, events: make(chan watch.Event), cancel: cancel}
	go w.forward(ctx, o.TimeoutSeconds, verify)
	return w, nil
}

// begunWatch ends the context of its request, too, and is bounded in time.
type begunWatch struct {
	watch.Interface
	events chan watch.Event
	cancel context.CancelCauseFunc
}

// forward passes on events until the watch ends, or has lasted longer than the server was asked for.
// watch.Filter would leak a goroutine if a watch is stopped while an event arrives.
func (w *begunWatch) forward(ctx context.Context, timeoutSeconds *int64, verify func(watch.Event) (watch.Event, bool)) {
	defer close(w.events)
	var overdue <-chan time.Time
	if timeoutSeconds != nil {
		timer := time.NewTimer(time.Duration(*timeoutSeconds)*time.Second + watchOverrun)
		defer timer.Stop()
		overdue = timer.C
	}
	for last := false; !last; {
		var event watch.Event
		keep := true
		select {
		case received, ok := <-w.Interface.ResultChan():
			if !ok || ctx.Err() != nil { // what comes after Stop is an error because of that
				return
			}
			event, keep = verify(received)
		case <-overdue:
			expired := apierrors.NewResourceExpired("the watch did not end in time, so it may have missed events").Status()
			event, last = watch.Event{Type: watch.Error, Object: &expired}, true
		}
		if !keep {
			continue
		}
		select {
		case w.events <- event:
		case <-ctx.Done():
			return
		}
	}
}

// ResultChan returns the events.
func (w *begunWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop ends the watch.
func (w *begunWatch) Stop() {
	w.cancel(nil)
	w.Interface.Stop()
}

// ListWatch returns what a reflector needs to list and watch the metadata of a query's objects.
// Config.Timeout limits each list, and each watch until it begins. Neither is verified.
func (c *Client) ListWatch(q Query) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			ctx, cancel := c.WithTimeout(ctx)
			defer cancel()
			o.FieldSelector = q.FieldSelector
			return c.resource(q).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, q, o, func(e watch.Event) (watch.Event, bool) { return e, true })
		},
	}
}

// resource returns client-go's client for a query's objects.
func (c *Client) resource(q Query) metadata.ResourceInterface {
	t := q.Type
	return c.metadata.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}).Namespace(q.Namespace)
}
