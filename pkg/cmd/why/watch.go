package why

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// watched follows one object, by its UID once it was found.
type watched struct {
	*whyCommand
	begun  time.Time       // end of the first scan
	answer *explain.Answer // the last one; nil before the first

	// What was read of the object besides the scan, and when and of which version.
	history explain.EventHistory
	marks   read.Marks
	read    time.Time
	version string
}

// timedExplanation is a line of JSON.
type timedExplanation struct {
	Time time.Time `json:"time"` // end of the scan
	*explain.Explanation
}

// runWatch explains the object in every new state of the cluster, until it is gone.
func (c *whyCommand) runWatch(ctx context.Context, args []string, scope scan.Scope) error {
	w := &watched{whyCommand: c}
	if err := c.watch.Run(ctx, "why", args, scope, w.show); err != nil || !c.unknown {
		return err
	}
	return cli.ExitError(cli.ExitFound)
}

func (w *watched) show(ctx context.Context, sight *cli.Sight) (cli.Shown, error) {
	w.setScan(sight.Taken, sight.Client)
	if w.begun.IsZero() {
		w.begun = sight.Taken.Taken
	}
	answer, compared, err := w.explain(ctx)
	if err != nil {
		return cli.Shown{}, err
	}
	w.answer = answer
	e := w.explanation([]*explain.Answer{answer})
	if !w.watch.Lines() {
		out := *w.whyCommand
		out.scan = sight.ScanOptions
		err = out.write(sight.Taken, e)
		sight.WarnOfGaps(sight.Taken)
	}
	return cli.Shown{
		Compared: explain.Explanation{Complete: e.Complete, Gaps: cli.GapsWithoutMessages(e.Gaps), Answers: []*explain.Answer{compared}},
		Kind:     "Explanation", Line: timedExplanation{sight.Taken.Taken, e}, Aging: true, Ended: answer.State == explain.Gone,
	}, err
}

// explain returns the answer, and the same with the ages of the first scan, for a comparison.
func (w *watched) explain(ctx context.Context) (answer, compared *explain.Answer, err error) {
	if w.answer == nil {
		answers, err := w.all(ctx)
		if err != nil {
			return nil, nil, err
		}
		if answers[0].State == explain.Gone {
			return answers[0], answers[0], nil
		}
		w.answer = answers[0]
	}
	id := w.answer.Object
	n := w.graph.Find(id.UID)
	o := w.graph.Object(n)
	if o == nil {
		if err := w.unread(id); err != nil {
			return nil, nil, err
		}
		answer = w.explainer.Gone(w.answer.Object, w.eventHistory(ctx, id), w.answer)
		return answer, answer, ctx.Err()
	}
	if now := w.scan.Now(); o.ResourceVersion != w.version || now.Sub(w.read) >= cli.WatchRefresh {
		w.history, w.marks = w.eventHistory(ctx, id), w.whyCommand.marks(ctx, o)
		w.read, w.version = now, o.ResourceVersion
	}
	w.readUsers(ctx, o)
	return w.present(n), w.presentAt(n, w.begun), ctx.Err()
}

// present explains the object with what was read of it.
func (w *watched) present(n graph.Node) *explain.Answer {
	a := w.explainer.Object(n, w.history)
	w.addMarks(a, n, w.marks)
	return a
}

// presentAt is present as if the scan had been made at a time, from which ages are measured.
func (w *watched) presentAt(n graph.Node, at time.Time) *explain.Answer {
	taken := w.graph.Snapshot()
	scanned := taken.Taken
	taken.Taken = at
	defer func() { taken.Taken = scanned }()
	return w.present(n)
}

// unread returns why it is not known whether the object exists, or nil if it is gone.
func (w *watched) unread(id object.Identity) error {
	m, mapped := w.graph.View().Map(id.APIVersion, id.Kind)
	if !mapped {
		if gap := w.graph.View().GroupGap(id.GroupVersionKind().Group); gap != nil {
			return cli.Usagef("%s cannot be read: %s (%s)", cli.Quote(id.String()), gap, gap.Why())
		}
		return nil
	}
	target := cli.Target{Name: id.Name, Type: m.Type}
	if err := cli.UnreadError(w.graph, target, id.Namespace); err != nil {
		return err
	}
	if w.graph.View().Listed(m.Type.GroupResource(), id.Namespace) || w.graph.View().Lookup(target.Coordinates(id.Namespace)) != nil {
		return nil
	}
	return cli.Usagef("%s cannot be read anymore: its type cannot be listed, and no object refers to it", cli.Quote(id.String()))
}
