// Package tree is the command kubectl gc tree.
package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/diagram"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type treeFlags struct {
	scan               *cli.ScanOptions
	uids               []string
	owners, dependents bool
	depth              int
	all                bool
	selector           string
	output             *cli.OutputFlags
}

// New returns the command tree.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &treeFlags{scan: scan, output: cli.NewOutputFlags("tree", "wide", "dot", "mermaid")}
	cmd := &cobra.Command{
		Use:   "tree [TYPE NAME | TYPE/NAME ...]",
		Short: "Show owners above an object and dependents below it",
		Long: `Show owners above an object and dependents below it. Without an object, show the
trees of the namespace: objects that have an owner or a dependent.

An object with several owners is shown in full once; other rows refer to it. An
owner that is missing or invalid is shown where it would be. READY, STATUS and AGE
are what the server prints for kubectl get; output from a file has AGE only.`,
		Example: cli.Examples(`
# One Deployment: what owns it, what depends on it
kubectl gc tree deployment/web

# Only what depends on it, two levels deep
kubectl gc tree deployment web --dependents --depth 2

# The whole namespace, and every namespace
kubectl gc tree -n shop
kubectl gc tree -A

# By UID, as in the garbage collector's logs
kubectl gc tree --uid 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# For Graphviz
kubectl gc tree deployment/web -o dot | dot -Tsvg > web.svg`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.scan.CompleteTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	f.scan.AddReadingFlags(cmd)
	flags.StringSliceVar(&f.uids, "uid", nil, "show the object with this UID")
	flags.BoolVar(&f.owners, "owners", false, "show only owners above")
	flags.BoolVar(&f.dependents, "dependents", false, "show only dependents below")
	flags.IntVar(&f.depth, "depth", 0, "show this many levels above and below; 0 shows all")
	flags.BoolVar(&f.all, "all", false, "also show objects with neither owner nor dependent")
	flags.StringVarP(&f.selector, "selector", "l", "", "show objects with these labels, their owners and their dependents")
	f.output.AddFlags(cmd)
	return cmd
}

// selection is what the command line requests to show.
type selection struct {
	targets   []cli.Target
	selector  labels.Selector
	namespace string // empty for all namespaces
	within    string // the namespace to which scope limited the scan, or empty
	print     func(context.Context, scannedGraph, tree.Family, int) error
}

func (f *treeFlags) selectTargets(args []string) (*selection, error) {
	if err := f.scan.Validate(); err != nil {
		return nil, err
	}
	if f.depth < 0 {
		return nil, cli.Usagef("--depth must not be negative")
	}
	sel := &selection{}
	var err error
	if sel.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	if len(sel.targets) > 0 && len(f.uids) > 0 {
		return nil, cli.Usagef("targets by name cannot be combined with --uid")
	}
	if f.selector != "" {
		if sel.selector, err = cli.ParseSelector(f.selector); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sel.targets, func(t cli.Target) bool { return t.Name != "" }) || len(f.uids) > 0 {
			return nil, cli.Usagef("--selector needs types, not names")
		}
	}
	if len(sel.targets) == 0 && len(f.uids) == 0 && sel.selector == nil && (f.depth > 0 || f.owners || f.dependents) {
		return nil, cli.Usagef("--depth, --owners and --dependents need an object")
	}
	named := false
	if sel.namespace, named, err = f.scan.Namespace(); err != nil {
		return nil, err
	}
	if len(f.uids) > 0 && !named {
		sel.namespace = "" // a UID may be anywhere
	}
	f.output.Complete()
	sel.print, err = f.printer()
	return sel, err
}

func (f *treeFlags) run(ctx context.Context, args []string) error {
	sel, err := f.selectTargets(args)
	if err != nil {
		return err
	}
	taken, live, err := f.scan.Scan(ctx, sel.scope)
	if err != nil {
		return err
	}
	g := graph.New(taken)
	seen := scannedGraph{g, collector.NewJudge(g), live}
	family, isolated, err := f.family(seen, sel)
	if err != nil {
		return err
	}
	if err := sel.print(ctx, seen, family, isolated); err != nil {
		return err
	}
	f.scan.WarnOfGaps(taken)
	return f.scan.StrictExit(taken)
}

// scope returns a scope that contains the owners and dependents of the targets. Those of a
// namespaced object are in its namespace, except cluster-scoped owners, which are read one
// by one.
func (sel *selection) scope(types []snapshot.Type) (scan.Scope, error) {
	var err error
	if sel.targets, err = cli.ResolveTargets(sel.targets, types); err != nil {
		return scan.Scope{}, err
	}
	scope := scan.Scope{Labels: sel.selector != nil, Widen: scan.WidenKinds}
	namespaced := !slices.ContainsFunc(sel.targets, func(t cli.Target) bool { return !t.Type.Namespaced })
	if sel.namespace != "" && namespaced {
		scope.Namespaces = []string{sel.namespace}
		sel.within = sel.namespace
	}
	for _, t := range sel.targets {
		if t.Name != "" && (sel.namespace != "" || !t.Type.Namespaced) {
			scope.Targets = append(scope.Targets, t.Coordinates(sel.namespace))
		}
	}
	return scope, nil
}

// printer returns what writes the tree in the format of -o.
func (f *treeFlags) printer() (func(context.Context, scannedGraph, tree.Family, int) error, error) {
	switch f.output.Format {
	case "tree", "wide":
		return f.printTree, nil
	case "dot":
		return func(_ context.Context, seen scannedGraph, family tree.Family, _ int) error {
			return diagram.DOT(f.scan.Out, seen.graph, drawn(seen.graph, family.Members))
		}, nil
	case "mermaid":
		return func(_ context.Context, seen scannedGraph, family tree.Family, _ int) error {
			return diagram.Mermaid(f.scan.Out, seen.graph, drawn(seen.graph, family.Members), func(e graph.Edge) string {
				if j := seen.judge.Reference(e); j.Broken() {
					return audit.RuleForCause(j.Cause)
				}
				return ""
			})
		}, nil
	}
	write, err := f.output.DocumentWriter(f.scan.Streams)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, seen scannedGraph, family tree.Family, _ int) error {
		document := tree.NewDocument(seen.graph, seen.judge, family)
		return write("Tree", document, document.Identities()...)
	}, nil
}

func (f *treeFlags) printTree(ctx context.Context, seen scannedGraph, family tree.Family, isolated int) error {
	cells, err := f.cells(ctx, seen, family)
	if err != nil {
		return err
	}
	rows := tree.Layout(seen.graph, seen.judge, family, seen.graph.Snapshot().Taken)
	view := tree.View{Graph: seen.graph, Judge: seen.judge, Cells: cells, Palette: f.scan.Palette(), Wide: f.output.Format == "wide", Isolated: isolated}
	if len(rows) == 0 {
		fmt.Fprintln(f.scan.Err, "Nothing to show: no object in scope has an owner or a dependent.")
		return nil
	}
	return view.Write(f.scan.Out, rows)
}

// cells returns the READY, STATUS and AGE that the server prints. A file has none.
func (f *treeFlags) cells(ctx context.Context, seen scannedGraph, family tree.Family) (map[types.UID]tree.Cells, error) {
	if seen.live == nil {
		return nil, nil
	}
	var shown []object.Identity
	for _, n := range family.Members.Nodes() {
		if o := seen.graph.Object(n); o != nil {
			shown = append(shown, o.Identity)
		}
	}
	rendered, err := read.Tables(ctx, seen.live, seen.graph.Snapshot(), shown)
	if err != nil {
		return nil, errors.Join(errors.New("ask the server for READY, STATUS and AGE"), err)
	}
	out := make(map[types.UID]tree.Cells, len(rendered))
	for uid, c := range rendered {
		out[uid] = tree.Cells(c)
	}
	return out, nil
}
