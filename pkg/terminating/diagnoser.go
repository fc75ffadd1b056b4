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

// Diagnoser finds out what holds objects that are being deleted. It is not safe for concurrent use.
type Diagnoser struct {
	graph      *graph.Graph
	now        state
	later      func() state // of what is left when the collector has done all it can
	namespaces func() *namespaces
	traces     *simulate.FinalizerTraces
}

// state is one state of a model, and what blocks deletions in it.
type state struct {
	model     *simulate.Model
	obstacles *simulate.Obstacles
}

func newState(m *simulate.Model) state { return state{m, simulate.NewObstacles(m)} }

// New returns the Diagnoser of a model. after returns its state when the collector has done all it can; it is called if a deletion waits for
// that. The models must not change while the Diagnoser is used.
func New(m *simulate.Model, after func() *simulate.Model) *Diagnoser {
	return &Diagnoser{
		graph: m.Graph(), now: newState(m), later: sync.OnceValue(func() state { return newState(after()) }),
		namespaces: sync.OnceValue(func() *namespaces { return newNamespaces(m) }),
		traces:     simulate.NewFinalizerTraces(m.Graph()),
	}
}

// InState returns the Diagnoser of a model in a state in which the collector has done all it can.
func InState(m *simulate.Model) *Diagnoser { return New(m, func() *simulate.Model { return m }) }

// Traces are what the scan shows of the controllers behind finalizers.
func (d *Diagnoser) Traces() *simulate.FinalizerTraces { return d.traces }

// Of returns what holds an object that is being deleted in the state of the model. Of several things it is the one to look at first: what
// keeps the collector from removing its finalizer, then who has to act besides the collector.
func (d *Diagnoser) Of(n graph.Node) Hold {
	o := cmp.Or(d.now.model.Object(n), d.graph.Object(n))
	h := Hold{
		Object: o.Identity, Scanned: d.graph.Snapshot().Taken, Consequence: collector.ConsequenceNone,
		Finalizers: []HoldingFinalizer{}, By: []object.Identity{}, End: simulate.Obstacle{Node: n},
	}
	h.Says = o.Says(h.Scanned)
	if o.Terminating() {
		h.Requested, h.Deleted = o.DeletionRequested(), *o.Deleted
	}
	if o.IsNamespace() && d.graph.Object(n).Terminating() {
		found := d.namespaces().diagnose(n)
		h.Namespace = &found
	}
	switch left := d.left(n); {
	case d.now.model.Object(n) == nil: // it is gone in that state
		h.set(HolderCollector, reason.NothingBlocks)
	case o.Contested:
		d.chain(&h, d.now)
	case left != nil && left.HasCollectorFinalizer():
		h.blocked = true
		d.chain(&h, d.later())
	case left == nil && len(d.now.model.Blocking(n)) > 0:
		h.completes = true
		d.dependents(&h, n)
	case d.now.model.Overdue(o):
		d.kubelet(&h, n)
	case left == nil && o.HasCollectorFinalizer():
		h.completes = true
		d.alone(&h, n)
	case h.Namespace != nil:
		d.namespace(&h, n)
	case left != nil: // the collector's own finalizer goes, and something else stays
		d.chain(&h, d.later())
	case len(o.Finalizers) == 0 && !o.InGracePeriod() && !o.IsNamespace():
		h.set(HolderNothing, reason.NothingHolds)
	default:
		d.chain(&h, d.now)
	}
	carrier := &h.Object
	if len(h.Own) == 0 {
		carrier = cmp.Or(h.Contents, h.RootCause, carrier)
	}
	for i := range h.Finalizers {
		f := &h.Finalizers[i]
		f.Traces = d.traces.Of(f.Name, *carrier)
	}
	return h
}

// left returns what is left of an object with the collector's finalizer when the collector has done all it can; nil for others.
func (d *Diagnoser) left(n graph.Node) *object.Object {
	if o := d.now.model.Object(n); o == nil || !o.HasCollectorFinalizer() {
		return nil
	}
	return d.later().model.Object(n)
}

// dependents sets the dependents that go first: those that the collector deletes, or what they wait for.
func (d *Diagnoser) dependents(h *Hold, n graph.Node) {
	end, _ := d.now.obstacles.RootCause(n)
	if end.Reason == simulate.HeldByFinalizers || end.Reason == simulate.PodStillStopping || end.Reason == simulate.ContentsStillDeleting {
		d.chain(h, d.now)
		return
	}
	for _, by := range d.now.model.Blocking(n) {
		h.By = append(h.By, d.graph.Object(by).Identity)
	}
	h.collects = true
	h.set(HolderDependents, reason.WaitsForDependents.Of(h.By[0], len(h.By)-1))
}

// kubelet sets the kubelet that has not stopped a Pod in its grace period.
func (d *Diagnoser) kubelet(h *Hold, n graph.Node) {
	o := d.now.model.Object(n)
	overdue := reason.PodOverdue{Since: d.now.model.Since(n), Node: o.Node}
	h.Own = o.ForeignFinalizers()
	h.set(HolderKubelet, overdue, h.Own...)
	if o.Node != nil {
		h.Kubelet = overdue.Kubelet()
	}
}

// chain sets what an object waits for in a state: dependents that block it, what these wait for, and so on.
func (d *Diagnoser) chain(h *Hold, in state) {
	n := h.End.Node
	for _, by := range in.model.Blocking(n) {
		h.By = append(h.By, d.graph.Object(by).Identity)
	}
	h.End, _ = in.obstacles.RootCause(n)
	h.Cause, h.Consequence = in.reason(h.End), in.consequence(h.End)
	root := &d.graph.Object(h.End.Node).Identity
	switch {
	case h.End.Node == n && h.End.Reason == simulate.HeldByFinalizers:
		d.finalizers(h, n)
		return
	case h.End.Node == n:
		h.set(holderOf(h.End.Reason), h.Cause)
		return
	}
	var finalizers []string
	if h.End.Reason == simulate.HeldByFinalizers {
		finalizers = in.model.Object(h.End.Node).ForeignFinalizers()
	}
	h.RootCause = root
	if len(h.By) == 0 { // an orphan whose reference to it cannot be removed
		h.By = append(h.By, *root)
	}
	holder := holderOf(h.End.Reason)
	if holder != HolderUnknown && holder != HolderCollector {
		holder = HolderDependents
	}
	h.set(holder, reason.BlockedByDependents{By: h.By[0], RootCause: *root, Because: reason.Nested{Reason: h.Cause}}, finalizers...)
}

// alone sets what holds an object that no dependent blocks, and that the collector has to process: perhaps others act before.
func (d *Diagnoser) alone(h *Hold, n graph.Node) {
	switch o := d.now.model.Object(n); {
	case len(o.ForeignFinalizers()) > 0:
		d.finalizers(h, n)
	case o.InGracePeriod():
		h.set(HolderGracePeriod, reason.GracePeriod.Of(d.now.model.Since(n)))
	default:
		h.End.Reason, h.Cause = simulate.NothingBlocks, reason.NothingBlocks
		h.set(HolderCollector, h.Cause)
	}
}

// finalizers sets the finalizers of others that an object has itself, and who uses it now.
func (d *Diagnoser) finalizers(h *Hold, n graph.Node) {
	held := d.now.model.HeldBy(n)
	h.Own = held.Finalizers
	h.set(HolderFinalizer, held, h.Own...)
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
	case simulate.InCycle, simulate.CannotBeJudged, simulate.PatchRejected, simulate.LimitReached:
	}
	return HolderDependents
}

// namespace sets what keeps a Namespace: the first cause, the one to repair first, and the finalizers of what
// it contains.
func (d *Diagnoser) namespace(h *Hold, n graph.Node) {
	found := h.Namespace
	cause := found.Causes[0]
	h.Consequence = found.Consequence
	if s := found.APIServices; cause.Kind == CauseDiscovery && len(s) > 0 {
		h.RootCause = &object.Identity{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: s[0].Name}
	}
	because := cause.Reason
	if cause.Kind == CauseFinalizers {
		because = reason.HeldByFinalizers{Finalizers: cause.Finalizers, Since: d.now.model.Since(n)}
		h.Own = d.now.model.Object(n).ForeignFinalizers()
	}
	finalizers := cause.Finalizers
	for _, in := range d.namespaces().contents[h.Object.Name] {
		if h.Contents == nil && len(d.graph.Object(in).ForeignFinalizers()) > 0 {
			h.Contents = &d.graph.Object(in).Identity
		}
	}
	for _, c := range found.Causes[1:] {
		if c.Kind == CauseContentsLeft {
			finalizers = append(slices.Clip(finalizers), c.Finalizers...)
		}
	}
	h.set(namespaceHolders[cause.Kind], because, finalizers...)
}

var namespaceHolders = map[NamespaceCauseKind]Holder{
	CauseDiscovery: HolderDiscovery, CauseVersionParsing: HolderDiscovery,
	CauseDeletionFails: HolderContents, CauseContentsLeft: HolderContents,
	CauseSpecFinalizers: HolderFinalizer, CauseFinalizers: HolderFinalizer, CauseNothing: HolderNothing,
	CauseContentsUnread: HolderUnknown, CauseConditionsUnread: HolderUnknown,
}

// consequence returns what becomes of a deletion that ends at an obstacle.
func (s state) consequence(at simulate.Obstacle) collector.Consequence {
	switch at.Reason {
	case simulate.CannotBeJudged:
		if judgement(s.model, at.Node, at.Reference).Verdict == collector.VerdictUnknown { // the collector may read more
			return collector.ConsequenceUnknown
		}
		return collector.ConsequenceStuck
	case simulate.InCycle, simulate.PatchRejected:
		return collector.ConsequenceStuck
	case simulate.NotAllListed, simulate.SharesUID, simulate.ContentsNotListed, simulate.ContentsUnlistable:
		return collector.ConsequenceUnknown
	case simulate.NothingBlocks, simulate.HeldByFinalizers, simulate.PodStillStopping, simulate.ContentsStillDeleting, simulate.GroupsUndiscoverable, simulate.LimitReached:
	}
	return collector.ConsequenceNone
}

// reason returns why an object is an obstacle.
func (s state) reason(at simulate.Obstacle) reason.Reason {
	switch at.Reason {
	case simulate.HeldByFinalizers:
		return s.model.HeldBy(at.Node)
	case simulate.PodStillStopping:
		return reason.GracePeriod.Of(s.model.Since(at.Node))
	case simulate.ContentsStillDeleting:
		return reason.ContentsRemain.Of(s.model.Since(at.Node))
	case simulate.InCycle:
		return reason.WaitsInCycle
	case simulate.CannotBeJudged:
		return reason.OwnerUndecidable.Of(UndecidableReference(s.model, at.Node, at.Reference))
	case simulate.LimitReached:
		return reason.OutOfScope
	case simulate.NotAllListed:
		return reason.DependentsUnknown
	case simulate.ContentsNotListed:
		return snapshot.ContentsUnknown(s.model.ContentsGaps(at.Node))
	case simulate.GroupsUndiscoverable, simulate.ContentsUnlistable:
		return snapshot.NotFinalized(s.model.FinalizationGaps(at.Node))
	case simulate.PatchRejected:
		return reason.PatchRejected
	case simulate.SharesUID:
		return snapshot.UIDContested(s.model.Graph().Object(at.Node))
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
