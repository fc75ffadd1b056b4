package client

import (
	"context"
	"errors"
	"io"
	"net"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prefetch is a page that was asked for while the one before it still arrived: a page
// begins with where the next one does, and a server takes about as long to make one
// ready as to send it.
type prefetch struct {
	token  string // the continue token
	size   int64
	cancel context.CancelFunc
	done   chan struct{}
	body   io.ReadCloser // once done
	err    error
}

// prefetch asks for the page behind the one that is arriving, if another request may
// be in flight.
func (p *pager) prefetch(ctx context.Context, o metav1.ListOptions, next string) {
	if p.prefetched != nil && p.prefetched.token == next { // the one before is arriving again
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

// readPrefetched reads the page that was asked for ahead, if that is the one; false where it has
// to be asked for now. Its time began before anybody waited for it, so that one which
// took too long is asked for again.
func (p *pager) readPrefetched(ctx context.Context, at string, read func(io.Reader) error) (bool, error) {
	a := p.prefetched
	if a == nil || a.token != at {
		return false, nil
	}
	p.prefetched, p.requested = nil, a.size // reading it asks for the next
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

// cancelPrefetch ends what was asked for ahead and is not wanted.
func (p *pager) cancelPrefetch() {
	if p.prefetched != nil {
		p.finish(p.prefetched)
		p.prefetched = nil
	}
}

// close ends the list.
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
