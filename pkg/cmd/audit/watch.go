package audit

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// unwatchedFlags are the flags that do not work with --watch.
var unwatchedFlags = []string{"contexts", "settle", "baseline", "fail-on", "group-by"}

// maxGone is how many findings that are gone are shown.
const maxGone = 5

// watched is what --watch knows about the findings so far.
type watched struct {
	*auditFlags
	options audit.Options
	tracker audit.Tracker
	gone    []audit.FindingChange // the latest first, at most maxGone
	allGone int
	begun   time.Time // end of the first scan
	synced  *syncLine // the last one; nil before the first
}

// syncLine is the line of JSON after the findings of the first scan, and when what could not be
// read has changed.
type syncLine struct {
	Type     string         `json:"type"`
	Time     time.Time      `json:"time"`
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	Summary  audit.Summary  `json:"summary"`
}

// runWatch audits every new state of the cluster.
func (f *auditFlags) runWatch(ctx context.Context, options audit.Options) error {
	w := &watched{auditFlags: f, options: options}
	return f.watch.Run(ctx, "audit", nil, f.scan.Everything(scan.Scope{Labels: options.Selector != nil}), w.show)
}

func (w *watched) show(_ context.Context, sight *cli.Sight) (cli.Shown, error) {
	c, judge, err := w.audit(sight.Taken, w.options)
	if err != nil {
		return cli.Shown{}, err
	}
	g := judge.Graph()
	changes := w.tracker.Update(c.Report, g)
	if w.begun.IsZero() {
		w.begun = sight.Taken.Taken
	}
	w.keepGone(changes)
	shown := cli.Shown{
		Changed: len(changes) > 0,
		Aging:   slices.ContainsFunc(sight.Taken.Objects, (*object.Object).Terminating),
	}
	if w.watch.Lines() {
		return shown, w.writeLines(sight, c.Report, changes)
	}
	return shown, w.draw(sight, c)
}

// keepGone remembers the latest findings that are gone.
func (w *watched) keepGone(changes []audit.FindingChange) {
	for _, c := range changes {
		if c.Type == audit.Removed {
			w.allGone++
			w.gone = slices.Insert(w.gone, 0, c)
		}
	}
	w.gone = w.gone[:min(len(w.gone), maxGone)]
}

func (w *watched) writeLines(sight *cli.Sight, r *audit.Report, changes []audit.FindingChange) error {
	for _, c := range changes {
		if err := sight.WriteLine(c); err != nil {
			return err
		}
	}
	line := &syncLine{"SYNCED", sight.Taken.Taken, r.Complete, append([]snapshot.Gap{}, sight.Taken.Gaps...), r.Summary}
	if w.synced != nil && sight.Missed == nil && w.synced.Complete == line.Complete &&
		reflect.DeepEqual(cli.GapsWithoutMessages(w.synced.Gaps), cli.GapsWithoutMessages(line.Gaps)) {
		return nil
	}
	w.synced = line
	return sight.WriteLine(line)
}

// draw writes what is gone before what is left, as the end may not fit on the screen.
func (w *watched) draw(sight *cli.Sight, c audit.Cluster) error {
	out := sight.Text()
	fmt.Fprintln(out, auditreport.CountsLine(c.Report))
	for _, line := range []string{auditreport.Without(c.Without), auditreport.Unverified(w.tracker.Unverified())} {
		if line != "" {
			fmt.Fprintln(out, line)
		}
	}
	if len(w.gone) > 0 {
		fmt.Fprintln(out)
	}
	if err := auditreport.RemovedTable(out, w.gone, w.allGone, w.begun); err != nil {
		return err
	}
	if len(c.Findings) > 0 {
		fmt.Fprintln(out)
	}
	if err := auditreport.Table(out, c.Report, &w.tracker, w.output.Format == "wide", sight.Palette()); err != nil {
		return err
	}
	sight.WarnOfCluster(c)
	return nil
}
