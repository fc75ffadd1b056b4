package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Options select what a plan is for and how far it goes.
type Options struct {
	Mode   Mode
	Bounds simulate.Bounds
	Actor  collector.Actor // who does everything except requested deletions
	// Accepted are the words for gaps that a person accepted.
	Accepted snapshot.AcceptedGaps
}

// DeleteOptions returns the options of a plan for those deletions and what follows from them.
func DeleteOptions(actor collector.Actor, deletes ...simulate.Deletion) Options {
	return Options{Mode: Delete, Actor: actor, Bounds: simulate.Bounds{Roots: simulate.NoRoots, Deletes: deletes}}
}

// New plans one pass of the garbage collector, or deletions and all that follows from them.
// It takes time and memory linear in objects, references and steps.
func New(j *collector.Judge, o Options) *Plan {
	p := build(j, o)
	if p.AcceptedGaps = accepted(j.Graph(), p, o); len(p.AcceptedGaps) > 0 {
		o.Accepted = nil
		markAccepted(j.Graph(), p, build(j, o))
	}
	p.Finalize()
	return p
}

// builder builds a plan from a simulation.
type builder struct {
	graph   *graph.Graph
	judge   *collector.Judge
	result  *simulate.Result
	options Options
	refused []Blocked // requested deletions that are left out
}

func build(j *collector.Judge, o Options) *Plan {
	b := &builder{graph: j.Graph(), judge: j, options: o}
	b.refuseUnlistedContents()
	for {
		p := b.buildOnce()
		if o.Mode != Delete || !b.refuseCascades(p) {
			return p
		}
	}
}

// buildOnce builds the plan of the deletions that are not refused yet.
func (b *builder) buildOnce() *Plan {
	actor := b.options.Actor
	model := simulate.Options{Actor: actor, Applying: actor == collector.ActorClient, Accepted: b.options.Accepted}
	b.result = simulate.Run(b.judge, model, b.options.Bounds)
	scan := b.graph.Snapshot()
	p := &Plan{
		Mode: b.options.Mode, Complete: scan.Complete(), Gaps: distinct(scan.Gaps),
		Steps: b.steps(), Outcomes: b.outcomes(), Blocked: b.blocked(),
	}
	if p.Mode == Delete {
		p.Retained, p.DeletedLater = b.retained(), b.deletedLater()
	}
	return p
}
