package client

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	// AcceptObject has a form of whole objects in protobuf too, because the API server sends errors
	// in such a form alone, and those in protobuf are quicker to decode.
	AcceptObject = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/vnd.kubernetes.protobuf,application/json"

	acceptListJSON = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	acceptList     = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + acceptListJSON
	AcceptWhole    = "application/json" // whole objects
	AcceptTable    = "application/json;as=Table;g=meta.k8s.io;v=v1"
)

// MaxRetryAfter limits how often client-go honours a Retry-After header.
const MaxRetryAfter = 2

// RetryBackoff is the schedule for retrying transient errors.
var RetryBackoff = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 4, Jitter: 0.2, Steps: 3}

// get returns a GET request for what the query names, which must be a valid path segment.
func (c *Client) get(q Query, accept string) *rest.Request {
	return SetPath(c.REST.Get(), q).SetHeader("Accept", accept).MaxRetries(MaxRetryAfter)
}

// SetPath sets the path of a request to that of the query's type, or of its object.
func SetPath(r *rest.Request, q Query) *rest.Request {
	t := q.Type
	root := []string{"apis", t.Group, t.Version}
	if t.Group == "" {
		root = []string{"api", t.Version}
	}
	for _, segment := range append(root, t.Resource) {
		if !snapshot.ValidName(segment) {
			return r.Name(segment) // makes the request fail: such a path would lead elsewhere
		}
	}
	r = r.AbsPath(root...)
	if t.Namespaced && q.Namespace != "" {
		r = r.Namespace(q.Namespace)
	}
	r = r.Resource(t.Resource)
	if q.Name != "" {
		r = r.Name(q.Name)
	}
	return r
}

// do sends the request, retries transient errors within Config.Timeout, and returns the answer.
func (c *Client) do(ctx context.Context, request func() *rest.Request) (raw []byte, err error) {
	err = c.retry(ctx, func(ctx context.Context) error {
		raw, err = c.Send(ctx, request())
		return err
	})
	return raw, err
}

// Send sends a request and returns the answer, within Config.Timeout. An error includes the server's
// message.
func (c *Client) Send(ctx context.Context, request *rest.Request) ([]byte, error) {
	ctx, cancel := c.WithTimeout(ctx)
	defer cancel()
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// WithTimeout returns a context that ends with ctx, or when Config.Timeout is over. The caller must call
// the function.
func (c *Client) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Config.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.Config.Timeout)
}

// retry calls ask and retries transient errors within Config.Timeout.
func (c *Client) retry(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := c.WithTimeout(ctx)
	defer cancel()
	return Retry(ctx, RetryBackoff, isTransient, func() error { return ask(ctx) })
}

// Retry calls ask until it succeeds, or fails with an error for which again is false, or the schedule is
// over. Once the context has ended, it does not call it again.
func Retry(ctx context.Context, schedule wait.Backoff, again func(error) bool, ask func() error) error {
	for {
		err := ask()
		pause := schedule.Step()
		if err == nil || !again(err) || schedule.Steps == 0 || Wait(ctx, pause) != nil {
			return err
		}
	}
}

// GetObject returns the metadata of the object that the query names.
func (c *Client) GetObject(ctx context.Context, q Query) (*metav1.PartialObjectMetadata, error) {
	raw, err := c.do(ctx, func() *rest.Request { return c.get(q, AcceptObject) })
	if err != nil {
		return nil, err
	}
	return ReadObject(raw, q, true)
}

// Fetch returns the undecoded answer to a query. Of the options only ResourceVersion has a meaning
// for one object.
func (c *Client) Fetch(ctx context.Context, q Query, accept string, o metav1.ListOptions) ([]byte, error) {
	return c.do(ctx, func() *rest.Request {
		return c.get(q, accept).SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion)
	})
}

// GetRaw requests a path that is not an object.
func (c *Client) GetRaw(ctx context.Context, path, accept string) ([]byte, error) {
	return c.do(ctx, func() *rest.Request {
		return c.REST.Get().AbsPath(path).SetHeader("Accept", accept).MaxRetries(MaxRetryAfter)
	})
}

// InParallel calls ask for every element, limit at a time, and returns the results in the same
// order. Once the context ends it makes no new calls and returns the context's error.
func InParallel[T, R any](ctx context.Context, limit int, in []T, ask func(T) R) ([]R, error) {
	out := make([]R, len(in))
	var group errgroup.Group
	group.SetLimit(limit)
	for i, of := range in {
		group.Go(func() error {
			if ctx.Err() == nil {
				out[i] = ask(of)
			}
			return nil
		})
	}
	_ = group.Wait() // ask reports errors in its result
	return out, ctx.Err()
}

// Wait returns nil after d, or the error of ctx as soon as ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
