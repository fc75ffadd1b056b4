package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// outcomes returns the outcomes of the run, with what is deleted later because of it.
func (b *builder) outcomes() []Outcome {
	out, later := []Outcome{}, b.deletedLater()
	concerned, ahead := b.mayChange(), b.graph.Snapshot().Answers.Uncertain()
	for n := range later {
		concerned.Add(n)
	}
	for _, n := range concerned.Nodes() {
		left := b.result.Model.Object(n)
		o, goesLater := later[n]
		o.Object, o.Nondeterministic, o.MayBeDeleted = b.graph.Object(n).Identity, b.nondeterministic(n), b.mayBeDeleted(n)
		o.Already = b.graph.Object(n).Terminating()
		switch {
		case goesLater:
			o.State, o.When = Deleted, Later
			// What admission answers is still ahead, also where the deletion was under way before.
			if ahead && o.Nondeterministic == nil && b.release.Result.Nondeterministic(n) {
				o.Nondeterministic = b.release.Result.Reason(n)
			}
			if b.release.Result.Model.Object(n) != nil { // something holds it that nobody removes
				o.State = Terminating
			}
		case left == nil:
			o.State, o.When, o.WaitsFor = Deleted, Now, []string{}
			if before := b.graph.Object(n); before.Terminating() && b.result.FinalizersRemoved.Has(n) {
				o.WaitsFor, o.Follows = waitsFor(before), b.firstStep()
			}
		case !b.result.Model.Changed(n):
			o.State, o.When, o.WaitsFor = Unchanged, Now, []string{}
		case left.Terminating():
			o.State, o.When, o.WaitsFor = Terminating, Now, waitsFor(left)
			if b.result.FinalizersRemoved.Has(n) {
				o.Follows = b.firstStep()
			}
			if gaps, certain := b.result.Model.FinalizationGaps(n); len(gaps) > 0 && !certain {
				o.Nondeterministic = snapshot.NotFinalized(gaps, false)
			}
		default:
			o.State, o.When, o.WaitsFor = Changed, Now, []string{}
		}
		if o.State.Deletes() && o.Object.MayBeInUse() {
			o.UsedBy = b.result.Model.InUse(n, b.protections(n)...).UsedBy
		}
		if by, withContents := b.result.ContentsDeleted[n]; withContents {
			o.Follows = id(by)
		}
		if o.State.Deletes() {
			o.Inventory = b.inventory(n)
		}
		out = append(out, o)
	}
	b.addData(out)
	slices.SortStableFunc(out, func(a, b Outcome) int { return a.Object.Compare(b.Object) })
	return out
}

// protections returns the finalizers that protect an object which the run leaves terminating, or which protected
// one that is gone, or should have.
func (b *builder) protections(n graph.Node) []string {
	if left := b.result.Model.Object(n); left != nil {
		return left.Finalizers
	}
	out := append([]string{
		simulate.ClaimProtection, simulate.VolumeProtection, simulate.ResourceClaimProtection, simulate.PodGroupProtection,
	}, b.graph.Object(n).Finalizers...)
	slices.Sort(out)
	return slices.Compact(out)
}

// deletedLater simulates what happens after the run, when other controllers have removed their
// finalizers. It returns an outcome for each object whose deletion only then begins or completes,
// with what it waits for.
func (b *builder) deletedLater() map[graph.Node]Outcome {
	touched := b.touched().Nodes()
	left := func(n graph.Node) bool { return b.terminating(n) || b.graph.Object(n).IsNode() }
	if !b.options.Mode.Cascades() && !slices.ContainsFunc(touched, left) {
		return nil
	}
	b.release = b.result.SimulateRelease()
	release, steps := b.release, b.lastSteps()
	out := map[graph.Node]Outcome{}
	holders := map[*graph.Node]Outcome{} // by the first element of a list that many objects share
	for _, n := range slices.Concat(release.DeletionsBegun, release.Result.FinalizersRemoved.Nodes(), b.result.Requested, slices.Collect(maps.Keys(release.Causes))) {
		causes := release.Causes[n]
		if slices.Contains(causes, n) { // it owns itself, or what it waits for
			causes = slices.DeleteFunc(slices.Clone(causes), func(cause graph.Node) bool { return cause == n })
		}
		by, pending := b.result.ContentsPending[n]
		switch _, known := out[n]; {
		case known || b.result.Model.Object(n) == nil:
		case b.terminating(n):
			held := len(causes) > 0 || len(b.graph.Object(n).ForeignFinalizers()) > 0
			if !held || b.result.Model.Changed(n) || release.Result.Model.Object(n) != nil || !b.options.Mode.Cascades() {
				continue
			}
			o := b.heldBy(holders, causes)
			if len(causes) == 0 {
				o.WaitsFor = waitsFor(b.graph.Object(n))
			}
			o.Follows = b.firstStep()
			out[n] = o
		case pending:
			o := b.heldBy(holders, causes)
			o.Follows = id(by)
			out[n] = o
		case len(causes) > 0: // the collector deletes others in any case
			o := b.heldBy(holders, causes)
			if owners := b.goingOwners(release, n); len(owners) > 0 {
				o.After = owners
			} else if by, withContents := release.Result.ContentsDeleted[n]; withContents {
				o.After = []object.Identity{b.graph.Object(release.Result.Transitions[by].Node).Identity}
			}
			if of, byController := release.Members[n]; byController {
				with := b.graph.Object(of).Identity
				o.DeletedBy = reason.Of(reason.DeletedByController{Controller: b.result.Model.Inventory(of).Controller, With: with})
				o.After = []object.Identity{with}
			}
			if b.options.Mode.Cascades() || o.DeletedBy != nil || o.AfterNode() && o.After[0].IsNode() { // others delete its Pods
				o.Follows = cmp.Or(out[causes[0]].Follows, steps[causes[0]], b.firstStep())
			}
			o.NotRecreated = b.graph.Object(n).Node != nil && !b.graph.Object(n).Controlled()
			out[n] = o
		}
	}
	return out
}

// AfterNode reports whether an object is deleted because of a Node that is gone: kube-controller-manager
// deletes its Pods about a minute later, and nobody else has to act.
func (o *Outcome) AfterNode() bool { return len(o.After) > 0 && len(o.WaitsFor) == 0 }

func (b *builder) terminating(n graph.Node) bool {
	o := b.result.Model.Object(n)
	return o != nil && o.Terminating()
}

// heldBy returns an outcome that waits for the finalizers of these objects, and comes after them.
func (b *builder) heldBy(known map[*graph.Node]Outcome, holders []graph.Node) Outcome {
	if len(holders) == 0 {
		return Outcome{WaitsFor: []string{}}
	}
	o, seen := known[&holders[0]]
	if !seen {
		for _, n := range holders {
			o.After = append(o.After, b.graph.Object(n).Identity)
			if holder := b.result.Model.Object(n); holder != nil { // a Node that is gone still has Pods
				o.WaitsFor = append(o.WaitsFor, waitsFor(holder)...)
			}
		}
		slices.Sort(o.WaitsFor)
		o.WaitsFor = slices.Compact(o.WaitsFor)
		known[&holders[0]] = o
	}
	return o
}

// goingOwners returns the owners of an object that are left after the run and gone or terminating
// after the release.
func (b *builder) goingOwners(release *simulate.Release, n graph.Node) []object.Identity {
	var out []object.Identity
	for _, owner := range b.graph.Owners(n) {
		if before := b.result.Model.Object(owner); owner == n || before == nil || !release.Result.Deletes(owner) || slices.Contains(out, before.Identity) {
			continue
		}
		out = append(out, b.graph.Object(owner).Identity)
	}
	return out
}

// lastSteps returns the id of the last step on each object, or of the one that deletes it with others.
func (b *builder) lastSteps() map[graph.Node]string {
	out := map[graph.Node]string{}
	for i := range b.result.Transitions {
		out[b.result.Transitions[i].Node] = id(i)
	}
	for n, by := range b.result.ContentsDeleted {
		out[n] = id(by)
	}
	return out
}

// firstStep returns the id of the first step, which a person requests in a plan that cascades.
func (b *builder) firstStep() string {
	if !b.options.Mode.Cascades() || len(b.result.Transitions) == 0 {
		return ""
	}
	return id(0)
}

// mayChange returns the objects that the run changes, and those that it would change in another
// order of events.
func (b *builder) mayChange() graph.Set {
	out := graph.NewSet(b.graph)
	for _, n := range b.touched().Nodes() {
		if b.result.Model.Changed(n) {
			out.Add(n)
		}
	}
	doubtful := b.result.Doubtful()
	if b.release != nil {
		doubtful = append(doubtful, b.release.Result.Doubtful()...)
	}
	for _, n := range doubtful {
		if left := b.result.Model.Object(n); b.mayBeDeleted(n) || left != nil && b.nondeterministic(n) != nil {
			out.Add(n)
		}
	}
	return out
}

// touched returns the objects that the run may change, directly or through others.
func (b *builder) touched() graph.Set {
	out := graph.NewSet(b.graph)
	for i := range b.result.Transitions {
		out.Add(b.result.Transitions[i].Node)
	}
	for n := range b.result.ContentsDeleted {
		out.Add(n)
	}
	for _, n := range b.result.FinalizersRemoved.Nodes() {
		out.Add(n)
	}
	return out
}

// waitsFor returns the finalizers of an object that is held.
func waitsFor(o *object.Object) []string {
	if len(o.Finalizers) == 0 {
		return []string{object.NamespaceFinalizer} // a namespace that waits for its contents: the finalizer in its spec
	}
	return append([]string{}, o.Finalizers...)
}

// nondeterministic returns why the outcome for an object may differ in another order of events, or
// nil if it cannot.
func (b *builder) nondeterministic(n graph.Node) *reason.Reason {
	switch {
	case b.result.Nondeterministic(n):
		return b.result.Reason(n)
	case b.begunBefore(n): // the release is not up to this run
	case b.release != nil && b.release.Result.Nondeterministic(n):
		return b.release.Result.Reason(n)
	}
	return nil
}

// mayBeDeleted reports whether another order of events deletes an object that stays, or completes its deletion,
// now or later.
func (b *builder) mayBeDeleted(n graph.Node) bool {
	mayGo := func(r *simulate.Prediction) bool {
		left := r.Model.Object(n)
		return left != nil && (b.begunBefore(n) || !left.Terminating()) && r.Vanishes(n) == simulate.Perhaps
	}
	return mayGo(b.result) || b.release != nil && !b.begunBefore(n) && mayGo(&b.release.Result)
}

// begunBefore reports whether the deletion of an object was under way before the run.
func (b *builder) begunBefore(n graph.Node) bool { return b.graph.Object(n).Terminating() }
