package structured

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// APIVersion is that of every document.
const APIVersion = "kubectl-gc.dev/v1alpha1"

// Document is a value under an apiVersion and kind. In JSON these two come
// first, then the value's fields in the order in which it declares them; YAML
// is sorted, as kubectl writes it. The value must marshal to an object that has
// no field of these two names, and no key that came from a cluster.
type Document struct {
	metav1.TypeMeta
	Value any
	// Named are the objects that -o name prints, in their order.
	Named []object.Identity
}

// NewDocument wraps a value, which must not change while the document is used.
func NewDocument(kind string, value any, named ...object.Identity) *Document {
	return &Document{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: kind}, Value: value, Named: named}
}

// MarshalJSON is the document in one line, as encoding/json escapes it.
func (d *Document) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}{d.APIVersion, d.Kind})
	if err != nil {
		return nil, fmt.Errorf("encode the type of %s: %w", d.Kind, err)
	}
	value, err := json.Marshal(d.Value)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", d.Kind, err)
	}
	fields, isObject := bytes.CutPrefix(value, []byte("{"))
	if !isObject {
		return nil, fmt.Errorf("encode %s: its value is not an object", d.Kind)
	}
	if len(fields) > len("}") {
		head[len(head)-1] = ','
		head = append(head, fields...)
	}
	return head, nil
}

// DeepCopyObject shares the value, which printers only read.
func (d *Document) DeepCopyObject() runtime.Object {
	c := *d
	return &c
}
