package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Named is an object as a file names it: namespace and UID are empty where it says
// none, and nothing is known to be valid.
type Named struct {
	object.Identity
	Source string // the file
}

// decode reads one document after the other, and the items of lists.
func decode(in io.Reader, source string, into *[]Named) error {
	documents := yaml.NewYAMLOrJSONDecoder(in, 4096)
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
		if err == nil {
			err = flatten(o, source, into)
		}
		if err != nil {
			return fmt.Errorf("unable to decode %q: %w", source, err)
		}
	}
}

func flatten(o runtime.Object, source string, into *[]Named) error {
	switch of := o.(type) {
	case *unstructured.UnstructuredList:
		return of.EachListItem(func(o runtime.Object) error { return flatten(o, source, into) })
	case *unstructured.Unstructured:
		if of.IsList() {
			return of.EachListItem(func(o runtime.Object) error { return flatten(o, source, into) })
		}
		*into = append(*into, Named{object.Identity{
			APIVersion: of.GetAPIVersion(), Kind: of.GetKind(), Namespace: of.GetNamespace(), Name: of.GetName(), UID: of.GetUID(),
		}, source})
	}
	return nil
}

// kustomize reads what a kustomization makes, in the order in which kubectl applies it.
func kustomize(folder string, into *[]Named) error {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	made, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return err
	}
	text, err := made.AsYaml()
	if err != nil {
		return err
	}
	return decode(bytes.NewReader(text), folder, into)
}
