package delete

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// readManifests returns the objects that the files of -f contain, in their order. --request-timeout limits
// the requests to URLs, too.
func (c *deleteCommand) readManifests(ctx context.Context) ([]object.Identity, error) {
	if !c.files.Any() {
		return nil, nil
	}
	var err error
	if c.files.Timeout, err = c.options.Scan.RequestTimeout(); err != nil {
		return nil, err
	}
	named, err := c.files.Read(ctx, c.options.Scan.In)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	var out []object.Identity
	for _, n := range named {
		if !snapshot.ValidName(n.Name) {
			return nil, cli.Usagef("%s: %s has no valid name", cli.Quote(n.Source), cli.Quote(n.Kind))
		}
		out = append(out, n.Identity)
	}
	if len(out) == 0 {
		return nil, cli.Usagef("the files contain no object")
	}
	return out, nil
}

// findManifest adds the object that a manifest names to into. Without a namespace of its
// own it is in the given one; bound means that it must be. A manifest with a UID names
// only the object that has it.
func findManifest(g *graph.Graph, m object.Identity, namespace string, bound bool, into graph.Set) error {
	mapping, ok := g.View().Map(m.APIVersion, m.Kind)
	if !ok || !mapping.Served {
		return cli.Usagef("%s: the server has no %s in %s", cli.Quote(m.String()), cli.Quote(m.Kind), cli.Quote(m.APIVersion))
	}
	if m.Namespace != "" {
		if bound && namespace != m.Namespace {
			return cli.Usagef("the namespace of %s is %s, but -n is %s", cli.Quote(m.String()), cli.Quote(m.Namespace), cli.Quote(namespace))
		}
		namespace = m.Namespace
	}
	t := cli.Target{Word: m.Kind, Name: m.Name, Type: mapping.Type}
	found := graph.NewSet(g)
	if err := cli.FindTarget(g, t, namespace, found); err != nil {
		return err
	}
	for _, n := range found.Nodes() {
		if m.UID != "" && g.UID(n) != m.UID {
			return cli.NotFound(cli.Usagef("%s is not the object of the manifest, which has UID %s: it was recreated since", cli.Quote(m.String()), cli.Quote(string(m.UID))))
		}
		into.Add(n)
	}
	return nil
}
