package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/metaproto"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// window is the size of the read buffer of a response.
const window = 64 << 10

var windows = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, window) }}

// listReader reads the pages of one list.
type listReader struct {
	client *Client
	query  Query
	labels bool
	reader *metaproto.Reader
}

func (c *Client) newListReader(q Query, labels bool) *listReader {
	r := &listReader{client: c, query: q, labels: labels, reader: metaproto.NewReader(q.Type.APIVersion(), q.Type.Kind, labels)}
	r.reader.OnObject = r.accept
	return r
}

// page reads one page and appends its objects to into, at most most in all. A page that breaks
// off is requested again; its objects are dropped.
func (r *listReader) page(ctx context.Context, o metav1.ListOptions, into []*object.Object, most int) (all []*object.Object, page metav1.ListMeta, err error) {
	err = r.client.retry(ctx, func(ctx context.Context) error {
		body, err := r.client.get(r.query, acceptList).
			SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion).Stream(ctx)
		if err != nil {
			return err
		}
		defer body.Close() // read only
		if all, page, err = r.read(into, body, most); err != nil {
			r.client.Memory.Drop(all[len(into):]...)
		}
		return err
	})
	return all, page, err
}

func (r *listReader) read(into []*object.Object, body io.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	in := windows.Get().(*bufio.Reader)
	in.Reset(body)
	defer func() {
		in.Reset(nil)
		windows.Put(in)
	}()
	if head, _ := in.Peek(len(metaproto.Head)); string(head) == metaproto.Head {
		return r.reader.Append(into, in, most)
	}
	return r.readJSON(into, in, most)
}

// readJSON reads a JSON page, which must be held as a whole before it can be decoded.
func (r *listReader) readJSON(into []*object.Object, in io.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	raw, held, err := r.client.Memory.readAll(in)
	defer r.client.Memory.Release(held)
	if err != nil {
		return into, metav1.ListMeta{}, fmt.Errorf("read list: %w", err)
	}
	items, meta, err := ReadPage(raw, r.query, true)
	if err != nil {
		return into, metav1.ListMeta{}, err
	}
	if len(items) > most {
		return into, metav1.ListMeta{}, metaproto.ErrTooManyObjects
	}
	for _, raw := range items {
		item, err := ReadItem(raw, r.query, true)
		if err != nil {
			return into, metav1.ListMeta{}, err
		}
		o := object.FromMeta(r.query.Type.APIVersion(), r.query.Type.Kind, item, r.labels)
		if err := r.accept(&o); err != nil {
			return into, metav1.ListMeta{}, err
		}
		into = append(into, &o)
	}
	return into, meta, nil
}

// accept verifies an object of a page and counts its memory, which an error releases.
func (r *listReader) accept(o *object.Object) error {
	if err := VerifyObject(r.query, o.Namespace, o.Name, string(o.UID), o.ResourceVersion); err != nil {
		return err
	}
	r.client.Keep(o)
	err := r.client.Memory.Hold(o)
	if err != nil {
		r.client.Memory.Drop(o)
	}
	return err
}
