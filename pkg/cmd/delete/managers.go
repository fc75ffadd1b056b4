package delete

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// maxMarked is how many requested objects are looked at for who may recreate them: a cluster is asked for
// the metadata of each.
const maxMarked = 50

// requestedSteps returns the requested deletions of a plan.
func requestedSteps(p *plan.Plan) (out []*plan.Step) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Requested && s.Action == plan.ActionDelete {
			out = append(out, s)
		}
	}
	return out
}

// addManagers adds to the requested deletions who may recreate the object. It is nobody if the plan deletes
// what asks for the object, or if the object's namespace or CustomResourceDefinition goes.
func (c *deleteCommand) addManagers(ctx context.Context, seen cli.Scanned, p *plan.Plan) error {
	g, steps, limit := seen.Graph(), requestedSteps(p), 1
	steps = steps[:min(len(steps), maxMarked)]
	if seen.Cluster != nil {
		limit = seen.Cluster.Config.SmallConcurrency
	}
	marks, err := client.InParallel(ctx, limit, steps, func(s *plan.Step) read.Marks {
		o := g.Object(g.Find(s.Object.UID))
		if by, known := c.marks.Load(o.UID); known {
			return by.(read.Marks)
		}
		found := read.MarksOf(ctx, seen.Cluster, seen.Snapshot, g.View(), o)
		c.marks.Store(o.UID, found)
		return found
	})
	for i, s := range steps {
		by, o := marks[i].Manager, g.Object(g.Find(s.Object.UID))
		if by == nil || g.ContainerOf(o) != nil || slices.ContainsFunc(p.Outcomes, func(other plan.Outcome) bool {
			return other.State.Deletes() && (by.Is(other.Object) || other.Object.Namespace == "" && g.View().Contains(other.Object, o))
		}) {
			continue
		}
		s.ManagedBy = by
	}
	return err
}

// managerNotes returns how to uninstall the Helm releases of the requested objects, and how many objects
// were not looked at.
func (c *deleteCommand) managerNotes(p *plan.Plan) (out []string) {
	steps := requestedSteps(p)
	for _, s := range steps {
		if s.ManagedBy == nil || s.ManagedBy.Uninstall() == nil {
			continue
		}
		sentence, words := c.options.Scan.SuggestSentence("To uninstall Helm release "+escape.Word(s.ManagedBy.Name)+", with everything in it", s.ManagedBy.Uninstall())
		if note := sentence + ": " + escape.Terminal(cli.ShellCommand(words...)); len(words) > 0 && !slices.Contains(out, note) && len(out) < 3 {
			out = append(out, note)
		}
	}
	if len(steps) > maxMarked {
		out = append(out, fmt.Sprintf("This tool looked up what may recreate the first %d of the %s requested objects only.", maxMarked, wording.Thousands(len(steps))))
	}
	return out
}
