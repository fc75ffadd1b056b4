package delete

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// unreadable returns the lookup of the first target that the API server cannot read from etcd, and its type,
// or nil.
func (c *deleteCommand) unreadable(g *graph.Graph) (*snapshot.Lookup, snapshot.Type) {
	for _, t := range c.selection.Targets {
		if l := g.View().Unreadable(t.Type, t.Coordinates(c.selection.Namespace)); t.Name != "" && l != nil {
			return l, t.Type
		}
	}
	return nil, snapshot.Type{}
}

// previewUnsafe previews the unsafe deletion of an object that the API server cannot read, which is the only one
// that it would accept, and says how a person requests it.
func (c *deleteCommand) previewUnsafe(ctx context.Context, job cli.Job, seen cli.Scanned, at *snapshot.Lookup, of snapshot.Type) error {
	what := cli.Quote(of.String()+"/"+at.Name) + cli.InNamespace(at.Namespace)
	scanned, uids := plan.WithUnreadable(seen.Snapshot, at.Coordinates)
	seen.Snapshot, seen.Judge = scanned, collector.NewJudge(graph.New(scanned))
	switch {
	case len(c.selection.Targets) > 1:
		return cli.WithHint(cli.Usagef("%s cannot be read from etcd (%s): %s", what, at.Reason, at.Message), "preview its unsafe deletion alone: name no other object")
	case simulate.DeletesContents(seen.Graph().Object(seen.Graph().Find(uids[0])).Identity):
		return cli.Usagef("%s cannot be read from etcd, and its unsafe deletion would leave behind what it contains: this tool does not predict that", what)
	case !of.Watched():
		return cli.Usagef("%s cannot be read from etcd, and the garbage collector does not watch its type: nothing can be predicted", what)
	}
	job.Plan = func(_ context.Context, seen cli.Scanned, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
		return plan.Unsafe(seen.Judge, uids, accepted), nil
	}
	now, err := cli.Plan(ctx, job, seen)
	if err != nil {
		return err
	}
	notes := []string{
		escape.Sentence("The API server cannot read it: " + at.Message + "."),
		"If it is encrypted, restore the key or the KMS plugin instead: the object is not lost.",
		"Other controllers may act on its absence, too, which is not shown.",
	}
	path := of.Path(at.Namespace, at.Name) + "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
	several := func(g snapshot.Gap) bool {
		return g.Group == of.Group && g.Resource == of.Resource && (len(g.Objects) > 1 || g.MoreObjects)
	}
	if i := slices.IndexFunc(seen.Snapshot.Gaps, several); i >= 0 { // that of all namespaces comes first
		const note = "Of %s, %s. The garbage collector may notice no deletion of %[1]s until it can list all of them."
		notes = append(notes, escape.Sentence(fmt.Sprintf(note, of, seen.Snapshot.Gaps[i].Why())))
	}
	notes = append(notes, cli.IncompleteNotes(now.Plan)...)
	return cli.Show(job, now, notes,
		fmt.Sprintf("This tool never does that. It takes the verbs delete and unsafe-delete-ignore-read-errors on %s:", escape.Word(of.String())),
		"  "+c.options.Scan.SuggestKubectl("delete", "--raw", path))
}
