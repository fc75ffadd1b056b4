package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Named is an object in a file. Namespace and UID may be empty, and nothing is
// validated.
type Named struct {
	object.Identity
	Source string // file name or redacted URL
}

// maxBytes limits what is read from one source.
const maxBytes = 256 << 20

// decode appends the objects of all documents and the items of lists. No error quotes
// the text, which may be a Secret.
func decode(in io.Reader, source string, into *[]Named) error {
	text, err := input.ReadAll(input.DecodeBOM(in), maxBytes)
	if err != nil {
		return fmt.Errorf("error reading %s: %w", source, err)
	}
	for document := range input.SplitYAML(text) {
		if err := input.CheckAliases(document); err != nil {
			return fmt.Errorf("error parsing %s: %w", source, err)
		}
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var document runtime.RawExtension
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("error parsing %s: %w", source, err)
		}
		raw := bytes.TrimSpace(document.Raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		o, _, err := unstructured.UnstructuredJSONScheme.Decode(raw, nil, nil)
		switch {
		case runtime.IsMissingKind(err):
			err = errNoKind
		case err == nil:
			err = flatten(o, source, into)
		}
		if err != nil {
			return fmt.Errorf("unable to decode %q: %w", source, err)
		}
	}
}

// errNoKind is kubectl's error without the object.
var errNoKind = errors.New("an object in it lacks its kind")

func flatten(o runtime.Object, source string, into *[]Named) error {
	if list, ok := o.(runtime.Unstructured); ok && list.IsList() {
		return list.EachListItem(func(o runtime.Object) error { return flatten(o, source, into) })
	}
	if o, ok := o.(*unstructured.Unstructured); ok {
		if o.GetKind() == "" { // only checked here for a list item
			return errNoKind
		}
		*into = append(*into, Named{object.Identity{
			APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
		}, source})
	}
	return nil
}
