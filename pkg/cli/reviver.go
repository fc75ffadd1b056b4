package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// reviver is one restoration on its way.
type reviver struct {
	*restoreFlags
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

func (r *reviver) run(ctx context.Context, wanted []target) error {
	r.read()
	scope := func(served []snapshot.Type) (cluster.Scope, error) {
		var err error
		if r.options.Only, err = r.only(wanted, served); err != nil {
			return cluster.Scope{}, err
		}
		whole, err := r.whole(cluster.Scope{Targets: r.input.Targets(served, r.config.Namespace())})(served)
		return whole, err
	}
	a := &act{changing: r.changing, scope: scope, foresee: r.foresee, left: r.remaining}
	if err := a.prepare(ctx, r.foresee); err != nil {
		return err
	}
	r.warnOfExact()
	r.cannotRecord = a.cannotRecord
	a.perform = func(ctx context.Context, _ *cluster.Writer, _ execute.Keeper, o execute.Options) *execute.Report {
		future := *a.seen
		future.Types = slices.Concat(a.seen.Types, r.of.Types)
		if !o.DryRun {
			o.Tell = r.noting(o.Tell)
		}
		report := execute.Restore(ctx, r.of, a.live.Writer(&future, o.DryRun).Maker(r.maker), r, o)
		if err := r.closeJournal(); err != nil && a.unrecorded.add(err) {
			a.progress.note(fmt.Sprintf("error: close the journal of the restoration: %s\n", escape.Short(err.Error(), 2000)))
		}
		return report
	}
	if n := r.of.Before; n > 0 && r.readable() {
		fmt.Fprintf(r.Err, "An earlier restoration created %d of the objects.\n", n)
	}
	return a.run(ctx)
}

// foresee makes the plan of the restoration.
func (r *reviver) foresee(ctx context.Context, p *planned) error {
	if p.live != nil {
		if err := r.recognise(ctx, p.live, p.seen); err != nil {
			return err
		}
	}
	r.of = restore.Make(r.input, p.seen, r.options)
	p.plan = r.of.Plan
	return nil
}

// remaining makes the plan of what a restoration would do after this one. What this
// one made counts as being there, as everything of its name does.
func (r *reviver) remaining(_ context.Context, p *planned) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	input := r.input
	input.Made = maps.Clone(input.Made)
	maps.Copy(input.Made, r.made) // else what this run made is somebody else's, and left alone
	p.plan = restore.Make(input, p.seen, r.options).Plan
	return nil
}

// recognise finds what an earlier restoration made and was cut off before it could
// note that.
func (r *reviver) recognise(ctx context.Context, live *cluster.Cluster, seen *snapshot.Snapshot) error {
	strangers := r.input.Strangers(seen)
	at := make([]object.Identity, 0, len(strangers))
	for _, now := range strangers {
		at = append(at, now)
	}
	made, err := live.Writer(seen, false).Maker(r.maker).Made(ctx, at)
	for then, now := range strangers {
		if made[now] == now.UID {
			r.input.Made[then] = now.UID
		}
	}
	return err
}

// warnOfExact says what --exact costs.
func (r *reviver) warnOfExact() {
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
		fmt.Fprintf(r.Err, "warning: --exact restores references that lead to no owner: the garbage collector will act on %d of these objects\n", len(doomed))
	}
}
