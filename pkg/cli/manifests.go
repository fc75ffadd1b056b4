package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// ManifestFlags are kubectl's -f and -R: files that name objects.
type ManifestFlags struct{ files manifest.Files }

func (f *ManifestFlags) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.files.Names, "filename", "f", nil, "Delete the objects in these files, folders or URLs; - is standard input.")
	flags.BoolVarP(&f.files.Recursive, "recursive", "R", false, "Read the folders of -f recursively.")
	CompleteFlag(cmd, "filename", CompleteDocuments)
}

// Any reports whether any of the flags is given.
func (f *ManifestFlags) Any() bool { return f.files.Any() }

// ReadObjects returns the objects that the files contain, in their order. --request-timeout limits
// the requests to URLs, too.
func (f *ManifestFlags) ReadObjects(ctx context.Context, s *ScanOptions) ([]object.Identity, error) {
	if !f.Any() {
		return nil, nil
	}
	var err error
	if f.files.Timeout, err = s.requestTimeout(); err != nil {
		return nil, err
	}
	named, err := f.files.Read(ctx, s.In)
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

// FindManifest adds the object that a manifest names to into. Without a namespace of its
// own it is in the given one; bound means that it must be. A manifest with a UID names
// only the object that has it.
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
	t := Target{Word: m.Kind, Name: m.Name, Type: mapping.Type}
	found := graph.NewSet(g)
	if err := FindTarget(g, t, namespace, found); err != nil {
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
