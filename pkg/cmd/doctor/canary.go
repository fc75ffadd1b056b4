package doctor

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/canary"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// prepareCanary returns the canary of --canary, nil if there is none, and an error if the user
// lacks a right that it needs.
func (c *doctorCommand) prepareCanary(ctx context.Context, live *client.Client, seen *snapshot.Snapshot) (*canary.Canary, error) {
	if c.canary == "" {
		return nil, nil
	}
	out := canary.New(live, seen, c.canary)
	var rights []object.Right
	for _, verb := range []string{"create", "get", "delete"} {
		rights = append(rights, object.Right{Verb: verb, Objects: out.Objects()})
	}
	return out, c.scan.RequireRights(ctx, live, seen, "--canary", rights)
}

// runCanary runs a canary and prints what is left of it, which it reports.
func (c *doctorCommand) runCanary(ctx context.Context, bird *canary.Canary) (test doctor.Observed[reason.CanaryTest], left bool) {
	result, err := bird.Run(ctx, c.settle)
	test = observed(result.Test, err)
	for _, o := range result.Removed {
		fmt.Fprintf(c.scan.Err, "deleted %s, which an earlier --canary had left\n", located(o))
	}
	for _, l := range result.Left {
		fmt.Fprintf(c.scan.Err, "error: --canary has left %s: %s\n", located(l.Identity), escape.Short(l.Reason.Error(), 1000))
		verb := "delete"
		if l.Changed {
			verb = "get"
		}
		fmt.Fprintf(c.scan.Err, "hint: to %s it: %s\n", verb, c.scan.SuggestKubectl(verb, "configmap", l.Name, "-n", l.Namespace))
	}
	return test, len(result.Left) > 0
}

// interrupted reports a run that was interrupted after its canary had begun.
func (c *doctorCommand) interrupted(left bool) error {
	state := "the canary is deleted"
	if left {
		state = "part of the canary is left, see above"
	}
	fmt.Fprintln(c.scan.Err, "interrupted: there is no diagnosis; "+state)
	return cli.ExitError(cli.ExitInterrupted)
}

func located(o object.Identity) string {
	return fmt.Sprintf("%s in namespace %s", escape.Short(o.String(), 300), escape.Short(o.Namespace, 300))
}
