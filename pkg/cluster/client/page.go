package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/metaproto"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

const (
	// maxLongLists limits how many lists of more than one page are read at a time. Each costs the
	// server the memory of a page, and more lists than free processors slow all of them down.
	maxLongLists = 2
)

// listLimits bounds the requests and long lists in flight of one scan.
type listLimits struct {
	requests  *semaphore.Weighted
	longLists *semaphore.Weighted
}

func newListLimits(flights int) *listLimits {
	return &listLimits{semaphore.NewWeighted(int64(flights)), semaphore.NewWeighted(maxLongLists)}
}

// window is the size of the read buffer of a response.
const window = 64 << 10

var windows = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, window) }}

// pager reads a list page by page. The caller must close it.
type pager struct {
	client        *Client
	query         Query
	limits        *listLimits // nil: read only one page
	labels        bool
	reader        *metaproto.Reader
	nextSize      int64     // limit of the pages to request next
	requested     int64     // limit of the page being read; 0: none
	prefetched    *prefetch // nil unless a prefetch is under way
	holdsLongList bool      // until the pager is closed
	held          int64     // bytes of memory used by the page being read
}

func (c *Client) newPager(q Query, labels bool, limits *listLimits) *pager {
	p := &pager{client: c, query: q, limits: limits, labels: labels, nextSize: c.Options.ChunkSize, reader: metaproto.NewReader(q.Type.APIVersion(), q.Type.Kind, labels)}
	p.reader.OnObject = p.accept
	return p
}

// page reads one page and appends its objects to into, at most most in all. A page that breaks
// off is requested again; its objects are dropped.
func (p *pager) page(ctx context.Context, o metav1.ListOptions, into []*object.Object, most int) (all []*object.Object, page metav1.ListMeta, err error) {
	p.reader.OnListMeta = func(m metav1.ListMeta) { p.prefetch(ctx, o, m.Continue) }
	if o.Continue != "" && !p.holdsLongList {
		if err := p.limits.longLists.Acquire(ctx, 1); err != nil {
			return into, page, err
		}
		p.holdsLongList = true
	}
	started := time.Now()
	p.held = 0
	err = p.client.retry(ctx, func(ctx context.Context) error {
		read := func(body io.Reader) (err error) {
			p.client.Memory.Release(p.held) // of an earlier attempt
			p.held = 0
			all, page, err = p.read(into, body, most)
			return err
		}
		if taken, err := p.readPrefetched(ctx, o.Continue, read); taken {
			return err
		}
		p.requested = o.Limit
		body, err := p.request(ctx, o)
		if err != nil {
			return err
		}
		defer body.Close() // read only
		return read(body)
	})
	if p.requested > 0 {
		p.nextSize = nextPageSize(p.requested, p.client.Options.largestPage(), time.Since(started))
	}
	return all, page, err
}

func (p *pager) request(ctx context.Context, o metav1.ListOptions) (io.ReadCloser, error) {
	request := p.client.get(p.query.Type, p.query.Namespace, "", acceptList).SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion)
	compressed := p.client.compression.worthwhile()
	if !compressed {
		request.SetHeader("Accept-Encoding", "identity")
	}
	ctx, record := p.client.compression.traceLatency(ctx)
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, err
	}
	record()
	if compressed {
		return body, nil
	}
	return &measuredBody{ReadCloser: body, compression: p.client.compression}, nil
}

func (p *pager) read(into []*object.Object, body io.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	in := windows.Get().(*bufio.Reader)
	in.Reset(body)
	defer func() {
		in.Reset(nil)
		windows.Put(in)
	}()
	if head, _ := in.Peek(len(metaproto.Head)); string(head) == metaproto.Head {
		return p.reader.Append(into, in, most)
	}
	return p.readJSON(into, in, most)
}

// readJSON reads a JSON page, which must be held as a whole before it can be decoded.
func (p *pager) readJSON(into []*object.Object, in io.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	raw, held, err := p.client.Memory.readAll(in)
	defer p.client.Memory.Release(held)
	if err != nil {
		return into, metav1.ListMeta{}, fmt.Errorf("read list: %w", err)
	}
	items, meta, err := ReadPage(raw, p.query, true)
	if err != nil {
		return into, metav1.ListMeta{}, err
	}
	if len(items) > most {
		return into, metav1.ListMeta{}, metaproto.ErrTooManyObjects
	}
	for _, raw := range items {
		item, err := ReadItem(raw, p.query, true)
		if err != nil {
			return into, metav1.ListMeta{}, err
		}
		o := object.FromMeta(p.query.Type.APIVersion(), p.query.Type.Kind, item, p.labels)
		if err := p.accept(&o); err != nil {
			return into, metav1.ListMeta{}, err
		}
		into = append(into, &o)
	}
	return into, meta, nil
}

// accept verifies an object of a page and counts its memory.
func (p *pager) accept(o *object.Object) error {
	if err := VerifyObject(p.query, o.Namespace, o.Name, string(o.UID), o.ResourceVersion); err != nil {
		return err
	}
	size := sizeOf(o)
	p.held += size
	return p.client.Memory.Take(size)
}

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
	p.holdsLongList = p.holdsLongList || p.limits.longLists.TryAcquire(1)
	if !p.holdsLongList || !p.limits.requests.TryAcquire(1) {
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
// has to be requested. The time limit of ctx begins when somebody waits for the page.
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
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return true, err
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
