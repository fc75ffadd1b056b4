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
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/recreate"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// restoreRun is one restoration.
type restoreRun struct {
	flags       *restoreFlags
	saved       *backup.Backup
	wanted      []cli.Target    // empty for everything
	journal     *backup.Journal // nil in a dry run
	input       restore.Backup
	options     restore.Options
	restoration *restore.Restoration // of the latest scan before the run
	manager     string               // the field manager of the created objects
	op          *cli.Operation

	mu      sync.Mutex
	created map[types.UID]types.UID // by this run: new UIDs by old ones
}

// newRestoreRun reads the backup. It needs no cluster.
func newRestoreRun(f *restoreFlags, saved *backup.Backup, journal *backup.Journal, wanted []cli.Target) *restoreRun {
	r := &restoreRun{
		flags: f, saved: saved, journal: journal, wanted: wanted, created: map[types.UID]types.UID{},
		input: readBackup(saved, f.options.Scan.Err), options: restore.Options{Exact: f.exact}, manager: fieldManager(saved.Header),
	}
	r.op = &cli.Operation{Options: f.options, Command: r}
	return r
}

func (r *restoreRun) run(ctx context.Context) error {
	if err := r.op.Prepare(ctx); err != nil {
		return err
	}
	r.warnOfExact()
	if n := r.restoration.AlreadyCreated; n > 0 && r.flags.options.ForPerson() {
		fmt.Fprintf(r.flags.options.Scan.Err, "An earlier restoration created %d of the objects.\n", n)
	}
	return r.op.Run(ctx)
}

// Scope returns the whole cluster or the namespace of -n, and the objects of the backup.
func (r *restoreRun) Scope(served []snapshot.Type) (scan.Scope, error) {
	var err error
	if r.options.Only, err = r.flags.filter(r.wanted, served); err != nil {
		return scan.Scope{}, err
	}
	options := r.flags.options.Scan
	return options.Everything(scan.Scope{Targets: r.input.Targets(served, options.Config.Namespace())})(served)
}

// Plan plans the restoration.
func (r *restoreRun) Plan(ctx context.Context, p *cli.PlannedScan) error {
	if p.Cluster != nil {
		if err := r.recognise(ctx, p.Cluster, p.Snapshot); err != nil {
			return err
		}
	}
	r.restoration = restore.New(r.input, p.Snapshot, r.options)
	p.Plan = r.restoration.Plan
	return nil
}

func (r *restoreRun) Replan(ctx context.Context, p *cli.PlannedScan) error { return r.Plan(ctx, p) }

// PlanAccepting returns the same plan: accepted gaps make no difference to a restoration.
func (r *restoreRun) PlanAccepting(p *cli.PlannedScan, _ snapshot.AcceptedGaps) (*plan.Plan, error) {
	return p.Plan, nil
}

// PlanRemaining plans another restoration, which knows the objects that this one created.
func (r *restoreRun) PlanRemaining(_ context.Context, _ *plan.Plan, p *cli.PlannedScan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	input := r.input
	input.Recreated = maps.Clone(input.Recreated)
	maps.Copy(input.Recreated, r.created)
	p.Plan = restore.New(input, p.Snapshot, r.options).Plan
	return nil
}

// Perform creates the objects. It needs no backup.
func (r *restoreRun) Perform(ctx context.Context, op *cli.Operation, _ planrun.BackupWriter, o planrun.Options) *execute.Report {
	future := *op.Current.Snapshot
	future.Types = slices.Concat(op.Current.Snapshot.Types, r.restoration.Types)
	if !o.Common.DryRun {
		o.Common.OnEvent = r.recordResults(o.Common.OnEvent)
	}
	report := recreate.Run(ctx, r.restoration, write.New(op.Current.Cluster, &future, o.Common.DryRun).Creator(r.manager), r, o.Common)
	if err := r.closeJournal(); err != nil {
		op.RecordFailure("close the journal of the restoration: %s", err)
	}
	return report
}

// recognise finds the objects that an earlier restoration created without recording it,
// because it was interrupted.
func (r *restoreRun) recognise(ctx context.Context, live *client.Client, seen *snapshot.Snapshot) error {
	unrecorded := r.input.UnrecordedObjects(seen)
	identities := make([]object.Identity, 0, len(unrecorded))
	for _, now := range unrecorded {
		identities = append(identities, now)
	}
	made, err := write.New(live, seen, false).Creator(r.manager).Made(ctx, identities)
	for then, now := range unrecorded {
		if made[now] == now.UID {
			r.input.Recreated[then] = now.UID
		}
	}
	return err
}

// warnOfExact warns of references that --exact restores although their owner is gone.
func (r *restoreRun) warnOfExact() {
	dangling := map[types.UID]bool{}
	for i := range r.restoration.Plan.Steps {
		s := &r.restoration.Plan.Steps[i]
		for _, ref := range s.References {
			if ref.Verdict != collector.VerdictSolid {
				dangling[s.Object.UID] = true
			}
		}
	}
	if len(dangling) > 0 {
		fmt.Fprintf(r.flags.options.Scan.Err, "warning: --exact restores references that lead to no owner: the garbage collector will act on %d of these objects\n", len(dangling))
	}
}
