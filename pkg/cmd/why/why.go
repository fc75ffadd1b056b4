package why

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type whyFlags struct {
	scan    *cli.ScanOptions
	uids    []string
	output  string
	formats *structured.Flags
}

func New(from *cli.ScanOptions) *cobra.Command {
	f := &whyFlags{scan: from, formats: structured.NewFlags(os.ReadFile)}
	cmd := &cobra.Command{
		Use:   "why TYPE/NAME ...",
		Short: "Explain what happens to an object, and why",
		Long: `Explain what happens to an object, and why: each owner reference and the state of
its owner, what the garbage collector does next, what it waits for, what is deleted
with the object, and what would change that.

For an object that is being deleted, it shows which finalizers block it, which
controllers remove them as far as known, and the chain of what it waits for. For an
object that is gone, it shows what remains: the cluster's Events, and objects that
reference it as their owner.

It changes nothing. You can paste the commands that it suggests.

Exit codes: 0 answered, 1 an object does not exist and no trace of it remains, 2 no
answer, 3 an incomplete scan with --strict.`,
		Example: cli.Examples(`
# Why is this not deleted? Why was that deleted?
kubectl gc why deployment/web
kubectl gc why pod/worker -n shop

# By UID, as in the garbage collector's logs
kubectl gc why --uid 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# For a program
kubectl gc why secret/token -n shop -o jsonpath='{.answers[0].consequence}'`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.scan.CompleteTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	f.scan.AddReadingFlags(flags)
	flags.StringSliceVar(&f.uids, "uid", nil, "explain the object with this UID")
	cli.AddOutputFlags(cmd, &f.output, f.formats)
	f.scan.CompleteFlags(cmd)
	return cmd
}

// selection is a checked command line.
type selection struct {
	targets   []cli.Target
	uids      []types.UID
	namespace string // empty: not known
}

func (f *whyFlags) selectTargets(args []string) (*selection, error) {
	if err := f.scan.Validate(); err != nil {
		return nil, err
	}
	asked := &selection{}
	var err error
	if asked.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	switch {
	case len(asked.targets) > 0 && len(f.uids) > 0:
		return nil, cli.Usagef("targets by name cannot be combined with --uid")
	case len(asked.targets) == 0 && len(f.uids) == 0:
		return nil, &cli.UsageError{Err: fmt.Errorf("no object given: use TYPE/NAME, or --uid UID"), Command: cli.CommandName + " why"}
	case slices.ContainsFunc(asked.targets, func(t cli.Target) bool { return t.Name == "" }):
		return nil, cli.WithHint(cli.Usagef("%s is a type: why explains single objects, given as TYPE/NAME", cli.Quote(args[0])), cli.CommandName+" audit checks all objects")
	}
	for _, uid := range f.uids {
		asked.uids = append(asked.uids, types.UID(uid))
	}
	named := false
	if asked.namespace, named, err = f.scan.Namespace(); err != nil {
		return nil, err
	}
	if len(asked.uids) > 0 && !named {
		asked.namespace = "" // a UID may be anywhere
	}
	return asked, nil
}

func (f *whyFlags) run(ctx context.Context, args []string) error {
	asked, err := f.selectTargets(args)
	if err != nil {
		return err
	}
	f.output = cli.ChooseFormat("why", f.output, f.formats)
	write, err := f.printer()
	if err != nil {
		return err
	}
	taken, live, err := f.scan.Scan(ctx, f.scope(asked))
	if err != nil {
		return err
	}
	e := newExplainer(taken, live)
	answers, err := e.all(ctx, asked)
	if err != nil {
		return err
	}
	if err := write(taken, e.view.Explain(answers)); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	f.scan.WarnOfGaps(taken)
	switch {
	case f.scan.Strict && !taken.Complete():
		return cli.ExitError(cli.ExitIncomplete)
	case e.traceless:
		return cli.ExitError(cli.ExitFound)
	}
	return nil
}

// scope is the whole cluster: owners, dependents and blockers may be anywhere.
// Where a namespace is known, that comes first, so that who may read nothing else
// has an answer, too.
func (f *whyFlags) scope(asked *selection) cli.ScopeFunc {
	return func(types []snapshot.Type) (scan.Scope, error) {
		var err error
		if asked.targets, err = cli.ResolveTargets(asked.targets, types); err != nil {
			return scan.Scope{}, err
		}
		scope := scan.Scope{Running: true}
		for _, t := range asked.targets {
			if t.Type.Namespaced && f.scan.AllNamespaces {
				return scope, cli.WithHint(cli.Usagef("%s may exist in several namespaces, and why explains one object", cli.Quote(t.String())), "choose its namespace with -n, or the object with --uid")
			}
			if t.Type.Namespaced && asked.namespace == "" {
				continue
			}
			scope.Targets = append(scope.Targets, t.Coordinates(asked.namespace))
		}
		local := !slices.ContainsFunc(asked.targets, func(t cli.Target) bool { return !t.Type.Namespaced })
		if local && asked.namespace != "" {
			scope.Namespaces, scope.Widen = []string{asked.namespace}, scan.WidenAlways
		}
		return scope, nil
	}
}
