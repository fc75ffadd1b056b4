package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/diagram"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
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
	output             string
	formats            *structured.Flags
}

func New(from *cli.ScanOptions) *cobra.Command {
	f := &treeFlags{scan: from, formats: structured.NewFlags(os.ReadFile)}
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
	f.scan.AddReadingFlags(flags)
	flags.StringSliceVar(&f.uids, "uid", nil, "show the object with this UID")
	flags.BoolVar(&f.owners, "owners", false, "show only owners above")
	flags.BoolVar(&f.dependents, "dependents", false, "show only dependents below")
	flags.IntVar(&f.depth, "depth", 0, "show this many levels above and below; 0 shows all")
	flags.BoolVar(&f.all, "all", false, "also show objects with neither owner nor dependent")
	flags.StringVarP(&f.selector, "selector", "l", "", "show objects with these labels, their owners and their dependents")
	cli.AddOutputFlags(cmd, &f.output, f.formats)
	f.scan.CompleteFlags(cmd)
	return cmd
}

// selection is a checked command line.
type selection struct {
	targets   []cli.Target
	uids      []types.UID
	selector  labels.Selector
	namespace string // empty: all
	within    string // the namespace to which scope limited the look; empty: none
	print     func(context.Context, judgedGraph, tree.Family, int) error
}

func (f *treeFlags) selectTargets(args []string) (*selection, error) {
	if err := f.scan.Validate(); err != nil {
		return nil, err
	}
	if f.depth < 0 {
		return nil, cli.Usagef("--depth must not be negative")
	}
	asked := &selection{}
	var err error
	if asked.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	if len(asked.targets) > 0 && len(f.uids) > 0 {
		return nil, cli.Usagef("targets by name cannot be combined with --uid")
	}
	for _, uid := range f.uids {
		asked.uids = append(asked.uids, types.UID(uid))
	}
	if f.selector != "" {
		if asked.selector, err = cli.ParseSelector(f.selector); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(asked.targets, func(t cli.Target) bool { return t.Name != "" }) || len(f.uids) > 0 {
			return nil, cli.Usagef("--selector needs types, not names")
		}
	}
	if len(asked.targets) == 0 && len(asked.uids) == 0 && asked.selector == nil && (f.depth > 0 || f.owners || f.dependents) {
		return nil, cli.Usagef("--depth, --owners and --dependents need an object")
	}
	named := false
	if asked.namespace, named, err = f.scan.Namespace(); err != nil {
		return nil, err
	}
	if len(asked.uids) > 0 && !named {
		asked.namespace = "" // a UID may be anywhere
	}
	f.output = cli.ChooseFormat("tree", f.output, f.formats)
	asked.print, err = f.printer()
	return asked, err
}

func (f *treeFlags) run(ctx context.Context, args []string) error {
	asked, err := f.selectTargets(args)
	if err != nil {
		return err
	}
	taken, live, err := f.scan.Scan(ctx, asked.scope)
	if err != nil {
		return err
	}
	seen := newJudgedGraph(taken, live)
	family, isolated, err := f.family(seen, asked)
	if err != nil {
		return err
	}
	if err := asked.print(ctx, seen, family, isolated); err != nil {
		return err
	}
	f.scan.WarnOfGaps(taken)
	if f.scan.Strict && !taken.Complete() {
		return cli.ExitError(cli.ExitIncomplete)
	}
	return nil
}

// scope limits the look to what can be family of the targets: a namespaced
// object's owners and dependents live in its namespace, its cluster-scoped
// owners are looked up one by one.
func (a *selection) scope(types []snapshot.Type) (scan.Scope, error) {
	var err error
	if a.targets, err = cli.ResolveTargets(a.targets, types); err != nil {
		return scan.Scope{}, err
	}
	scope := scan.Scope{Labels: a.selector != nil, Widen: scan.WidenKinds}
	namespaced := !slices.ContainsFunc(a.targets, func(t cli.Target) bool { return !t.Type.Namespaced })
	if a.namespace != "" && namespaced {
		scope.Namespaces = []string{a.namespace}
		a.within = a.namespace
	}
	for _, t := range a.targets {
		if t.Name != "" && (a.namespace != "" || !t.Type.Namespaced) {
			scope.Targets = append(scope.Targets, t.Coordinates(a.namespace))
		}
	}
	return scope, nil
}

// printer chooses how the family is written, before anything is asked.
func (f *treeFlags) printer() (func(context.Context, judgedGraph, tree.Family, int) error, error) {
	switch f.output {
	case "tree", "wide":
		return f.printTree, nil
	case "dot":
		return func(_ context.Context, seen judgedGraph, family tree.Family, _ int) error {
			return diagram.DOT(f.scan.Out, seen.graph, drawn(seen.graph, family.Members))
		}, nil
	case "mermaid":
		return func(_ context.Context, seen judgedGraph, family tree.Family, _ int) error {
			return diagram.Mermaid(f.scan.Out, seen.graph, drawn(seen.graph, family.Members), func(e graph.Edge) string {
				if j := seen.judge.Reference(e); j.Bad() {
					return audit.RuleOf(j.Cause)
				}
				return ""
			})
		}, nil
	}
	format, err := f.formats.ToPrinter(f.output, cli.OwnFormats["tree"]...)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return func(_ context.Context, seen judgedGraph, family tree.Family, _ int) error {
		document := tree.NewDocument(seen.graph, seen.judge, family)
		return format.Print(f.scan.Out, structured.NewDocument("Tree", document, document.Identities()...), f.scan.OutTerm)
	}, nil
}

func (f *treeFlags) printTree(ctx context.Context, seen judgedGraph, family tree.Family, isolated int) error {
	cells, err := f.cells(ctx, seen, family)
	if err != nil {
		return err
	}
	rows := tree.Layout(seen.graph, seen.judge, family, seen.graph.Snapshot().Taken)
	view := tree.View{Graph: seen.graph, Judge: seen.judge, Cells: cells, Palette: f.scan.Palette(), Wide: f.output == "wide", Isolated: isolated}
	if len(rows) == 0 {
		fmt.Fprintln(f.scan.Err, "Nothing to show: no object in scope has an owner or a dependent.")
		return nil
	}
	return view.Write(f.scan.Out, rows)
}

// cells asks the server to render what is shown; a file cannot.
func (f *treeFlags) cells(ctx context.Context, seen judgedGraph, family tree.Family) (map[types.UID]tree.Cells, error) {
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
