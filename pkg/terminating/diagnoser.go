package terminating

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Diagnoser finds out what holds objects that are being deleted, in one state of a model. It is not safe for concurrent use.
type Diagnoser struct {
	graph     *graph.Graph
	model     *simulate.Model
	obstacles *simulate.Obstacles
	later     func() *Diagnoser                                   // of what is left when the collector has done all it can
	announced func() (services []string, defined map[string]bool) // see announcedGroups
	traces    *simulate.FinalizerTraces
}

// New returns the Diagnoser of a model. after returns its state when the collector has done all it can; it is called if a deletion waits for
// that. The models must not change while the Diagnoser is used.
func New(m *simulate.Model, after func() *simulate.Model) *Diagnoser {
	d := InState(m)
	d.later = sync.OnceValue(func() *Diagnoser {
		later := InState(after())
		later.traces = d.traces
		return later
	})
	return d
}

// InState returns the Diagnoser of a model in a state in which the collector has done all it can.
func InState(m *simulate.Model) *Diagnoser {
	d := &Diagnoser{
		graph: m.Graph(), model: m, obstacles: simulate.NewObstacles(m),
		traces: simulate.NewFinalizerTraces(m.Graph()),
	}
	d.later = func() *Diagnoser { return d }
	d.announced = sync.OnceValues(func() ([]string, map[string]bool) { return announcedGroups(d.graph) })
	return d
}

// Later returns the Diagnoser of what is left when the collector has done all it can.
func (d *Diagnoser) Later() *Diagnoser { return d.later() }

// Finalizers returns what is known of finalizers on an object, and of their controllers.
func (d *Diagnoser) Finalizers(names []string, on object.Identity) []Finalizer {
	out := []Finalizer{}
	for _, name := range names {
		f := Finalizer{Name: name, Traces: d.traces.Of(name, on)}
		f.Controller, f.Condition, f.known = simulate.FinalizerController(name)
		if !f.known && f.Controller != "" {
			f.Controller = "the controller behind " + f.Controller
		}
		out = append(out, f)
	}
	return out
}

// Of returns what holds an object that is being deleted in the state of the model. Of several things it is the one to look at first: what
// keeps the collector from removing its finalizer, then who has to act besides the collector.
func (d *Diagnoser) Of(n graph.Node) Hold {
	o := cmp.Or(d.model.Object(n), d.graph.Object(n))
	h := Hold{
		Object: o.Identity, Scanned: d.graph.Snapshot().Taken, Consequence: collector.ConsequenceNone,
		Finalizers: []Finalizer{}, BlockedBy: []object.Identity{},
	}
	h.Says = o.Says(h.Scanned)
	if o.Terminating() {
		h.Requested, h.Deleted = o.DeletionRequested(), *o.Deleted
	}
	if o.IsNamespace() && d.graph.Object(n).Terminating() {
		found := d.diagnose(n)
		h.Namespace = &found
	}
	switch left := d.left(n); {
	case d.model.Object(n) == nil: // it is gone in that state
		h.set(HolderCollector, reason.NothingBlocks)
	case o.Contested:
		d.chain(&h, n)
	case left != nil && left.HasCollectorFinalizer():
		d.later().chain(&h, n)
	case left == nil && len(d.model.Blocking(n)) > 0:
		d.dependents(&h, n)
	case d.model.Overdue(o):
		d.kubelet(&h, n)
	case left == nil && o.HasCollectorFinalizer():
		d.alone(&h, n)
	case h.Namespace != nil:
		d.namespace(&h, n)
	case left != nil: // the collector's own finalizer goes, and something else stays
		d.later().chain(&h, n)
	case len(o.Finalizers) == 0 && !o.InGracePeriod() && !o.IsNamespace():
		h.set(HolderNothing, reason.NothingHolds)
	default:
		d.chain(&h, n)
	}
	return h
}

// left returns what is left of an object with the collector's finalizer when the collector has done all it can; nil for others.
func (d *Diagnoser) left(n graph.Node) *object.Object {
	if o := d.model.Object(n); o == nil || !o.HasCollectorFinalizer() {
		return nil
	}
	return d.later().model.Object(n)
}

// dependents sets the dependents that go first: those that the collector deletes, or what they wait for.
func (d *Diagnoser) dependents(h *Hold, n graph.Node) {
	end, _ := d.obstacles.RootCause(n)
	if slices.Contains(endedByOthers, end.Reason) {
		d.chain(h, n)
		return
	}
	for _, by := range d.model.Blocking(n) {
		h.BlockedBy = append(h.BlockedBy, d.graph.Object(by).Identity)
	}
	h.set(HolderDependents, reason.WaitsForDependents(h.BlockedBy[0], len(h.BlockedBy)-1))
}

// endedByOthers are the obstacles that are being deleted, and that only others than the collector end.
var endedByOthers = []simulate.BlockReason{
	simulate.HeldByFinalizers, simulate.PodStillStopping, simulate.ContentsStillDeleting, simulate.GroupsUndiscoverable, simulate.ContentsUnlistable,
}

// kubelet sets the kubelet that has not stopped a Pod in its grace period.
func (d *Diagnoser) kubelet(h *Hold, n graph.Node) {
	o := d.model.Object(n)
	overdue := reason.PodOverdue{Since: d.model.Since(n), Node: o.Node}
	h.OwnFinalizers = o.ForeignFinalizers()
	h.set(HolderKubelet, reason.Of(overdue), d.Finalizers(h.OwnFinalizers, h.Object)...)
	if o.Node != nil {
		h.Kubelet = overdue.Kubelet()
	}
}

// chain sets what an object waits for: dependents that block it, what these wait for, and so on. What others
// end at the end of it is diagnosed as such.
func (d *Diagnoser) chain(h *Hold, n graph.Node) {
	for _, by := range d.model.Blocking(n) {
		h.BlockedBy = append(h.BlockedBy, d.graph.Object(by).Identity)
	}
	h.Obstacle, _ = d.obstacles.RootCause(n)
	end := h.Obstacle
	h.ObstacleReason, h.Consequence = d.reason(end), d.consequence(end)
	switch {
	case end.Node == n && end.Reason == simulate.HeldByFinalizers:
		d.finalizers(h, n)
		return
	case end.Node == n:
		h.set(holderOf(end.Reason), h.ObstacleReason)
		return
	}
	var finalizers []Finalizer
	if slices.Contains(endedByOthers, end.Reason) {
		root := d.Of(end.Node)
		h.ObstacleReason, finalizers = root.Reason, root.Finalizers
	}
	h.RootCause = &d.graph.Object(end.Node).Identity
	if len(h.BlockedBy) == 0 { // an orphan whose reference to it cannot be removed
		h.BlockedBy = append(h.BlockedBy, *h.RootCause)
	}
	holder := holderOf(end.Reason)
	if holder != HolderUnknown && holder != HolderCollector {
		holder = HolderDependents
	}
	h.set(holder, reason.Of(reason.BlockedByDependents{By: h.BlockedBy[0], RootCause: *h.RootCause, Because: h.ObstacleReason}), finalizers...)
}

// alone sets what holds an object that no dependent blocks, and that the collector has to process: perhaps others act before.
func (d *Diagnoser) alone(h *Hold, n graph.Node) {
	switch o := d.model.Object(n); {
	case len(o.ForeignFinalizers()) > 0:
		d.finalizers(h, n)
	case o.InGracePeriod():
		h.set(HolderGracePeriod, reason.GracePeriod(d.model.Since(n)))
	default:
		h.set(HolderCollector, reason.NothingBlocks)
	}
}

// finalizers sets the finalizers of others that an object has itself, and who uses it now.
func (d *Diagnoser) finalizers(h *Hold, n graph.Node) {
	held := d.model.HeldBy(n)
	h.OwnFinalizers = held.Finalizers
	h.set(HolderFinalizer, reason.Of(held), d.Finalizers(h.OwnFinalizers, h.Object)...)
	h.explain(held)
	if i := slices.IndexFunc(held.UsedBy, func(u reason.User) bool { return u.IsAttachment() }); i >= 0 {
		h.RootCause = &held.UsedBy[i].Identity
	}
}

// holderOf returns what holds an object that is an obstacle itself.
func holderOf(why simulate.BlockReason) Holder {
	switch why {
	case simulate.HeldByFinalizers:
		return HolderFinalizer
	case simulate.PodStillStopping:
		return HolderGracePeriod
	case simulate.ContentsStillDeleting:
		return HolderContents
	case simulate.GroupsUndiscoverable:
		return HolderDiscovery
	case simulate.NothingBlocks:
		return HolderCollector
	case simulate.NotAllListed, simulate.SharesUID, simulate.ContentsNotListed, simulate.ContentsUnlistable:
		return HolderUnknown
	case simulate.InCycle, simulate.CannotBeJudged, simulate.PatchRejected, simulate.WriteRefused, simulate.LimitReached:
	}
	return HolderDependents
}

// namespace sets what keeps a Namespace: the first cause, the one to repair first, and the finalizers of what
// it contains.
func (d *Diagnoser) namespace(h *Hold, n graph.Node) {
	found := h.Namespace
	cause := found.Causes[0]
	h.Consequence, h.Contents = found.Consequence, found.Held
	if s := found.APIServices; cause.Kind == CauseDiscovery && len(s) > 0 {
		h.RootCause = &object.Identity{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: s[0].Name}
	}
	because := cause.Reason
	if held := d.model.HeldBy(n); cause.Kind == CauseFinalizers && len(held.Finalizers) > 0 {
		because, h.OwnFinalizers = reason.Of(held), held.Finalizers
	}
	h.set(namespaceHolders[cause.Kind], because)
	for i, c := range found.Causes {
		if i == 0 || c.Kind == CauseContentsLeft {
			h.Finalizers = append(h.Finalizers, c.Finalizers...)
		}
	}
}

var namespaceHolders = map[NamespaceCauseKind]Holder{
	CauseDiscovery: HolderDiscovery, CauseVersionParsing: HolderDiscovery,
	CauseDeletionFails: HolderContents, CauseContentsLeft: HolderContents,
	CauseSpecFinalizers: HolderFinalizer, CauseFinalizers: HolderFinalizer, CauseNothing: HolderNothing,
	CauseContentsUnread: HolderUnknown, CauseConditionsUnread: HolderUnknown,
}

// consequence returns what becomes of a deletion that ends at an obstacle.
func (d *Diagnoser) consequence(at simulate.Obstacle) collector.Consequence {
	switch at.Reason {
	case simulate.CannotBeJudged:
		if judgement(d.model, at.Node, at.Reference).Verdict == collector.VerdictUnknown { // the collector may read more
			return collector.ConsequenceUnknown
		}
		return collector.ConsequenceStuck
	case simulate.InCycle, simulate.PatchRejected, simulate.WriteRefused:
		return collector.ConsequenceStuck
	case simulate.NotAllListed, simulate.SharesUID, simulate.ContentsNotListed, simulate.ContentsUnlistable:
		return collector.ConsequenceUnknown
	case simulate.NothingBlocks, simulate.HeldByFinalizers, simulate.PodStillStopping, simulate.ContentsStillDeleting, simulate.GroupsUndiscoverable, simulate.LimitReached:
	}
	return collector.ConsequenceNone
}

// reason returns why an object is an obstacle.
func (d *Diagnoser) reason(at simulate.Obstacle) *reason.Reason {
	switch at.Reason {
	case simulate.HeldByFinalizers:
		return reason.Of(d.model.HeldBy(at.Node))
	case simulate.PodStillStopping:
		return reason.GracePeriod(d.model.Since(at.Node))
	case simulate.ContentsStillDeleting:
		return reason.ContentsRemain(d.model.Since(at.Node))
	case simulate.InCycle:
		return reason.WaitsInCycle
	case simulate.CannotBeJudged:
		return reason.OwnerUndecidable(UndecidableReference(d.model, at.Node, at.Reference))
	case simulate.LimitReached:
		return reason.OutOfScope
	case simulate.NotAllListed:
		return reason.DependentsUnknown
	case simulate.ContentsNotListed:
		return snapshot.ContentsUnknown(d.model.ContentsGaps(at.Node))
	case simulate.GroupsUndiscoverable, simulate.ContentsUnlistable:
		return snapshot.NotFinalized(d.model.FinalizationGaps(at.Node))
	case simulate.PatchRejected:
		return reason.PatchRejected
	case simulate.WriteRefused:
		return reason.Of(d.model.RefusedBy(at.Node))
	case simulate.SharesUID:
		return reason.Of(snapshot.UIDContested(d.model.Graph().Object(at.Node)))
	case simulate.NothingBlocks:
	}
	return reason.NothingBlocks
}

// UndecidableReference returns the owner of the i-th reference that an object has in the
// state of a model, a reference that cannot be judged.
func UndecidableReference(m *simulate.Model, n graph.Node, i int) reason.Owner {
	return judgement(m, n, i).Owner(m.Object(n).Owners[i])
}

func judgement(m *simulate.Model, n graph.Node, i int) collector.Judgement {
	return m.Judge().FindReference(n, m.Object(n).Owners[i])
}
