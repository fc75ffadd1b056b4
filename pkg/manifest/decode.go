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

// Named is an object as a file names it: namespace and UID are empty where it says
// none, and nothing is known to be valid.
type Named struct {
	object.Identity
	Source string // the file
}

// longest is how many bytes are read of one source: an API server takes no more than
// three million of one object.
const longest = 256 << 20

// decode reads one document after the other, and the items of lists. No error quotes
// what it could not decode, as that may be a Secret.
func decode(in io.Reader, source string, into *[]Named) error {
	text, err := input.Bytes(in, longest)
	if err != nil {
		return fmt.Errorf("error reading %s: %w", source, err)
	}
	for document := range input.Documents(text) {
		if err := input.Bounded(document); err != nil {
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
			err = errKindless
		case err == nil:
			err = flatten(o, source, into)
		}
		if err != nil {
			return fmt.Errorf("unable to decode %q: %w", source, err)
		}
	}
}

// errKindless says what kubectl does, but for the object.
var errKindless = errors.New("an object in it lacks its kind")

func flatten(o runtime.Object, source string, into *[]Named) error {
	switch of := o.(type) {
	case *unstructured.UnstructuredList:
		return of.EachListItem(func(o runtime.Object) error { return flatten(o, source, into) })
	case *unstructured.Unstructured:
		if of.IsList() {
			return of.EachListItem(func(o runtime.Object) error { return flatten(o, source, into) })
		}
		if of.GetKind() == "" { // in a list, where nothing else looks
			return errKindless
		}
		*into = append(*into, Named{object.Identity{
			APIVersion: of.GetAPIVersion(), Kind: of.GetKind(), Namespace: of.GetNamespace(), Name: of.GetName(), UID: of.GetUID(),
		}, source})
	}
	return nil
}
