package client

import (
	"context"
	"errors"
	"io"
	"net"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prefetch is a page requested while the one before it still arrives. A page begins with the
// token of the next one, and a server takes about as long to prepare a page as to send it.
type prefetch struct {
	token  string // continue token
	size   int64
	cancel context.CancelFunc
	done   chan struct{}
	body   io.ReadCloser // valid once done is closed
	err    error
}

// prefetch requests the page that follows the arriving one, unless too many requests are in
// flight.
func (p *pager) prefetch(ctx context.Context, o metav1.ListOptions, next string) {
	if p.prefetched != nil && p.prefetched.token == next { // the page before is being read again
		return
	}
	p.cancelPrefetch()
	if next == "" || next == o.Continue || p.limits == nil {
		return
	}
	if claimed, _ := p.acquireLongList(ctx, false); !claimed || !p.limits.requests.TryAcquire(1) {
		return
	}
	if o.Limit > 0 {
		o.Limit = p.nextSize
	}
	ctx, end := context.WithCancel(ctx)
	a := &prefetch{token: next, size: o.Limit, cancel: end, done: make(chan struct{})}
	p.prefetched, o.Continue = a, next
	go func() {
		defer close(a.done)
		a.body, a.err = p.request(ctx, o)
	}()
}

// readPrefetched reads the prefetched page and reports true, or reports false if the page still
// has to be requested. A prefetched page that timed out is requested again, since its time
// started before anyone waited for it.
func (p *pager) readPrefetched(ctx context.Context, at string, read func(io.Reader) error) (bool, error) {
	a := p.prefetched
	if a == nil || a.token != at {
		return false, nil
	}
	p.prefetched, p.requested = nil, a.size // reading the page prefetches the next one
	defer p.finish(a)
	defer context.AfterFunc(ctx, a.cancel)()
	<-a.done
	err := a.err
	if err == nil {
		err = read(a.body)
	}
	var network net.Error
	return !errors.As(err, &network) || !network.Timeout() || ctx.Err() != nil, err
}

// cancelPrefetch drops a prefetched page.
func (p *pager) cancelPrefetch() {
	if p.prefetched != nil {
		p.finish(p.prefetched)
		p.prefetched = nil
	}
}

func (p *pager) close() {
	p.cancelPrefetch()
	if p.holdsLongList {
		p.limits.longLists.Release(1)
		p.holdsLongList = false
	}
}

func (p *pager) finish(a *prefetch) {
	a.cancel()
	<-a.done
	if a.body != nil {
		_ = a.body.Close() // read only
	}
	p.limits.requests.Release(1)
}
