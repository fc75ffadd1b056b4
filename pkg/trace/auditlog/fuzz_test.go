package auditlog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// FuzzRead requires that a text neither stops the reader nor makes it find what it cannot find again, and that a
// request can be written as JSON.
func FuzzRead(f *testing.F) {
	for l := range strings.Lines(recording(f)) {
		f.Add([]byte(l))
	}
	f.Add([]byte(`{"message":"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}"}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		var of []Whole
		_, err := Read(t.Context(), bytes.NewReader(log), "log", func(q trace.Request) {
			if _, err := json.Marshal(q); err != nil {
				t.Error(err)
			}
			if q.Code < 200 || q.Code > 299 {
				t.Errorf("code %d", q.Code)
			}
			for _, o := range q.Objects {
				if o.Whole != nil {
					of = append(of, Whole{o.Whole.Offset, o.UID})
				}
			}
		})
		if err != nil {
			return
		}
		err = ReadObjects(t.Context(), bytes.NewReader(log), "log", of, func(_ Whole, o *unstructured.Unstructured) { _ = o.GetName() })
		if err != nil && strings.Contains(err.Error(), "not at byte") {
			t.Error(err)
		}
	})
}
