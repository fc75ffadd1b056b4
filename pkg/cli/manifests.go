package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// ManifestFlags are files that name objects: what -f, -R and -k say, as to kubectl.
type ManifestFlags struct{ manifest.Files }

func (m *ManifestFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&m.Names, "filename", "f", nil, "delete the objects in these files, folders or URLs; - is standard input")
	flags.BoolVarP(&m.Recursive, "recursive", "R", false, "process the folders of -f recursively")
	flags.StringVarP(&m.Kustomize, "kustomize", "k", "", "delete the objects of this kustomization; cannot be combined with -f")
}

// ReadObjects answers what the files hold, in their order.
func (m *ManifestFlags) ReadObjects(ctx context.Context, stdin io.Reader) ([]object.Identity, error) {
	switch {
	case !m.Any():
		return nil, nil
	case len(m.Names) > 0 && m.Kustomize != "":
		return nil, Usagef("-f cannot be combined with -k")
	case m.Recursive && m.Kustomize != "":
		return nil, Usagef("-R cannot be combined with -k")
	}
	named, err := m.Read(ctx, stdin)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	var out []object.Identity
	for _, n := range named {
		if !snapshot.ValidName(n.Name) {
			return nil, Usagef("%s: %s has no valid name", Quote(n.Source), Quote(n.Kind))
		}
		out = append(out, n.Identity)
	}
	if len(out) == 0 {
		return nil, Usagef("the files contain no object")
	}
	return out, nil
}

// FindManifest adds what a manifest names, which without a namespace of its own is in
// the one at hand; bound says that it must be in that one. A manifest with a UID
// means that very object.
func FindManifest(g *graph.Graph, m object.Identity, namespace string, bound bool, into graph.Set) error {
	mapping, ok := g.View().Map(m.APIVersion, m.Kind)
	if !ok || !mapping.Served {
		return Usagef("%s: the server has no %s in %s", Quote(m.String()), Quote(m.Kind), Quote(m.APIVersion))
	}
	if m.Namespace != "" {
		if bound && namespace != m.Namespace {
			return Usagef("the namespace of %s is %s, but -n is %s", Quote(m.String()), Quote(m.Namespace), Quote(namespace))
		}
		namespace = m.Namespace
	}
	of := Target{Word: m.Kind, Name: m.Name, Type: mapping.Type}
	found := graph.NewSet(g)
	if err := FindTargets(g, []Target{of}, namespace, found); err != nil {
		return err
	}
	for _, n := range found.Nodes() {
		if m.UID != "" && g.UID(n) != m.UID {
			return &notFoundError{Usagef("%s is not the object of the manifest, which has UID %s: it was recreated since", Quote(m.String()), Quote(string(m.UID)))}
		}
		into.Add(n)
	}
	return nil
}
