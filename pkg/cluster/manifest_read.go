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

// mostExpired is how often a list is gone on with that the server has forgotten (410).
const mostExpired = 10

// list passes on what is wanted of a list, page by page, and asks for the next page
// meanwhile. It returns what the list did not hold, or what was not read of it because
// an answer was not what was asked for: a list that lacks an object does not prove that
// it is gone, so each of these is still to be asked for by its name.
func (m *manifests) list(ctx context.Context, l share) (rest []object.Identity, err error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var at pages
	expired := 0
	coming := m.request(reading, l.job, at.at)
	for {
		got := <-coming
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if apierrors.IsResourceExpired(got.err) && at.at != "" {
			next := continueOf(got.err)
			if expired++; next == "" || next == at.at || expired > mostExpired {
				return m.missing(l.wanted), nil
			}
			at = pages{at: next, read: at.read, empty: at.empty} // of a newer state
			coming = m.request(reading, l.job, at.at)
			continue
		}
		more, err := false, got.err
		if err == nil {
			more, err = at.next(got.meta, got.first, len(got.items))
		}
		if more {
			coming = m.request(reading, l.job, at.at)
		}
		for _, item := range got.items {
			if err == nil {
				err = m.take(l.job, item)
			}
		}
		m.memory.giveBytes(got.held)
		var stop *stopped
		switch {
		case errors.As(err, &stop):
			return nil, stop.error
		case err != nil && !isAnswer(err):
			for _, o := range m.missing(l.wanted) {
				m.failed[o.UID] = &WriteError{"read", o, refused(err), err}
			}
			return nil, nil
		case err != nil, !more:
			return m.missing(l.wanted), nil
		}
	}
}

// continueOf is the token that a server offers to go on with a list which it forgot.
func continueOf(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// isAnswer reports whether a request failed because of what its answer holds, so that
// another request may do better.
func isAnswer(err error) bool {
	return errors.As(err, new(*AnswerError)) || errors.As(err, new(*tooLongError)) || errors.Is(err, errContradicted)
}

// wholePage is one page of whole objects, or why there is none.
type wholePage struct {
	items []json.RawMessage
	meta  metav1.ListMeta
	first string // namespace and name of the first object
	held  int64  // bytes of memory
	err   error
}

// request has a page come while its reader does something else.
func (m *manifests) request(ctx context.Context, j job, at string) <-chan wholePage {
	coming := make(chan wholePage, 1) // whoever does not want it any more need not take it
	limit := int64(manifestPage)
	if at == "" {
		limit = firstPage
	}
	go func() { coming <- m.wholePage(ctx, j, metav1.ListOptions{Limit: limit, Continue: at}) }()
	return coming
}

func (m *manifests) wholePage(ctx context.Context, j job, o metav1.ListOptions) (p wholePage) {
	result, err := m.do(ctx, func() *rest.Request {
		return m.get(j.of, j.namespace, "", acceptWhole).SpecificallyVersionedParams(&o, metav1.ParameterCodec, metav1.SchemeGroupVersion)
	})
	if err != nil {
		return wholePage{err: err}
	}
	raw, err := result.Raw()
	if err != nil {
		return wholePage{err: err}
	}
	p.held = int64(len(raw)) * jsonCost
	if p.err = m.memory.takeBytes(p.held); p.err != nil {
		return p
	}
	if p.items, p.meta, p.err = readPage(raw, j, false); p.err != nil || len(p.items) == 0 {
		return p
	}
	var first struct {
		Metadata struct{ Namespace, Name string }
	}
	p.err = json.Unmarshal(p.items[0], &first)
	p.first = first.Metadata.Namespace + "/" + first.Metadata.Name
	return p
}

// single asks for the objects one by one, some of them at a time.
func (m *manifests) single(ctx context.Context, objects []object.Identity) error {
	type answer struct {
		raw json.RawMessage
		err error
	}
	for batch := range slices.Chunk(objects, manifestBatch) {
		answers, err := inParallel(ctx, m.options.Concurrency, batch, func(o object.Identity) answer {
			raw, err := m.ask(ctx, o)
			if err == nil {
				err = m.memory.takeBytes(int64(len(raw)))
			}
			return answer{raw, err}
		})
		if err != nil {
			return err
		}
		for i, a := range answers {
			o := batch[i]
			m.memory.giveBytes(int64(len(a.raw)))
			if a.err == nil && a.raw != nil {
				mapping, _ := m.view.Map(o.APIVersion, o.Kind)
				a.err = m.take(job{of: mapping.Type, namespace: o.Namespace, name: o.Name}, a.raw)
				if _, waits := m.wanted[o.UID]; waits && a.err == nil {
					a.err = m.replaced(ctx, o)
				}
			}
			var stop *stopped
			var failed *WriteError
			switch {
			case a.err == nil:
			case errors.As(a.err, &stop):
				return stop.error
			case errors.As(a.err, &failed):
				m.failed[o.UID] = failed
			default:
				m.failed[o.UID] = &WriteError{"read", o, refused(a.err), a.err}
			}
		}
	}
	return nil
}

// replaced returns nil if it is proven that another object has the place of o by now.
func (m *manifests) replaced(ctx context.Context, o object.Identity) error {
	now, err := m.look.read(ctx, m.view, o)
	if err == nil && now != nil {
		err = notAsked("it is of another object of that name, which is still there")
	}
	return err
}

// ask reads one whole object, nil where it is proven to be gone.
func (m *manifests) ask(ctx context.Context, o object.Identity) (json.RawMessage, error) {
	mapping, ok := m.view.Map(o.APIVersion, o.Kind)
	if !ok || !mapping.Served || !mapping.Type.Can("get") || !snapshot.ValidName(o.Name) {
		return nil, &WriteError{"read", o, snapshot.Unverified, errNowhere}
	}
	result, err := m.do(ctx, func() *rest.Request { return m.get(mapping.Type, o.Namespace, o.Name, acceptWhole) })
	if err == nil {
		raw, err := result.Raw()
		return bytes.TrimSpace(raw), err
	}
	if namesObject(err, mapping.Type.GroupResource(), o.Name) &&
		m.look.absent(ctx, m.view, mapping.Type, snapshot.Lookup{Coordinates: coordinatesOf(o)}).Outcome == snapshot.Absent {
		return nil, nil
	}
	return nil, err
}

// stopped is an error of the receiver.
type stopped struct{ error }

// take passes on an object that j asks for, once, if it is wanted. What a decoder would
// take for text, and put U+FFFD into, was broken on its way: no server sends that.
func (m *manifests) take(j job, raw json.RawMessage) error {
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
		return fmt.Errorf("decode an object of %s: %w", j.of, err)
	}
	if read.Kind != "" || read.APIVersion != "" || j.name != "" {
		if err := verifyKind(envelope{read.APIVersion, read.Kind}, j.of, "", false); err != nil {
			return err
		}
	}
	found := metav1.PartialObjectMetadata{TypeMeta: read.TypeMeta, ObjectMeta: read.Metadata.ObjectMeta}
	if err := verifyObject(j, found.Namespace, found.Name, string(found.UID), found.ResourceVersion); err != nil {
		return err
	}
	o, ok := m.wanted[found.UID]
	switch {
	case !ok:
		return nil
	case o.Namespace != found.Namespace || o.Name != found.Name:
		return notAsked("%q has the UID of %s", found.Name, o)
	}
	delete(m.wanted, found.UID)
	if err := m.pass(object.FromMeta(o.APIVersion, o.Kind, &found, false), typed(raw, found.TypeMeta, j.of)); err != nil {
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
