package main

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

// manifest is one document of docs/demo.
type manifest struct {
	file   string
	object *unstructured.Unstructured // without its owners and the annotation
	owners []any                      // metadata.ownerReferences, with placeholders
	delete string                     // the propagation policy with which to delete it once it is linked; empty: don't
}

// deleteAnnotation says that an object is to be deleted, and how. It is the loader's and
// never reaches the cluster.
const deleteAnnotation = "demo.kubectl-gc.dev/delete"

// String is what a placeholder calls the object: "Deployment shop/web", "ClusterRole reader".
func (m manifest) String() string {
	name := m.object.GetName()
	if ns := m.object.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return m.object.GetKind() + " " + name
}

// readManifests reads every *.yaml of a folder: Namespaces first, then
// CustomResourceDefinitions, then the rest, each in the order of the files.
func readManifests(dir fs.FS) ([]manifest, error) {
	files, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	var all []manifest
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
	rank := func(m manifest) int {
		if i := slices.Index(order, m.object.GetKind()); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(all, func(a, b manifest) int { return rank(a) - rank(b) })
	return all, nil
}

func parseManifest(document []byte) (manifest, error) {
	converted, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return manifest{}, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(converted); err != nil {
		return manifest{}, err
	}
	if object.GetName() == "" {
		return manifest{}, errors.New("a document without a name")
	}
	m := manifest{object: object}
	owners, _, err := unstructured.NestedSlice(object.Object, "metadata", "ownerReferences")
	if err != nil {
		return manifest{}, fmt.Errorf("%s: %w", m, err)
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
func (m manifest) resolved(uids map[string]string) ([]any, error) {
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
