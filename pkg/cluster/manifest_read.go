package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "k8s.io/apimachinery/pkg/util/json" // tells metadata from Metadata
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const acceptWhole = "application/json"

// list passes on what is wanted of a list, page by page, and asks for the next
// page meanwhile. Where the server forgets the point from which the pages are cut
// (410), it goes on from the one that the server offers instead, and else answers
// what is still to be asked for.
func (m *manifests) list(ctx context.Context, l share) (rest []object.Identity, err error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var at pages
	coming := m.request(reading, l.job, at.at)
	for {
		got := <-coming
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if apierrors.IsResourceExpired(got.err) && at.at != "" {
			var status apierrors.APIStatus
			if !errors.As(got.err, &status) || status.Status().Continue == "" || status.Status().Continue == at.at {
				return m.missing(l.wanted), nil
			}
			at.at = status.Status().Continue
			coming = m.request(reading, l.job, at.at)
			continue
		}
		more, err := false, got.err
		var endless error
		if err == nil {
			more, endless = at.next(got.next, len(got.items))
		}
		if more {
			coming = m.request(reading, l.job, at.at)
		}
		for _, item := range got.items {
			if err == nil {
				err = m.take(l.of, item)
			}
		}
		var stop *stopped
		switch {
		case errors.As(err, &stop):
			return nil, stop.error
		case err == nil:
			err = endless
		}
		if err != nil {
			for _, o := range m.missing(l.wanted) {
				m.failed[o.UID] = &Failure{"read", o, refused(err), err}
			}
			return nil, nil
		}
		if !more {
			return nil, nil
		}
	}
}

// page is one page of whole objects, or why there is none.
type page struct {
	items []json.RawMessage
	next  string
	err   error
}

// request has a page come while its reader does something else.
func (m *manifests) request(ctx context.Context, j job, at string) <-chan page {
	coming := make(chan page, 1) // whoever does not want it any more need not take it
	go func() {
		var p page
		p.items, p.next, p.err = m.page(ctx, j, metav1.ListOptions{Limit: manifestPage, Continue: at})
		coming <- p
	}()
	return coming
}

// page reads one page of whole objects. It hides the one that reads metadata.
func (m *manifests) page(ctx context.Context, j job, o metav1.ListOptions) (items []json.RawMessage, next string, err error) {
	result, err := m.do(ctx, func() *rest.Request {
		return m.get(j.of, j.namespace, "", acceptWhole).SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion)
	})
	if err != nil {
		return nil, "", err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := strict.Unmarshal(raw, &page); err != nil {
		return nil, "", fmt.Errorf("decode a list of %s: %w", j.of, err)
	}
	return page.Items, page.Metadata.Continue, nil
}

// single asks for the objects one by one, some of them at a time.
func (m *manifests) single(ctx context.Context, objects []object.Identity) error {
	type answer struct {
		raw json.RawMessage
		err error
	}
	for batch := range slices.Chunk(objects, manifestBatch) {
		answers, err := each(ctx, m.options.Concurrency, batch, func(o object.Identity) answer {
			raw, err := m.ask(ctx, o)
			return answer{raw, err}
		})
		if err != nil {
			return err
		}
		for i, a := range answers {
			o := batch[i]
			if a.err == nil && a.raw != nil {
				mapping, _ := m.view.Map(o.APIVersion, o.Kind)
				a.err = m.take(mapping.Type, a.raw)
			}
			var stop *stopped
			var failed *Failure
			switch {
			case a.err == nil:
			case errors.As(a.err, &stop):
				return stop.error
			case errors.As(a.err, &failed):
				m.failed[o.UID] = failed
			default:
				m.failed[o.UID] = &Failure{"read", o, refused(a.err), a.err}
			}
		}
	}
	return nil
}

// ask reads one whole object, nil where it is proven to be gone.
func (m *manifests) ask(ctx context.Context, o object.Identity) (json.RawMessage, error) {
	mapping, ok := m.view.Map(o.APIVersion, o.Kind)
	if !ok || !mapping.Served || !mapping.Type.Can("get") || !snapshot.ValidName(o.Name) {
		return nil, &Failure{"read", o, snapshot.Unproven, errNowhere}
	}
	result, err := m.do(ctx, func() *rest.Request { return m.get(mapping.Type, o.Namespace, o.Name, acceptWhole) })
	if err == nil {
		raw, err := result.Raw()
		return bytes.TrimSpace(raw), err
	}
	if namesObject(err, mapping.Type.Resource, o.Name) &&
		m.look.absent(ctx, m.view, mapping.Type, snapshot.Lookup{Coordinates: coordinatesOf(o)}).Outcome == snapshot.Absent {
		return nil, nil
	}
	return nil, err
}

// stopped is an error of the receiver.
type stopped struct{ error }

// take passes an object on, once, if it is wanted. What a decoder would take for text,
// and put U+FFFD into, was broken on its way: no server sends that.
func (m *manifests) take(t snapshot.Type, raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		return errBroken
	}
	var read struct {
		metav1.TypeMeta
		Metadata struct {
			metav1.ObjectMeta
			ManagedFields json.RawMessage `json:"managedFields"` // left as it is: it takes longer to read than all the rest
		} `json:"metadata"`
	}
	if err := strict.Unmarshal(raw, &read); err != nil {
		return fmt.Errorf("decode an object of %s: %w", t, err)
	}
	found := metav1.PartialObjectMetadata{TypeMeta: read.TypeMeta, ObjectMeta: read.Metadata.ObjectMeta}
	if err := whole(&found); err != nil {
		return err
	}
	o, ok := m.wanted[found.UID]
	if !ok {
		return nil
	}
	delete(m.wanted, found.UID)
	if err := m.pass(object.FromMeta(o.APIVersion, o.Kind, &found, false), typed(raw, found.TypeMeta, t)); err != nil {
		return &stopped{err}
	}
	return nil
}

// missing are those that were not passed on yet.
func (m *manifests) missing(of []object.Identity) []object.Identity {
	return slices.DeleteFunc(slices.Clone(of), func(o object.Identity) bool {
		_, waits := m.wanted[o.UID]
		return !waits
	})
}

// typed puts apiVersion and kind into an object that lacks them.
func typed(raw json.RawMessage, has metav1.TypeMeta, t snapshot.Type) json.RawMessage {
	var fields []byte
	add := func(name, value string) {
		quoted, _ := json.Marshal(value) // a string can always be encoded
		fields = append(append(append(fields, '"'), name...), `":`...)
		fields = append(append(fields, quoted...), ',')
	}
	if has.APIVersion == "" {
		add("apiVersion", t.APIVersion())
	}
	if has.Kind == "" {
		add("kind", t.Kind)
	}
	if fields == nil {
		return raw
	}
	return slices.Concat(json.RawMessage{'{'}, fields, raw[1:]) // an object with metadata is not empty
}
