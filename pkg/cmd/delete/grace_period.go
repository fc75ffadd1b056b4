package delete

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// gracePeriod is the time that requested Pods get to stop. Its flags mean what they mean to
// kubectl, except that kubectl takes 0 without --force for 1.
type gracePeriod struct {
	seconds    int // negative: each Pod's own
	now, force bool
}

func (g *gracePeriod) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&g.seconds, "grace-period", -1, "Seconds for named Pods to stop; -1: their own, 0: needs --force.")
	flags.BoolVar(&g.now, "now", false, "Give named Pods 1 second to stop, as --grace-period=1 does.")
	flags.BoolVar(&g.force, "force", false, "Delete named Pods at once; their containers may keep running.")
}

func (g *gracePeriod) validate() error {
	return cmp.Or(
		cli.UsageIf(g.now && g.seconds >= 0, "--now cannot be combined with --grace-period"),
		cli.UsageIf(g.force && (g.now || g.seconds > 0), "--force cannot be combined with --now or with a --grace-period above 0"),
		cli.WithHint(cli.UsageIf(g.seconds == 0 && !g.force, "--grace-period=0 needs --force: it removes Pods without waiting for their kubelets"), "to give them 1 second to stop, use --now"),
	)
}

// requested returns the grace period of the DELETE requests in seconds, or nil for each Pod's
// own.
func (g *gracePeriod) requested() *int64 {
	seconds := int64(g.seconds)
	switch {
	case g.now:
		seconds = 1
	case g.force:
		seconds = 0
	case seconds < 0:
		return nil
	}
	return &seconds
}

// flag returns the flag that determines the grace period, as it is typed.
func (g *gracePeriod) flag() string {
	switch {
	case g.now:
		return "--now"
	case g.force:
		return "--force"
	}
	return "--grace-period"
}

// note returns a line for the preview of a plan in which the requested grace period makes no
// difference, or an empty string.
func (g *gracePeriod) note(p *plan.Plan) string {
	if g.requested() == nil || p.HonorsGracePeriod() {
		return ""
	}
	return g.flag() + " changes nothing here: it applies only to requested Pods that a kubelet has to stop. Other Pods keep their own grace period."
}

// warning returns what a person has to know of a plan that removes Pods without waiting for
// their kubelets, or an empty string.
func (g *gracePeriod) warning(p *plan.Plan) string {
	if !g.force || !p.HonorsGracePeriod() {
		return ""
	}
	return "warning: --force does not wait for confirmation that the Pods have stopped: their containers may continue to run on the node indefinitely"
}
