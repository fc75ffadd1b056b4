package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/wire"
)

// window is how much of an answer is in memory at once, beside one item.
const window = 64 << 10

var windows = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, window) }}

// mostRead is the size up to which an answer is read that is not in the encoding
// which can be read as it arrives.
const mostRead = 1 << 30

// paging is a list that is read page by page. It is to be closed.
type paging struct {
	*Cluster
	job
	labels  bool
	reader  *wire.Reader
	flights *semaphore.Weighted // nil: no page is asked for ahead
	next    *ahead              // nil unless it is under way
}

func (c *Cluster) paging(j job, labels bool, flights *semaphore.Weighted) *paging {
	return &paging{Cluster: c, job: j, labels: labels, flights: flights, reader: wire.NewReader(j.of.APIVersion(), j.of.Kind, labels)}
}

// page reads one page and appends its objects, up to most. A page that breaks off is
// asked for again; nothing of it stays in what is answered.
func (p *paging) page(ctx context.Context, o metav1.ListOptions, into []*object.Object, most int) (all []*object.Object, page metav1.ListMeta, err error) {
	p.reader.Begun = func(m metav1.ListMeta) { p.askAhead(ctx, o, m.Continue) }
	err = p.persist(ctx, func(ctx context.Context) error {
		read := func(body io.Reader) (err error) {
			all, page, err = p.read(into, body, most)
			return err
		}
		if taken, err := p.taken(ctx, o.Continue, read); taken {
			return err
		}
		body, err := p.ask(ctx, o)
		if err != nil {
			return err
		}
		defer body.Close() // read only
		return read(body)
	})
	return all, page, err
}

func (p *paging) ask(ctx context.Context, o metav1.ListOptions) (io.ReadCloser, error) {
	return p.get(p.of, p.namespace, "", acceptList).SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion).Stream(ctx)
}

func (p *paging) read(into []*object.Object, body io.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	in := windows.Get().(*bufio.Reader)
	in.Reset(body)
	defer func() {
		in.Reset(nil)
		windows.Put(in)
	}()
	if head, _ := in.Peek(len(wire.Head)); string(head) == wire.Head {
		return p.reader.Append(into, in, most)
	}
	return p.whole(into, in, most)
}

// whole reads an answer of another encoding, which has to be there as a whole
// before anything can be read of it.
func (p *paging) whole(into []*object.Object, in io.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	raw, err := io.ReadAll(io.LimitReader(in, mostRead+1))
	if err != nil {
		return into, metav1.ListMeta{}, fmt.Errorf("read list: %w", err)
	}
	if len(raw) > mostRead {
		return into, metav1.ListMeta{}, fmt.Errorf("read list: it has more than the %d bytes that are read", mostRead)
	}
	var list metav1.PartialObjectMetadataList
	if err := decodeRaw(raw, &list); err != nil {
		return into, metav1.ListMeta{}, err
	}
	if len(list.Items) > most {
		return into, metav1.ListMeta{}, wire.ErrTooMany
	}
	for i := range list.Items {
		o := object.FromMeta(p.of.APIVersion(), p.of.Kind, &list.Items[i], p.labels)
		into = append(into, &o)
	}
	return into, list.ListMeta, nil
}
