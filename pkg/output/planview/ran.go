package planview

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Result is how a step of a plan ended. A step without one was not begun.
type Result struct {
	Step   string // its id
	Status event.Status
	Reason reason.Reason // nil where there is nothing to say
}

// Ran says in one line, without its line break and full stop, what a run did.
func Ran(p *plan.Plan, results []Result, elapsed time.Duration) string {
	ended := map[string]event.Status{}
	for _, r := range results {
		ended[r.Step] = r.Status
	}
	said := tally(p, past, func(s *plan.Step) bool { return ended[s.ID] == event.Done })
	if said == "" {
		said = "nothing was changed"
	}
	if n := along(p, ended); n > 0 {
		said += " (and " + wording.Count(n, "object") + " deleted along with them)"
	}
	said += " in " + lasted(elapsed)
	var but []string
	for _, of := range []struct {
		status event.Status
		words  string
	}{{event.Skipped, "skipped"}, {event.Failed, "failed"}, {"", "not started"}} {
		n := 0
		for i := range p.Steps {
			if ended[p.Steps[i].ID] == of.status {
				n++
			}
		}
		if n > 0 {
			but = append(but, wording.Thousands(n)+" "+of.words)
		}
	}
	if len(but) > 0 {
		said += "; " + strings.Join(but, ", ")
	}
	return said
}

// along counts what others deleted because a step was done, and what has no step
// of its own.
func along(p *plan.Plan, ended map[string]event.Status) int {
	own := map[object.Identity]bool{}
	for i := range p.Steps {
		own[p.Steps[i].Object.Identity] = true
	}
	n := 0
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.State == plan.Deleted && ended[o.Follows] == event.Done && !own[o.Object] {
			n++
		}
	}
	return n
}

func lasted(elapsed time.Duration) string {
	if elapsed < time.Second {
		return elapsed.Round(time.Millisecond).String()
	}
	return duration.HumanDuration(elapsed)
}
