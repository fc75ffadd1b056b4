// Package tree is the command kubectl gc tree.
package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

type treeCommand struct {
	scan               *cli.ScanOptions
	uids               []string
	owners, dependents bool
	depth              int
	all, usedBy        bool
	selector           string
	output             *cli.OutputFlags

	selection cli.Selection
	limited   bool // whether scope limited the scan to the namespace

	graph *graph.Graph // of the scan
	judge *collector.Judge
	users []reason.UsedByOthers // of the targets, with --used-by
	live  *client.Client        // nil if the scan read a file
}

// New returns the command tree.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &treeCommand{scan: scan, output: cli.NewOutputFlags("tree", "wide")}
	cmd := &cobra.Command{
		Use:   "tree [TYPE NAME | TYPE/NAME ...]",
		Short: "Show the owners and dependents of an object as a tree",
		Long: `Show an object as a tree, with its owners above and its dependents below.
Without an object, show the trees of the namespace: all objects that have an
owner or a dependent.

An object with several owners appears in full once; other rows refer to it. An
owner that is missing or invalid appears where it would be. READY, STATUS and
AGE are those of kubectl get; a file has only AGE.

--used-by also says below the tree who uses the object by its name, without an
owner reference, and what its deletion would mean for them: the Pods of which
workload mount a Secret, which binding binds a Role.`,
		Example: cli.Examples(`
# One Deployment: what owns it, what depends on it
kubectl gc tree deployment/web

# Only what depends on it, two levels deep
kubectl gc tree deployment web --dependents --depth 2

# The whole namespace, and every namespace
kubectl gc tree -n shop
kubectl gc tree -A

# Who mounts a Secret
kubectl gc tree secret/restored -n shop --used-by

# By UID, as in the garbage collector's logs
kubectl gc tree --uid 6ba7b810-9dad-11d1-80b4-00c04fd430c8`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: c.scan.CompleteTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	c.scan.AddReadingFlags(cmd)
	flags.StringSliceVar(&c.uids, "uid", nil, "Show the object with this UID.")
	flags.BoolVar(&c.owners, "owners", false, "Show only owners.")
	flags.BoolVar(&c.dependents, "dependents", false, "Show only dependents.")
	flags.IntVar(&c.depth, "depth", 0, "Show this many levels above and below; 0 shows all.")
	flags.BoolVar(&c.all, "all", false, "Also show objects with neither owner nor dependent.")
	flags.BoolVar(&c.usedBy, "used-by", false, "Show who uses the object by its name, such as Pods that mount it.")
	flags.StringVarP(&c.selector, "selector", "l", "", "Show objects with these labels, their owners and their dependents.")
	c.output.AddFlags(cmd)
	return cmd
}

// selectTargets reads what the command line selects, and returns an error if that is not
// clear.
func (c *treeCommand) selectTargets(args []string) error {
	targets, targetsErr := cli.ParseTargets(args)
	var selectionErr error
	c.selection, selectionErr = c.scan.Select(targets, c.selector)
	sel := &c.selection
	if len(c.uids) > 0 && !sel.Bound {
		sel.Namespace = "" // a UID may be anywhere
	}
	named := slices.ContainsFunc(sel.Targets, func(t cli.Target) bool { return t.Name != "" })
	return cmp.Or(
		c.scan.Validate(),
		cli.UsageIf(c.owners && c.dependents, "--owners cannot be combined with --dependents: without them, tree shows both"),
		targetsErr,
		cli.UsageIf(len(sel.Targets) > 0 && len(c.uids) > 0, "targets by name cannot be combined with --uid"),
		selectionErr,
		cli.UsageIf(sel.Selector != nil && (named || len(c.uids) > 0), "--selector needs types, not names"),
		cli.UsageIf(c.everything() && (c.depth > 0 || c.owners || c.dependents || c.usedBy), "--depth, --owners, --dependents and --used-by need an object"),
	)
}

// everything reports whether the command line selects no objects.
func (c *treeCommand) everything() bool {
	return len(c.selection.Targets) == 0 && len(c.uids) == 0 && c.selection.Selector == nil
}

func (c *treeCommand) run(ctx context.Context, args []string) error {
	if err := cmp.Or(c.output.Complete(&c.scan.Streams), c.selectTargets(args)); err != nil {
		return err
	}
	scope, err := c.scope(ctx)
	if err != nil {
		return err
	}
	taken, live, err := c.scan.Scan(ctx, scope)
	if err != nil {
		return err
	}
	c.graph, c.live = graph.New(taken), live
	c.judge = collector.NewJudge(c.graph)
	family, isolated, err := c.family()
	if err != nil {
		return err
	}
	if err := c.readUsers(ctx, family.Targets.Nodes()); err != nil {
		return err
	}
	if err := c.write(ctx, family, isolated); err != nil {
		return err
	}
	c.hintContents(family)
	c.scan.WarnOfGaps(taken)
	return c.scan.StrictExit(taken)
}

// readUsers reads who uses the targets if --used-by asks for it, and warns of what could not be read.
func (c *treeCommand) readUsers(ctx context.Context, targets []graph.Node) error {
	if !c.usedBy {
		return nil
	}
	found, unread, err := cli.UsersOf(ctx, cli.Scanned{Cluster: c.live, Snapshot: c.graph.Snapshot(), Judge: c.judge}, targets)
	for _, gap := range unread {
		fmt.Fprintf(c.scan.Err, "warning: others may use it, too: this tool could not read %s\n", escape.Line(gap.String()+" ("+gap.Why()+")"))
	}
	if len(found)+len(unread) == 0 && err == nil {
		fmt.Fprintln(c.scan.Err, "Found no Pod, claim, Ingress or binding that uses it by its name.")
	}
	c.users = found
	return err
}

// hintContents says how to see what the first target contains: that refers to no owner, so no tree shows it.
func (c *treeCommand) hintContents(family tree.Family) {
	for _, n := range family.Targets.Nodes() {
		if o := c.graph.Object(n); o != nil && (o.IsNamespace() || o.IsCRD()) {
			fmt.Fprintln(c.scan.Err, "hint: owner references do not show what it contains; that does: "+
				c.scan.Suggest("delete", strings.ToLower(o.Kind)+"/"+o.Name, "--dry-run"))
			return
		}
	}
}

// scope returns a scope that contains the owners and dependents of the targets. Those of a
// namespaced object are in its namespace, except cluster-scoped owners, which are read one
// by one.
func (c *treeCommand) scope(ctx context.Context) (scan.Scope, error) {
	scope, err := c.selection.Scope(ctx, c.scan)
	scope.Widen = scan.WidenKinds
	c.limited = scope.Namespaces != nil
	return scope, err
}

// write writes the tree in the format of -o, for a person also how many isolated objects it
// leaves out.
func (c *treeCommand) write(ctx context.Context, family tree.Family, isolated int) error {
	switch c.output.Format {
	case "tree", "wide":
		cells, err := c.cells(ctx, c.shown(family))
		if err != nil {
			return err
		}
		return c.printRows(family, isolated, cells)
	}
	document := tree.NewDocument(c.graph, c.judge, family, c.users)
	return c.output.Write("Tree", document, document.Identities()...)
}

func (c *treeCommand) printRows(family tree.Family, isolated int, cells map[types.UID]object.Columns) error {
	rows := tree.Layout(c.graph, c.judge, family, c.graph.Snapshot().Taken)
	view := tree.RowView{Graph: c.graph, Judge: c.judge, Cells: cells, Users: c.users, Palette: c.scan.Palette(), Wide: c.output.Format == "wide", Isolated: isolated}
	if len(rows) == 0 {
		what, more := "No objects found", "."
		if c.selection.Selector != nil {
			what = "No object has the labels " + cli.Quote(c.selector)
		}
		if isolated > 0 {
			what, more = "No owner references", fmt.Sprintf(". Unrelated objects hidden: %d (--all)", isolated)
		}
		fmt.Fprintln(c.scan.Err, what+cli.InNamespace(c.selection.Namespace)+more)
		return nil
	}
	return view.Write(c.scan.Text(), rows)
}

// shown returns the objects of the family that exist.
func (c *treeCommand) shown(family tree.Family) []*object.Object {
	var out []*object.Object
	for _, n := range family.Members.Nodes() {
		if o := c.graph.Object(n); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// cells returns the READY, STATUS and AGE that the server prints. A file has none.
func (c *treeCommand) cells(ctx context.Context, shown []*object.Object) (map[types.UID]object.Columns, error) {
	if c.live == nil {
		return nil, nil
	}
	rendered, err := read.Tables(ctx, c.live, c.graph.Snapshot(), shown)
	if err != nil {
		return nil, errors.Join(errors.New("ask the server for READY, STATUS and AGE"), err)
	}
	return rendered, nil
}
