package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/mend"
)

type repairFlags struct {
	*changing
	selector   string
	rules      []string
	fix        string
	references []string // UIDs of owners whose references are given up
}

func newRepair(from *source) *cobra.Command {
	f := &repairFlags{changing: newChanging("repair", from)}
	cmd := &cobra.Command{
		Use:   "repair [TYPE/NAME ...] [-l SELECTOR]",
		Short: "Mend owner references, so that the collector does not act on them",
		Long: `Mend owner references that lead to no owner, instead of losing the objects that
have them. Three things mend a reference:

  unlink          takes away one whose owner is gone, or can never be its owner
  relink          points one at the object that has its owner's name now
  update-version  rewrites an apiVersion that is not served to the one that is

What fits each is found out reference by reference; "` + called + ` audit" names it. A
reference that holds is not changed unless --reference names it, one that nobody
could verify is not touched, and one that is rewritten leads to an owner that was
seen. Nothing is deleted.

Without targets, everything is mended in the whole cluster, or in the namespace that
-n names. First it shows what it would change, and what the collector would do
otherwise. Then it asks, saves every object as it is, mends, and looks again. Every
change is bound to the very state that was shown.

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left, cannot be mended or is not verified, 2 no answer, 3 an
incomplete scan with --strict, 4 not confirmed, 130 interrupted.`,
		Example: examples(`
# What can be mended, and what would the collector do otherwise?
kubectl gc repair --dry-run

# The same, and would the server let us?
kubectl gc repair --dry-run=server

# After a restore: point everything at the new owners of the old names
kubectl gc repair --rule replaced-owner

# One object
kubectl gc repair statefulset/redis-exporter -n monitoring

# What is labelled so, in all namespaces
kubectl gc repair -l app=web

# A reference of a kind that is gone for good
kubectl gc repair configmap/flags -n shop --fix unlink

# Break a circle at one reference that holds
kubectl gc repair configmap/egg -n shop --fix unlink --reference 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# Exactly what a preview has shown, without a terminal
kubectl gc repair --confirm 5f2a9c41d07e9b12`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: from.completeTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(cmd, args); err != nil {
				return err
			}
			asked, err := f.ask(args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), asked)
		},
	}
	f.addFlags(cmd)
	flags := cmd.Flags()
	_ = flags.MarkHidden("max-deletes") // nothing is
	flags.StringVarP(&f.selector, "selector", "l", "", "mend only objects with these labels")
	flags.StringSliceVar(&f.rules, "rule", nil, "mend only references of which these audit rules speak: "+strings.Join(audit.Mended(), ", "))
	flags.StringVar(&f.fix, "fix", fixAuto, "how: what fits each reference (auto), or only "+strings.Join(fixes[1:], ", "))
	flags.StringSliceVar(&f.references, "reference", nil, "with --fix unlink, of one object: give up the references to the owner with this UID, even if they hold, and nothing else")
	f.completeFlags(cmd)
	return cmd
}

// fixes are the values of --fix.
var fixes = []string{fixAuto, string(mend.Unlink), string(mend.Relink), string(mend.UpdateVersion)}

const fixAuto = "auto"

func (f *repairFlags) run(ctx context.Context, asked *repairAsked) error {
	foresee := func(first bool) planFunc {
		return func(_ context.Context, p *planned) (err error) {
			p.plan, err = asked.plan(p.graph, first)
			return err
		}
	}
	a := &act{changing: f.changing, scope: asked.scope, foresee: foresee(false)}
	if err := a.prepare(ctx, foresee(true)); err != nil {
		return err
	}
	return a.run(ctx)
}

// causes are those of the references of which the chosen rules speak.
func (f *repairFlags) causes() ([]collector.Cause, error) {
	if err := audit.Check(f.rules); err != nil {
		return nil, &usage{err: err}
	}
	var out []collector.Cause
	for _, rule := range f.rules {
		cause, mends := audit.MendedBy(rule)
		if !mends {
			return nil, &hinted{
				usagef("repair mends nothing of which %s speaks", quoted(rule)), "rules whose references it mends are " + strings.Join(audit.Mended(), ", "),
			}
		}
		out = append(out, cause)
	}
	return out, nil
}

// how is the only fix to be made; empty: what fits.
func (f *repairFlags) how() (mend.Fix, error) {
	switch {
	case f.fix == fixAuto:
		return "", nil
	case slices.Contains(fixes, f.fix):
		return mend.Fix(f.fix), nil
	}
	return "", usagef("--fix %s: say %s", quoted(f.fix), strings.Join(fixes, ", "))
}
