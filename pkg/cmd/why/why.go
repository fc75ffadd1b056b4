// Package why is the command kubectl gc why.
package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

type whyCommand struct {
	scan       *cli.ScanOptions
	uids       []string
	stuckAfter time.Duration
	output     *cli.OutputFlags

	onlyDeletions bool // see explain.Explainer

	selection cli.Selection
	graph     *graph.Graph // of the scan
	explainer *explain.Explainer
	live      *client.Client // nil if the scan read a file
	unknown   bool           // a requested object does not exist, and nothing is known of it
}

// New returns the command why.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &whyCommand{scan: scan, output: cli.NewOutputFlags("text", "wide")}
	cmd := &cobra.Command{
		Use:   "why TYPE/NAME ...",
		Short: "Explain what happens to an object, and why",
		Long: `Explain what happens to an object, and why: its owner references, the state of
each owner and who wrote the reference, what the garbage collector does next
and what goes with the object, and what would change that.

If the object is being deleted, it shows which finalizers hold it, which
controllers remove them as far as known, and the chain of what it waits for. If
it is gone, it shows what remains: the cluster's Events, and objects that name
it as their owner.

It changes nothing. You can paste the commands that it suggests.

Exit codes: 0 answered; 1 an object does not exist and left no trace; 2 error:
wrong usage, or the cluster cannot be read; 3 incomplete scan with --strict.`,
		Example: cli.Examples(`
# Why does this stay? Why is that gone?
kubectl gc why deployment/web
kubectl gc why pod/worker -n shop

# By UID, as in the garbage collector's logs
kubectl gc why --uid 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# For a program
kubectl gc why secret/token -n shop -o jsonpath='{.answers[0].consequence}'`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: c.scan.CompleteTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	c.scan.AddReadingFlags(cmd)
	flags.StringSliceVar(&c.uids, "uid", nil, "Explain the object with this UID.")
	flags.DurationVar(&c.stuckAfter, "stuck-after", terminating.DefaultStuckAfter, "Say of the deletion of a namespace that it should be over if it takes longer than this.")
	c.output.AddFlags(cmd)
	return cmd
}

// ExplainDeletions explains the deletions of the objects that args name, for a command with these flags.
func ExplainDeletions(ctx context.Context, scan *cli.ScanOptions, output *cli.OutputFlags, args []string) error {
	return (&whyCommand{scan: scan, output: output, onlyDeletions: true, stuckAfter: terminating.DefaultStuckAfter}).run(ctx, args)
}

// selectTargets reads what the command line selects, and returns an error if that is not
// clear.
func (c *whyCommand) selectTargets(args []string) error {
	if err := c.scan.Validate(); err != nil {
		return err
	}
	targets, err := cli.ParseTargets(args)
	if err != nil {
		return err
	}
	switch {
	case len(targets) > 0 && len(c.uids) > 0:
		return cli.Usagef("targets by name cannot be combined with --uid")
	case len(targets) == 0 && len(c.uids) == 0:
		return cli.WithHelp(cli.Usagef("no object given: use TYPE/NAME, or --uid UID"), cli.CommandName+" why")
	}
	if c.selection, err = c.scan.Select(targets, ""); err != nil {
		return err
	}
	if len(c.uids) > 0 && !c.selection.Bound {
		c.selection.Namespace = "" // a UID may be anywhere
	}
	c.scan.NamespaceMayBeMissing = len(targets) > 0 // they may have left traces elsewhere
	return nil
}

func (c *whyCommand) run(ctx context.Context, args []string) error {
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
	c.setScan(taken, live)
	answers, err := c.all(ctx)
	if err != nil {
		return err
	}
	if err := c.write(taken, c.explanation(answers)); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	if c.output.Structured() {
		c.scan.WarnOfGaps(taken)
	} else { // each answer has what could not be read
		c.scan.WarnOfVersion("", taken.Server)
	}
	if err := c.scan.StrictExit(taken); err != nil || !c.unknown {
		return err
	}
	return cli.ExitError(cli.ExitFound)
}

// setScan takes over what was scanned.
func (c *whyCommand) setScan(taken *snapshot.Snapshot, live *client.Client) {
	c.graph, c.live = graph.New(taken), live
	c.explainer = explain.NewExplainer(collector.NewJudge(c.graph))
	c.explainer.OnlyDeletions, c.explainer.StuckAfter = c.onlyDeletions, c.stuckAfter
}

// scope returns the whole cluster, as owners and blockers may be anywhere, too.
func (c *whyCommand) scope(ctx context.Context) (scan.Scope, error) {
	scope, err := c.selection.CascadeScope(ctx, c.scan)
	if err != nil {
		return scope, err
	}
	for _, t := range c.selection.Targets {
		if t.Name == "" {
			return scope, cli.WithCommandHint(cli.Usagef("%s is a type: why explains single objects, given as TYPE/NAME", cli.Quote(t.Word)), "to check all objects", "audit")
		}
		if t.Type.Namespaced && c.scan.AllNamespaces {
			return scope, cli.WithHint(cli.Usagef("%s may exist in several namespaces, and why explains one object", cli.Quote(t.String())), "choose its namespace with -n, or the object with --uid")
		}
	}
	return scope, nil
}

// explanation returns the document of the answers, whose suggestions are for this command line.
func (c *whyCommand) explanation(answers []*explain.Answer) *explain.Explanation {
	e := c.explainer.Explanation(answers)
	for i := range e.Answers {
		a := *e.Answers[i]
		a.Suggestions = slices.Clone(a.Suggestions)
		for k, s := range a.Suggestions {
			a.Suggestions[k].Sentence, a.Suggestions[k].Command = c.scan.SuggestSentence(s.Sentence, s.Command)
		}
		e.Answers[i] = &a
	}
	return e
}

// write writes the explanation in the format of -o.
func (c *whyCommand) write(taken *snapshot.Snapshot, e *explain.Explanation) error {
	if !c.output.Structured() {
		view := explainview.AnswerView{Palette: c.scan.Palette(), Wide: c.output.Format == "wide", Taken: taken.Taken, Command: cli.ShellCommand}
		return view.WriteAll(c.scan.Text(), e, taken.Server)
	}
	named := []object.Identity{}
	for _, a := range e.Answers {
		if a.Object.Name != "" {
			named = append(named, a.Object)
		}
	}
	return c.output.Write("Explanation", e, named...)
}

// all explains every requested object, in their order.
func (c *whyCommand) all(ctx context.Context) ([]*explain.Answer, error) {
	var out []*explain.Answer
	for _, t := range c.selection.Targets {
		a, err := c.target(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	for _, uid := range c.uids {
		out = append(out, c.uid(ctx, types.UID(uid)))
	}
	return out, ctx.Err()
}

func (c *whyCommand) target(ctx context.Context, t cli.Target) (*explain.Answer, error) {
	namespace := c.selection.Namespace
	switch found := t.NodesIn(c.graph, namespace); len(found) {
	case 0:
		at := t.Coordinates(namespace)
		id := object.Identity{APIVersion: at.APIVersion, Kind: at.Kind, Namespace: at.Namespace, Name: at.Name}
		if l := c.graph.View().Unreadable(t.Type, at); l != nil {
			return c.explainer.Unreadable(id, l.Message), nil
		}
		if err := cli.UnreadError(c.graph, t, namespace); err != nil {
			return nil, err
		}
		a := c.gone(ctx, id)
		if a.HasTraces() {
			return a, nil
		}
		if near := cli.DidYouMean(t.Nearest(c.graph, namespace)); near != "" {
			a.Next = slices.Insert(a.Next, 0, strings.TrimPrefix(near, ". "))
		}
		return a, c.scan.RequireNamespace(ctx, at.Namespace, c.graph.Snapshot(), c.live)
	case 1:
		return c.present(ctx, found[0]), nil
	default:
		var in []string
		for _, n := range found {
			in = append(in, c.graph.Object(n).Namespace)
		}
		return nil, cli.WithHint(cli.Usagef("%d objects are named %s: in the namespaces %s", len(found), cli.Quote(t.String()), cli.Quote(strings.Join(in, ", "))), "use -n to choose the namespace")
	}
}

// uid explains the object with a UID. If it is gone, the references to it say what it was.
func (c *whyCommand) uid(ctx context.Context, uid types.UID) *explain.Answer {
	n := c.graph.Find(uid)
	if c.graph.Object(n) != nil {
		return c.present(ctx, n)
	}
	dependents := c.graph.Dependents(n)
	if len(dependents) == 0 {
		return c.gone(ctx, object.Identity{UID: uid})
	}
	r, namespace := c.graph.Reference(dependents[0]), c.graph.Object(dependents[0].Node).Namespace
	if m, mapped := c.graph.View().Map(r.APIVersion, r.Kind); mapped && !m.Type.Namespaced {
		namespace = ""
	}
	return c.gone(ctx, object.Identity{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: namespace, Name: r.Name, UID: uid})
}

func (c *whyCommand) present(ctx context.Context, n graph.Node) *explain.Answer {
	o := c.graph.Object(n)
	c.readFacts(ctx, o)
	seen := *c.graph.Snapshot()
	before := len(seen.Refused)
	seen.Refused = health.Refusals(ctx, c.live, &seen, seen.Endings(func(of *object.Object) bool { return of.UID == o.UID }))
	if before+len(seen.Refused) > 0 {
		c.setScan(&seen, c.live)
	}
	history := c.eventHistory(ctx, o.Identity)
	a := c.explainer.Object(n, history)
	var namespaces []string
	if c.live != nil && a.Cascade != nil {
		for _, claim := range a.Cascade.Claims {
			namespaces = append(namespaces, claim.Namespace)
		}
	}
	if len(namespaces) > 0 {
		slices.Sort(namespaces)
		if seen, err := read.MarkVolumes(ctx, c.live, c.graph.Snapshot(), slices.Compact(namespaces)); err == nil { // else the context has ended
			c.setScan(seen, c.live)
			a = c.explainer.Object(n, history)
		}
	}
	marks := read.MarksOf(ctx, c.live, c.graph.Snapshot(), c.graph.View(), o)
	a.AddWriters(marks.Writers)
	c.explainer.AddManager(a, n, marks.Manager)
	return a
}

// readFacts adds to the scan what metadata does not show: the Pods on a Node; what an object that is being deleted says
// itself; and the Lifecycle of another object, as far as it can be read.
func (c *whyCommand) readFacts(ctx context.Context, o *object.Object) {
	seen, err := c.graph.Snapshot(), error(nil)
	switch {
	case o.IsNode():
		seen, err = read.MarkPodsOf(ctx, c.live, seen, []string{o.Name})
	case c.live != nil && o.Terminating():
		seen, err = read.MarkStatuses(ctx, c.live, seen, func(of *object.Object) bool {
			return of.UID == o.UID || o.IsNamespace() && of.Namespace == o.Name || o.DeletingDependents() && of.Namespace == o.Namespace
		})
	case c.live != nil && o.Kind == "Secret" && !strings.HasPrefix(o.Name, "bootstrap-token-"):
		seen, err = read.MarkTokens(ctx, c.live, seen, []string{o.Namespace})
	case c.live != nil:
		seen, err = read.MarkLifecycles(ctx, c.live, seen, []*object.Object{o})
	default:
		return
	}
	if err == nil { // else the context has ended
		c.setScan(seen, c.live)
	}
}

func (c *whyCommand) gone(ctx context.Context, at object.Identity) *explain.Answer {
	a := c.explainer.Gone(at, c.eventHistory(ctx, at), cli.DeletedByRun(ctx, c.live, c.graph.Snapshot(), at))
	c.unknown = c.unknown || !a.HasTraces() && !c.onlyDeletions
	return a
}

// eventHistory returns the Events about an object.
func (c *whyCommand) eventHistory(ctx context.Context, id object.Identity) explain.EventHistory {
	if c.live == nil {
		return explain.EventHistory{Unread: "the " + c.scan.Source() + " does not have any"}
	}
	found, err := read.Events(ctx, c.live, id)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return explain.EventHistory{Unread: message}
	}
	return explain.EventHistory{Events: found}
}
