package controller

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// roundLog writes what the collector does, a line per step to standard output, and what else
// there is to say to standard error. It writes nothing twice in a row.
type roundLog struct {
	options *cli.MutatingOptions
	failure string   // of the latest round
	gaps    []string // of the latest round
	leftOut []string // by the latest round
	skipped map[types.UID]string
}

// note writes a line about the service itself.
func (l *roundLog) note(text string) {
	fmt.Fprintln(l.options.Scan.Err, l.now().Format(time.RFC3339)+"  "+escape.Short(text, 2000))
}

func (l *roundLog) now() time.Time { return l.options.Scan.Now().UTC() }

// step writes what became of a step. A step that is skipped or fails again and again for the
// same reason is written once.
func (l *roundLog) step(s *plan.Step, e event.Event) {
	why := e.Reason
	if e.Status == event.Done {
		delete(l.skipped, s.Object.UID)
		why = s.Reason
	} else {
		again := string(s.Action) + string(e.Status) + e.Reason.Message()
		if l.skipped[s.Object.UID] == again {
			return
		}
		if l.skipped == nil || len(l.skipped) > maxSkippedSteps {
			l.skipped = map[types.UID]string{}
		}
		l.skipped[s.Object.UID] = again
	}
	// Nothing is to be done if standard output is closed: the service continues.
	if l.options.JSONLines() {
		_ = l.options.Scan.WriteLine(event.Record{
			Action: string(s.Action), Object: s.Object.Identity, Status: e.Status, Reason: why, Time: l.now().Truncate(time.Second),
		})
	} else {
		fmt.Fprintln(l.options.Scan.Out, planview.LogLine(l.now(), s, e, l.options.Scan.Palette()))
	}
}

// maxSkippedSteps limits the memory for steps that were not done.
const maxSkippedSteps = 10_000

// round logs what is new in a round: that it failed, what could not be read, and that everything can be
// read again. It does not report single types that have recovered: after a restart of the API
// server that would be a line for each.
func (l *roundLog) round(r *controller.Round) {
	failure := ""
	if r.Err != nil {
		_, failure = client.Classify(r.Err)
	}
	switch {
	case failure == l.failure:
	case failure == "":
		l.note("the cluster can be read again")
	default:
		l.note("warning: " + failure + "; trying again")
	}
	l.failure = failure
	l.noteLeftOut(r.LeftOut)
	if r.Snapshot == nil {
		return
	}
	gaps := make([]string, len(r.Snapshot.Gaps))
	for i, gap := range r.Snapshot.Gaps {
		gaps[i] = fmt.Sprintf("%s (%s)", gap, gap.Why())
	}
	isNew := func(gap string) bool { return !slices.Contains(l.gaps, gap) }
	switch {
	case slices.ContainsFunc(gaps, isNew):
		l.note("warning: could not read, and leaves alone what depends on it: " + wording.List(gaps, cli.MaxNamedGaps))
	case len(gaps) == 0 && len(l.gaps) > 0:
		l.note("everything can be read again")
	}
	l.gaps = gaps
}

// noteLeftOut writes what rounds have begun or ceased to leave out.
func (l *roundLog) noteLeftOut(all []controller.LeftOut) {
	names := make([]string, len(all))
	var begun, full []string
	most := 0
	for i, out := range all {
		names[i] = nameOf(out)
		switch {
		case slices.Contains(l.leftOut, names[i]):
		case out.BackupFull:
			full = append(full, names[i])
		default:
			begun = append(begun, fmt.Sprintf("%s (%s)", names[i], wording.Count(out.Deletes, "object")))
			most = max(most, out.Deletes)
		}
	}
	ended := slices.DeleteFunc(slices.Clone(l.leftOut), func(name string) bool { return slices.Contains(names, name) })
	if len(begun) > 0 {
		l.note(fmt.Sprintf("warning: left out, because this would delete more at once than --max-deletes allows (%d): %s; everything else is collected. "+
			"To allow this, use --max-deletes %d. Preview them: %s", l.options.MaxDeletes, wording.List(begun, cli.MaxNamedGaps), most, l.options.Scan.Suggest("collect", "--dry-run")))
	}
	if len(full) > 0 {
		l.note("warning: left out, because the backups of the last day have used up the share of one namespace in --backup-max-size: " +
			wording.List(full, cli.MaxNamedGaps) + "; everything else is collected")
	}
	if len(ended) > 0 {
		l.note("no longer left out: " + wording.List(ended, cli.MaxNamedGaps))
	}
	l.leftOut = names
}

func nameOf(out controller.LeftOut) string {
	switch {
	case !out.OwnerKind.Empty():
		return "objects that lost owners of kind " + out.OwnerKind.String()
	case out.Namespace == "":
		return "objects without a namespace"
	}
	return "namespace " + out.Namespace
}
