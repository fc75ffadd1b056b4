package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Owned is an object of Documents with its owner references. Namespace and UID may be empty, and
// nothing is validated.
type Owned struct {
	object.Identity
	Owners []object.Reference
}

// Documents are manifests whose owner references can be changed. Everything else stays as it was
// read, comments included.
type Documents struct{ nodes []*yaml.RNode }

// ReadDocuments reads YAML or JSON documents and lists. No error quotes the text, which may be a
// Secret.
func ReadDocuments(in io.Reader) (*Documents, error) {
	text, err := input.ReadAll(input.DecodeBOM(in), maxBytes)
	if err != nil {
		return nil, err
	}
	for document := range input.SplitYAML(text) {
		if err := input.CheckAliases(document); err != nil {
			return nil, err
		}
	}
	nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(text), OmitReaderAnnotations: true}).Read()
	if err != nil {
		return nil, errors.New("it is neither YAML nor JSON with objects of Kubernetes")
	}
	return &Documents{nodes}, nil
}

// Objects returns the objects in their order.
func (d *Documents) Objects() ([]Owned, error) {
	out := make([]Owned, len(d.nodes))
	for i, n := range d.nodes {
		out[i].Identity = object.Identity{APIVersion: n.GetApiVersion(), Kind: n.GetKind(), Namespace: n.GetNamespace(), Name: n.GetName()}
		list, err := n.Pipe(yaml.Lookup("metadata", "ownerReferences"))
		if err != nil || list == nil || list.IsNilOrEmpty() {
			if err != nil {
				return nil, fmt.Errorf("%s: its metadata is malformed", out[i].Identity)
			}
			continue
		}
		raw, err := list.MarshalJSON()
		var refs []metav1.OwnerReference
		if err == nil {
			err = json.Unmarshal(raw, &refs)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: its ownerReferences are malformed", out[i].Identity)
		}
		out[i].Owners = object.ReferencesOf(refs)
	}
	return out, nil
}

// SetOwners changes the references of the i-th object. after has one element for each of its
// references: the reference as it shall be, or nil to remove it. Flags stay as they are.
func (d *Documents) SetOwners(i int, after []*object.Reference) error {
	metadata, err := d.nodes[i].Pipe(yaml.Lookup("metadata"))
	if err != nil {
		return err
	}
	list, err := metadata.Pipe(yaml.Lookup("ownerReferences"))
	if err != nil {
		return err
	}
	references, err := list.Elements()
	if err != nil {
		return err
	}
	if len(references) != len(after) {
		return fmt.Errorf("it has %d references, not %d", len(references), len(after))
	}
	var left []*yaml.Node
	for k, r := range references {
		if after[k] == nil {
			continue
		}
		for field, value := range map[string]string{"apiVersion": after[k].APIVersion, "uid": string(after[k].UID)} {
			if err := r.PipeE(yaml.Lookup(field), yaml.Set(yaml.NewStringRNode(value))); err != nil {
				return err
			}
		}
		left = append(left, r.YNode())
	}
	if len(left) == 0 {
		return metadata.PipeE(yaml.Clear("ownerReferences"))
	}
	list.YNode().Content = left
	return nil
}

// Write writes the documents.
func (d *Documents) Write(out io.Writer) error {
	return kio.ByteWriter{Writer: out}.Write(d.nodes)
}
