package cluster

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
	at   string // the continue token
	size int64
	end  context.CancelFunc
	done chan struct{}
	body io.ReadCloser // once done
	err  error
}

// askAhead asks for the page behind the one that is arriving, if another request may
// be in flight.
func (p *pager) askAhead(ctx context.Context, o metav1.ListOptions, next string) {
	if p.next != nil && p.next.at == next { // the one before is arriving again
		return
	}
	p.dismiss()
	if next == "" || next == o.Continue || p.pageSize == nil {
		return
	}
	if claimed, _ := p.claim(ctx, false); !claimed || !p.flights.TryAcquire(1) {
		return
	}
	if o.Limit > 0 {
		o.Limit = p.size
	}
	ctx, end := context.WithCancel(ctx)
	a := &prefetch{at: next, size: o.Limit, end: end, done: make(chan struct{})}
	p.next, o.Continue = a, next
	go func() {
		defer close(a.done)
		a.body, a.err = p.ask(ctx, o)
	}()
}

// taken reads the page that was asked for ahead, if that is the one; false where it has
// to be asked for now. Its time began before anybody waited for it, so that one which
// took too long is asked for again.
func (p *pager) taken(ctx context.Context, at string, read func(io.Reader) error) (bool, error) {
	a := p.next
	if a == nil || a.at != at {
		return false, nil
	}
	p.next, p.asked = nil, a.size // reading it asks for the next
	defer p.over(a)
	defer context.AfterFunc(ctx, a.end)()
	<-a.done
	err := a.err
	if err == nil {
		err = read(a.body)
	}
	var network net.Error
	return !errors.As(err, &network) || !network.Timeout() || ctx.Err() != nil, err
}

// dismiss ends what was asked for ahead and is not wanted.
func (p *pager) dismiss() {
	if p.next != nil {
		p.over(p.next)
		p.next = nil
	}
}

// close ends the list.
func (p *pager) close() {
	p.dismiss()
	if p.claimed {
		p.long.Release(1)
		p.claimed = false
	}
}

func (p *pager) over(a *prefetch) {
	a.end()
	<-a.done
	if a.body != nil {
		_ = a.body.Close() // read only
	}
	p.flights.Release(1)
}
