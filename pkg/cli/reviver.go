package cli

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
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
	seen, live, err := r.look(ctx, scope)
	if err != nil {
		return err
	}
	if live != nil {
		if err := r.recognise(ctx, live, seen); err != nil {
			return err
		}
	}
	r.of = restore.Make(r.input, seen, r.options)
	r.warnOfExact()
	a := &act{
		changing: r.changing, live: live, seen: seen, graph: graph.New(seen), plan: r.of.Plan, scope: scope,
		foresee: func(g *graph.Graph) (*plan.Plan, error) {
			return restore.Make(r.input, g.Snapshot(), r.options).Plan, nil
		},
	}
	a.perform = func(ctx context.Context, _ *cluster.Writer, _ execute.Keeper, o execute.Options) *execute.Report {
		future := *seen
		future.Types = slices.Concat(seen.Types, r.of.Types)
		if !o.DryRun {
			o.Tell = r.noting(o.Tell)
		}
		return execute.Restore(ctx, r.of, live.Writer(&future, o.DryRun).Maker(r.maker), r, o)
	}
	if n := r.of.Before; n > 0 && r.readable() {
		fmt.Fprintf(r.Err, "An earlier restoration has made %d of the objects.\n", n)
	}
	return a.run(ctx)
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
		fmt.Fprintf(r.Err, "warning: --exact puts back references that lead to no owner: the collector will act on %d of these objects as soon as it looks at them\n", len(doomed))
	}
}
