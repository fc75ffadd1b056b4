package auditlog

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
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
	missing, offsets := map[Whole]bool{}, map[int64]bool{}
	for _, w := range of {
		missing[w], offsets[w.Offset] = true, true
	}
	err := input.EachLine(ctx, in, maxLine, func(l input.Line) error {
		if l.TooLong || !offsets[l.Offset] {
			return nil
		}
		err := events(document(bytes.TrimSpace(l.Text)), maxWraps, func(e *event) error {
			return e.bodies(func(b *body) error {
				m, err := b.meta()
				w := Whole{l.Offset, m.UID}
				if !b.answer && !missing[w] {
					w.UID = "" // Read does not believe the client's
				}
				if err != nil || !missing[w] || !b.isWhole() {
					return err
				}
				o := &unstructured.Unstructured{}
				if err := utiljson.Unmarshal(b.raw, &o.Object); err != nil { // numbers are integers where they can be
					return err
				}
				o.SetAPIVersion(b.APIVersion)
				o.SetKind(b.Kind)
				delete(missing, w)
				yield(w, o)
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("line at byte %d: %w", l.Offset, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read objects from audit log %s: %w", name, err)
	}
	for w := range missing {
		return fmt.Errorf("read objects from audit log %s: the one with UID %q is not at byte %d any more", name, w.UID, w.Offset)
	}
	return nil
}
