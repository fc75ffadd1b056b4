package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/metaproto"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// window is the size of the read buffer of a response.
const window = 64 << 10

var windows = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, window) }}

// pager reads a list page by page. The caller must close it.
type pager struct {
	client        *Client
	query         Query
	limits        *listLimits // nil: do not prefetch
	labels        bool
	reader        *metaproto.Reader
	nextSize      int64     // limit of the pages to request next
	requested     int64     // limit of the page being read; 0: none
	prefetched    *prefetch // nil unless a prefetch is under way
	holdsLongList bool
	held          int64 // bytes of memory used by the page being read
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
	if o.Continue != "" {
		if _, err := p.acquireLongList(ctx, true); err != nil {
			return into, page, err
		}
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
		p.nextSize = nextPageSize(p.requested, max(p.client.Options.ChunkSize, p.client.Options.MaxChunkSize), time.Since(started))
	}
	return all, page, err
}

func (p *pager) request(ctx context.Context, o metav1.ListOptions) (io.ReadCloser, error) {
	request := p.client.get(p.query.Type, p.query.Namespace, "", acceptList).SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion)
	if !p.client.compression.near.Load() {
		return request.Stream(ctx)
	}
	body, err := request.SetHeader("Accept-Encoding", "identity").Stream(ctx)
	if err != nil {
		return nil, err
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
