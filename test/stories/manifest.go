package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Manifest is one document of docs/demo, or of another folder in its form.
type Manifest struct {
	Object *unstructured.Unstructured // without its owners and the annotation
	file   string
	owners []any  // metadata.ownerReferences, with placeholders
	delete string // the propagation policy with which to delete it once it is linked; empty: don't
}

// deleteAnnotation says that an object is to be deleted, and how. It is the loader's and
// never reaches the cluster.
const deleteAnnotation = "demo.kubectl-gc.dev/delete"

// String is what a placeholder calls the object: "Deployment shop/web", "ClusterRole reader".
func (m Manifest) String() string {
	name := m.Object.GetName()
	if ns := m.Object.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return m.Object.GetKind() + " " + name
}

// Read reads every *.yaml of a folder: Namespaces first, then
// CustomResourceDefinitions, then the rest, each in the order of the files.
func Read(dir fs.FS) ([]Manifest, error) {
	files, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	var all []Manifest
	for _, file := range files {
		data, err := fs.ReadFile(dir, file)
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
		for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
			m, err := parseManifest(document)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			m.file = file
			all = append(all, m)
		}
	}
	order := []string{"Namespace", "CustomResourceDefinition"}
	rank := func(m Manifest) int {
		if i := slices.Index(order, m.Object.GetKind()); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(all, func(a, b Manifest) int { return rank(a) - rank(b) })
	return all, nil
}

func parseManifest(document []byte) (Manifest, error) {
	converted, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return Manifest{}, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(converted); err != nil {
		return Manifest{}, err
	}
	if object.GetName() == "" {
		return Manifest{}, errors.New("a document without a name")
	}
	m := Manifest{Object: object}
	owners, _, err := unstructured.NestedSlice(object.Object, "metadata", "ownerReferences")
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", m, err)
	}
	m.owners = owners
	unstructured.RemoveNestedField(object.Object, "metadata", "ownerReferences")
	annotations := object.GetAnnotations()
	m.delete = annotations[deleteAnnotation]
	delete(annotations, deleteAnnotation)
	object.SetAnnotations(annotations)
	return m, nil
}

var placeholder = regexp.MustCompile(`^\$\{(.+)\}$`)

// resolved is the manifest's owners with UIDs in place of placeholders. uids are by what
// String says.
func (m Manifest) resolved(uids map[string]string) ([]any, error) {
	var out []any
	for _, owner := range m.owners {
		reference, ok := owner.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: an owner reference is a %T", m, owner)
		}
		reference = maps.Clone(reference)
		uid, _ := reference["uid"].(string)
		if found := placeholder.FindStringSubmatch(strings.TrimSpace(uid)); found != nil {
			known, ok := uids[found[1]]
			if !ok {
				return nil, fmt.Errorf("%s: %s names no object of the manifests", m, uid)
			}
			reference["uid"] = known
		}
		out = append(out, reference)
	}
	return out, nil
}
