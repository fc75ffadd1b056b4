package restore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// restoreRun is one restoration on its way.
type restoreRun struct {
	flags   *restoreFlags
	saved   *backup.Backup
	journal *backup.Journal // nil in a dry run
	input   restore.Backup
	options restore.Options
	of      *restore.Restoration
	maker   string

	mu   sync.Mutex
	made map[types.UID]types.UID // by this run: the UIDs that objects have now, by those that they had

	// cannotRecord is told why something could not be noted in the journal.
	cannotRecord func(error)
}

func (r *restoreRun) run(ctx context.Context, wanted []cli.Target) error {
	r.read()
	scope := func(served []snapshot.Type) (scan.Scope, error) {
		var err error
		if r.options.Only, err = r.flags.only(wanted, served); err != nil {
			return scan.Scope{}, err
		}
		whole, err := r.flags.options.Scan.Everything(scan.Scope{Targets: r.input.Targets(served, r.flags.options.Scan.Config.Namespace())})(served)
		return whole, err
	}
	a := &cli.Operation{Options: r.flags.options, Scope: scope, Replan: r.plan, PlanRemaining: r.remaining}
	if err := a.Prepare(ctx, r.plan); err != nil {
		return err
	}
	r.warnOfExact()
	r.cannotRecord = a.CannotRecord
	a.Perform = func(ctx context.Context, _ *write.Writer, _ execute.BackupWriter, o execute.Options) *execute.Report {
		future := *a.Snapshot
		future.Types = slices.Concat(a.Snapshot.Types, r.of.Types)
		if !o.DryRun {
			o.OnEvent = r.noting(o.OnEvent)
		}
		report := execute.Restore(ctx, r.of, write.New(a.Cluster, &future, o.DryRun).Creator(r.maker), r, o)
		if err := r.closeJournal(); err != nil && a.Unrecorded.Add(err) {
			a.Progress.Note(fmt.Sprintf("error: close the journal of the restoration: %s\n", escape.Short(err.Error(), 2000)))
		}
		return report
	}
	if n := r.of.Before; n > 0 && r.flags.options.ForPerson() {
		fmt.Fprintf(r.flags.options.Scan.Err, "An earlier restoration created %d of the objects.\n", n)
	}
	return a.Run(ctx)
}

// plan makes the plan of the restoration.
func (r *restoreRun) plan(ctx context.Context, p *cli.Planned) error {
	if p.Cluster != nil {
		if err := r.recognise(ctx, p.Cluster, p.Snapshot); err != nil {
			return err
		}
	}
	r.of = restore.New(r.input, p.Snapshot, r.options)
	p.Plan = r.of.Plan
	return nil
}

// remaining makes the plan of what a restoration would do after this one. What this
// one made counts as being there, as everything of its name does.
func (r *restoreRun) remaining(_ context.Context, p *cli.Planned) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	input := r.input
	input.Made = maps.Clone(input.Made)
	maps.Copy(input.Made, r.made) // else what this run made is somebody else's, and left alone
	p.Plan = restore.New(input, p.Snapshot, r.options).Plan
	return nil
}

// recognise finds what an earlier restoration made and was cut off before it could
// note that.
func (r *restoreRun) recognise(ctx context.Context, live *client.Client, seen *snapshot.Snapshot) error {
	strangers := r.input.UnrecordedObjects(seen)
	at := make([]object.Identity, 0, len(strangers))
	for _, now := range strangers {
		at = append(at, now)
	}
	made, err := write.New(live, seen, false).Creator(r.maker).Made(ctx, at)
	for then, now := range strangers {
		if made[now] == now.UID {
			r.input.Made[then] = now.UID
		}
	}
	return err
}

// warnOfExact says what --exact costs.
func (r *restoreRun) warnOfExact() {
	doomed := map[types.UID]bool{}
	for i := range r.of.Plan.Steps {
		s := &r.of.Plan.Steps[i]
		for _, ref := range s.References {
			if ref.Verdict != collector.Solid {
				doomed[s.Object.UID] = true
			}
		}
	}
	if len(doomed) > 0 {
		fmt.Fprintf(r.flags.options.Scan.Err, "warning: --exact restores references that lead to no owner: the garbage collector will act on %d of these objects\n", len(doomed))
	}
}
