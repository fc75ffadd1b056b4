package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type whyFlags struct {
	*source
	uids    []string
	output  string
	formats *structured.Flags
}

func newWhy(from *source) *cobra.Command {
	f := &whyFlags{source: from, formats: structured.NewFlags(os.ReadFile)}
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
		Example: examples(`
# Why is this not deleted? Why was that deleted?
kubectl gc why deployment/web
kubectl gc why pod/worker -n shop

# By UID, as in the garbage collector's logs
kubectl gc why --uid 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# For a program
kubectl gc why secret/token -n shop -o jsonpath='{.answers[0].consequence}'`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.completeTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	f.addReadingFlags(flags)
	flags.StringSliceVar(&f.uids, "uid", nil, "explain the object with this UID")
	addOutputFlags(cmd, &f.output, f.formats)
	f.completeFlags(cmd)
	return cmd
}

// whyAsked is a checked command line.
type whyAsked struct {
	targets   []target
	uids      []types.UID
	namespace string // empty: not known
}

func (f *whyFlags) ask(args []string) (*whyAsked, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	asked := &whyAsked{}
	var err error
	if asked.targets, err = parseTargets(args); err != nil {
		return nil, err
	}
	switch {
	case len(asked.targets) > 0 && len(f.uids) > 0:
		return nil, usagef("targets by name cannot be combined with --uid")
	case len(asked.targets) == 0 && len(f.uids) == 0:
		return nil, &usage{err: fmt.Errorf("no object given: use TYPE/NAME, or --uid UID"), command: called + " why"}
	case slices.ContainsFunc(asked.targets, func(t target) bool { return t.name == "" }):
		return nil, withHint(usagef("%s is a type: why explains single objects, given as TYPE/NAME", quoted(args[0])), called+" audit checks all objects")
	}
	for _, uid := range f.uids {
		asked.uids = append(asked.uids, types.UID(uid))
	}
	named := false
	if asked.namespace, named, err = f.namespace(); err != nil {
		return nil, err
	}
	if len(asked.uids) > 0 && !named {
		asked.namespace = "" // a UID may be anywhere
	}
	return asked, nil
}

func (f *whyFlags) run(ctx context.Context, args []string) error {
	asked, err := f.ask(args)
	if err != nil {
		return err
	}
	f.output = chosen("why", f.output, f.formats)
	write, err := f.printer()
	if err != nil {
		return err
	}
	taken, live, err := f.look(ctx, f.scope(asked))
	if err != nil {
		return err
	}
	e := newExplaining(taken, live)
	answers, err := e.all(ctx, asked)
	if err != nil {
		return err
	}
	if err := write(taken, e.view.Explain(answers)); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	f.warnOfGaps(taken)
	switch {
	case f.strict && !taken.Complete():
		return status(exitIncomplete)
	case e.traceless:
		return status(exitFound)
	}
	return nil
}

// scope is the whole cluster: owners, dependents and blockers may be anywhere.
// Where a namespace is known, that comes first, so that who may read nothing else
// has an answer, too.
func (f *whyFlags) scope(asked *whyAsked) scoped {
	return func(types []snapshot.Type) (cluster.Scope, error) {
		var err error
		if asked.targets, err = resolve(asked.targets, types); err != nil {
			return cluster.Scope{}, err
		}
		scope := cluster.Scope{Running: true}
		for _, t := range asked.targets {
			if t.of.Namespaced && f.allNamespaces {
				return scope, withHint(usagef("%s may exist in several namespaces, and why explains one object", quoted(t.String())), "choose its namespace with -n, or the object with --uid")
			}
			if t.of.Namespaced && asked.namespace == "" {
				continue
			}
			scope.Targets = append(scope.Targets, t.at(asked.namespace))
		}
		local := !slices.ContainsFunc(asked.targets, func(t target) bool { return !t.of.Namespaced })
		if local && asked.namespace != "" {
			scope.Namespaces, scope.Widen = []string{asked.namespace}, cluster.WidenAlways
		}
		return scope, nil
	}
}
