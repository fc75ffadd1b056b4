package cli

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// manifests are files that name objects: what -f, -R and -k say, as to kubectl.
type manifests struct {
	resource.FilenameOptions
}

func (m *manifests) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&m.Filenames, "filename", "f", nil, "delete what these files, folders or URLs hold; - is standard input")
	flags.BoolVarP(&m.Recursive, "recursive", "R", false, "look for -f in folders of folders, too")
	flags.StringVarP(&m.Kustomize, "kustomize", "k", "", "delete what this kustomization makes; it excludes -f")
}

// any says whether there are such files.
func (m *manifests) any() bool { return len(m.Filenames) > 0 || m.Kustomize != "" }

// manifest is an object as a file names it.
type manifest struct {
	apiVersion, kind, namespace, name string
	uid                               types.UID // mostly empty
}

func (m manifest) String() string { return m.kind + "/" + m.name }

// read answers what the files hold, in their order.
func (m *manifests) read() ([]manifest, error) {
	if !m.any() {
		return nil, nil
	}
	if len(m.Filenames) > 0 && m.Kustomize != "" {
		return nil, usagef("-f and -k exclude each other")
	}
	infos, err := resource.NewLocalBuilder().Unstructured().FilenameParam(false, &m.FilenameOptions).Flatten().Do().Infos()
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	var out []manifest
	for _, i := range infos {
		gvk := i.Object.GetObjectKind().GroupVersionKind()
		version, _ := gvk.ToAPIVersionAndKind()
		of := manifest{apiVersion: version, kind: gvk.Kind, namespace: i.Namespace, name: i.Name}
		if has, ok := i.Object.(interface{ GetUID() types.UID }); ok {
			of.uid = has.GetUID()
		}
		if !snapshot.ValidName(of.name) {
			return nil, usagef("%s: %s has no name that an object could have", quoted(i.Source), quoted(of.kind))
		}
		out = append(out, of)
	}
	if len(out) == 0 {
		return nil, usagef("the files hold no object")
	}
	return out, nil
}

// find adds what the manifest names, which without a namespace of its own is in
// the one at hand; bound says that it must be in that one. A manifest with a UID
// means that very object.
func (m manifest) find(g *graph.Graph, namespace string, bound bool, into graph.Set) error {
	mapping, ok := g.View().Map(m.apiVersion, m.kind)
	if !ok || !mapping.Served {
		return usagef("%s: %s is not served here in %s", quoted(m.String()), quoted(m.kind), quoted(m.apiVersion))
	}
	if m.namespace != "" {
		if bound && namespace != m.namespace {
			return usagef("%s is in namespace %s, and -n says %s", quoted(m.String()), quoted(m.namespace), quoted(namespace))
		}
		namespace = m.namespace
	}
	of := target{word: m.kind, name: m.name, of: mapping.Type}
	found := graph.NewSet(g)
	if err := find(g, []target{of}, namespace, found); err != nil {
		return err
	}
	for _, n := range found.Nodes() {
		if m.uid != "" && g.UID(n) != m.uid {
			return &absence{usagef("%s is not the object of the manifest, which has UID %s: it was made anew since", quoted(m.String()), quoted(string(m.uid)))}
		}
		into.Add(n)
	}
	return nil
}
