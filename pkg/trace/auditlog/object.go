package auditlog

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Whole names an object that a log has whole: the offset of its line, and its UID, which is empty for an
// object in a request to create it.
type Whole struct {
	Offset int64
	UID    types.UID
}

// ReadObjects reads the log again, and calls yield with these objects, in the order of the log. It fails if one
// of them is not there, since the file is another one by now.
func ReadObjects(ctx context.Context, in io.Reader, name string, of []Whole, yield func(Whole, *unstructured.Unstructured)) error {
	f := finder{missing: map[Whole]bool{}, offsets: map[int64]bool{}, yield: yield}
	for _, w := range of {
		f.missing[w], f.offsets[w.Offset] = true, true
	}
	if err := f.read(ctx, in); err != nil {
		return fmt.Errorf("read objects from audit log %s: %w", name, err)
	}
	for w := range f.missing {
		return fmt.Errorf("read objects from audit log %s: the one with UID %q is not at byte %d any more", name, w.UID, w.Offset)
	}
	return nil
}

type finder struct {
	missing map[Whole]bool
	offsets map[int64]bool
	yield   func(Whole, *unstructured.Unstructured)
}

func (f *finder) read(ctx context.Context, in io.Reader) error {
	text, err := newLines(in)
	if err != nil {
		return err
	}
	for len(f.missing) > 0 {
		line, offset, err := text.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, errTooLong):
			return err
		case err != nil || !f.offsets[offset]:
			continue
		}
		find := func(b *body) error { return f.find(offset, b) }
		if err := events(document(line), maxWraps, func(e *event) error { return e.bodies(find) }); err != nil {
			return fmt.Errorf("line at byte %d: %w", offset, err)
		}
	}
	return nil
}

func (f *finder) find(offset int64, b *body) error {
	var m metadata
	if err := decode(b.metadata, &m); err != nil {
		return err
	}
	w := Whole{offset, m.UID}
	if !b.answer && !f.missing[w] {
		w.UID = "" // Read does not believe the client's
	}
	if !f.missing[w] || !b.isWhole() {
		return nil
	}
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(b.raw, &o.Object); err != nil { // numbers are integers where they can be
		return err
	}
	o.SetAPIVersion(b.apiVersion)
	o.SetKind(b.kind)
	delete(f.missing, w)
	f.yield(w, o)
	return nil
}
