package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// APIVersion is the apiVersion of every document.
const APIVersion = "kubectl-gc.dev/v1alpha1"

// Document is a value with an apiVersion and kind. In JSON these two come first, then the
// time, then the fields of the value in the order of their declaration; YAML is sorted, as
// kubectl writes it. The value must encode to an object without fields of these names, and
// without keys from a cluster.
type Document struct {
	metav1.TypeMeta
	Time  time.Time // of the state that the value describes; left out if it is zero
	Value any
	// Named are the objects that -o name prints, in their order.
	Named []object.Identity
}

// NewDocument returns a document of a value, which must not change while the document is
// used.
func NewDocument(kind string, value any, named ...object.Identity) *Document {
	return &Document{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: kind}, Value: value, Named: named}
}

// MarshalJSON returns the document in one line.
func (d *Document) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		APIVersion string    `json:"apiVersion"`
		Kind       string    `json:"kind"`
		Time       time.Time `json:"time,omitzero"`
	}{d.APIVersion, d.Kind, d.Time})
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
