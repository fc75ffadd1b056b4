package audit

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Holder is the kind of thing that holds an object that is being deleted. The words are part of
// the JSON contract.
type Holder string

// The holders.
const (
	HolderFinalizer   Holder = "finalizer"    // a finalizer of another controller than the collector
	HolderGracePeriod Holder = "grace-period" // it is a Pod whose kubelet still has time to stop it
	HolderKubelet     Holder = "kubelet"      // it is a Pod past its grace period
	HolderDependents  Holder = "dependents"   // the collector's finalizer, because of dependents
	HolderCollector   Holder = "collector"    // the collector's finalizer, and nothing blocks its removal
	HolderContents    Holder = "contents"     // it is a Namespace or CustomResourceDefinition that is not empty
	HolderDiscovery   Holder = "discovery"    // it is a Namespace, and an API group cannot be discovered
	HolderNothing     Holder = "nothing"      // nothing that was read
	HolderUnknown     Holder = "unknown"      // too little could be read
)

// Holders are all holders.
var Holders = []Holder{
	HolderFinalizer, HolderGracePeriod, HolderKubelet, HolderDependents, HolderCollector, HolderContents, HolderDiscovery, HolderNothing, HolderUnknown,
}

// TerminatingObject is an object that is being deleted, and what holds it.
type TerminatingObject struct {
	Cluster string          `json:"cluster,omitempty"` // set in a report about several clusters
	Object  object.Identity `json:"object"`
	// Requested is when its deletion was requested. The deletion timestamp of a Pod is later: it
	// is the end of the grace period.
	Requested time.Time `json:"requested"`
	Scanned   time.Time `json:"scanned"`
	Holder    Holder    `json:"heldBy"`
	// RootCause is the object at the end of what it waits for; nil if that is the object itself.
	RootCause *object.Identity `json:"rootCause,omitempty"`
	// Finalizers are those of other controllers on the root cause, or on what a Namespace still
	// contains; never nil.
	Finalizers []HoldingFinalizer `json:"finalizers"`
	// Contents is the first object in a Namespace that Finalizers hold; nil for other objects.
	Contents *object.Identity `json:"contents,omitempty"`
	reason.Stored
	Says string `json:"says,omitempty"` // what the object says itself, a sentence without its full stop

	// Kubelet is the kubelet that a Pod past its grace period waits for, and the state of its Node,
	// as a noun; empty for other objects and if the Node is unknown.
	Kubelet string `json:"-"`
	// Because is, as a sentence without its full stop, why a finalizer of Kubernetes is still
	// there; empty if the scan does not show that.
	Because string `json:"-"`

	collects bool // the dependents that it waits for are those that the collector processes
}

// HoldingFinalizer is a finalizer, and who removes it, as far as its name tells.
type HoldingFinalizer struct {
	Name       string `json:"name"`
	Controller string `json:"controller"`          // a noun; empty if unknown
	Condition  string `json:"condition,omitempty"` // when the controller removes it; a clause
	known      bool   // what its controller is called
	// Traces are what the scan shows of its controller; nil if that cannot be looked for.
	Traces *reason.ControllerTraces `json:"traces,omitempty"`
}

// Age returns how long ago the deletion was requested, at the time of the scan.
func (t *TerminatingObject) Age() time.Duration { return max(0, t.Scanned.Sub(t.Requested)) }

// settle is how long a deletion may take in its normal course.
const settle = 30 * time.Second

// Held reports whether something holds the object that does not go by itself within seconds: a finalizer of
// another controller than Kubernetes' own, what a protection waits for, or a condition that fails.
func (t *TerminatingObject) Held() bool {
	foreign := slices.ContainsFunc(t.Finalizers, func(f HoldingFinalizer) bool { return !simulate.OfKubernetes(f.Name) })
	switch t.Holder {
	case HolderKubelet, HolderDiscovery, HolderUnknown:
		return true
	case HolderDependents, HolderFinalizer, HolderGracePeriod, HolderCollector, HolderContents, HolderNothing:
	}
	return foreign || t.Because != "" || t.Holder != HolderGracePeriod && t.Age() > settle
}

// TerminatingReport has everything that is being deleted.
type TerminatingReport struct {
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	// Objects are sorted by the time at which their deletion was requested; never nil.
	Objects []TerminatingObject `json:"objects"`
}

// JoinTerminating returns what is being deleted in several clusters as one report.
func JoinTerminating(clusters []Cluster) *TerminatingReport {
	all := Join(clusters)
	out := &TerminatingReport{Complete: all.Complete, Gaps: all.Gaps, Objects: []TerminatingObject{}}
	for _, c := range clusters {
		for _, t := range c.Terminating {
			t.Cluster = c.Name
			out.Objects = append(out.Objects, t)
		}
	}
	slices.SortStableFunc(out.Objects, func(a, b TerminatingObject) int {
		return cmp.Or(a.Requested.Compare(b.Requested), cmp.Compare(a.Cluster, b.Cluster), a.Object.Compare(b.Object))
	})
	return out
}

// Terminating returns every listed object in scope that is being deleted, whatever its age, in the
// order of the graph. It ignores the rules of the options.
func Terminating(j *collector.Judge, o Options) []TerminatingObject {
	return newRuleContext(j, o).terminating()
}

// Deletions are a Report with the deletions that are under way or follow from it.
type Deletions struct {
	*Report

	Terminating []TerminatingObject // the oldest first
	Dependents  int                 // how many objects the collector may delete because it deletes those of findings
}

// RunWithDeletions is Run and Terminating with one simulation.
func RunWithDeletions(j *collector.Judge, o Options) (*Deletions, error) {
	r := newRuleContext(j, o)
	report, err := r.run()
	if err != nil {
		return nil, err
	}
	out := &Deletions{Report: report, Terminating: r.terminating(), Dependents: r.cascade(report)}
	slices.SortStableFunc(out.Terminating, func(a, b TerminatingObject) int { return a.Requested.Compare(b.Requested) })
	return out, nil
}

// cascade returns how many objects the collector may delete because it deletes those of findings.
func (r *ruleContext) cascade(report *Report) (dependents int) {
	reached := graph.NewSet(r.graph)
	var next []graph.Node
	for i := range report.Findings {
		if f := &report.Findings[i]; f.Consequence == collector.ConsequenceDelete {
			n := r.graph.Find(f.Object.UID)
			reached.Add(n)
			next = append(next, n)
		}
	}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		for _, e := range r.graph.Dependents(n) {
			if o := r.graph.Object(e.Node); !reached.Has(e.Node) && !o.Terminating() && r.inScope(o) && r.possible.Terminates(e.Node) != simulate.Never {
				reached.Add(e.Node)
				next = append(next, e.Node)
				dependents++
			}
		}
	}
	return dependents
}

func (r *ruleContext) terminating() []TerminatingObject {
	nodes := r.listed(func(_ graph.Node, of *object.Object) bool { return of.Terminating() })
	if len(nodes) == 0 {
		return nil
	}
	before := r.model()
	h := &holders{
		graph: r.graph, before: before, after: r.after, now: NewBlockers(before), namespaces: NewNamespaceDeletions(before),
		later: sync.OnceValue(func() *Blockers { return NewBlockers(r.after()) }),
	}
	out := make([]TerminatingObject, len(nodes))
	for i, n := range nodes {
		out[i] = h.object(n)
		for k := range out[i].Finalizers {
			f := &out[i].Finalizers[k]
			f.Traces = r.traces.Of(f.Name, out[i].Object)
		}
	}
	return out
}

// holders finds out what holds objects that are being deleted.
type holders struct {
	graph      *graph.Graph
	before     *simulate.Model // of the scan
	after      func() *simulate.Model
	now        *Blockers // of before
	later      func() *Blockers
	namespaces *NamespaceDeletions
}

func (h *holders) object(n graph.Node) TerminatingObject {
	o := h.graph.Object(n)
	t := TerminatingObject{Object: o.Identity, Requested: o.DeletionRequested(), Scanned: h.graph.Snapshot().Taken, Finalizers: []HoldingFinalizer{}}
	t.Says = o.Says(t.Scanned)
	since := h.before.Since(n)
	switch {
	case o.Contested:
		t.holds(HolderUnknown, snapshot.UIDContested(o))
	case o.HasCollectorFinalizer() && h.collectorFinalizer(&t, n):
	case h.before.Overdue(o):
		overdue := reason.PodOverdue{Since: since, Node: o.Node}
		t.holds(HolderKubelet, overdue, o.ForeignFinalizers()...)
		if o.Node != nil {
			t.Kubelet = overdue.Kubelet()
		}
	case o.InGracePeriod():
		t.holds(HolderGracePeriod, reason.GracePeriod.Of(since), o.ForeignFinalizers()...)
	case o.IsNamespace():
		h.namespace(&t, n)
	case o.IsCRD() && h.waitsForContents(n):
		t.holds(HolderContents, reason.ContentsRemain.Of(since))
	case len(o.ForeignFinalizers()) > 0:
		held := h.before.HeldBy(n)
		t.holds(HolderFinalizer, held, held.Finalizers...)
		t.explain(held)
		if i := slices.IndexFunc(held.UsedBy, func(u reason.User) bool { return u.IsAttachment() }); i >= 0 {
			t.RootCause = &held.UsedBy[i].Identity
		}
	default:
		t.holds(HolderNothing, reason.NothingHolds)
	}
	return t
}

func (h *holders) waitsForContents(n graph.Node) bool {
	at, ok := h.now.obstacles.RootCause(n)
	return ok && at.Reason == simulate.ContentsStillDeleting && len(h.graph.Object(n).ForeignFinalizers()) > 0
}

// collectorFinalizer reports whether the collector's finalizer is what holds an object. It is not
// if the collector can remove it and a finalizer of another controller stays.
func (h *holders) collectorFinalizer(t *TerminatingObject, n graph.Node) bool {
	o := h.graph.Object(n)
	if left := h.after().Object(n); left != nil && left.HasCollectorFinalizer() {
		h.blocked(t, n)
		return true
	}
	switch blocking := h.before.Blocking(n); {
	case len(blocking) > 0:
		t.collects = true
		t.holds(HolderDependents, reason.WaitsForDependents.Of(h.graph.Object(blocking[0]).Identity, len(blocking)-1))
	case len(o.ForeignFinalizers()) > 0 || o.InGracePeriod():
		return false
	default:
		t.holds(HolderCollector, reason.NothingBlocks)
	}
	return true
}

// blocked sets what keeps the collector from completing a deletion.
func (h *holders) blocked(t *TerminatingObject, n graph.Node) {
	by := h.later().Blocker(n)
	holder := HolderDependents
	switch by.RootCause.Reason {
	case simulate.NothingBlocks:
		holder = HolderCollector
	case simulate.NotAllListed, simulate.SharesUID, simulate.ContentsNotListed, simulate.ContentsUnlistable:
		holder = HolderUnknown
	case simulate.HeldByFinalizers, simulate.PodStillStopping, simulate.ContentsStillDeleting, simulate.InCycle, simulate.CannotBeJudged,
		simulate.LimitReached, simulate.GroupsUndiscoverable, simulate.PatchRejected:
	}
	var finalizers []string
	if root := by.RootCause.Node; by.RootCause.Reason == simulate.HeldByFinalizers {
		finalizers = h.after().Object(root).ForeignFinalizers()
	}
	switch root := by.RootCause.Node; {
	case root != n:
		t.RootCause = &h.graph.Object(root).Identity
	case by.RootCause.Reason == simulate.HeldByFinalizers:
		t.explain(h.after().HeldBy(n))
	}
	t.holds(holder, by.Reason, finalizers...)
}

// namespace sets what keeps a Namespace: the first cause, the one to repair first, and the finalizers of what
// it contains.
func (h *holders) namespace(t *TerminatingObject, n graph.Node) {
	found := h.namespaces.Diagnose(n)
	cause := found.Causes[0]
	if s := found.APIServices; cause.Kind == CauseDiscovery && len(s) > 0 {
		t.RootCause = &object.Identity{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: s[0].Name}
	}
	because := cause.Reason
	if cause.Kind == CauseFinalizers {
		because = reason.HeldByFinalizers{Finalizers: cause.Finalizers, Since: h.before.Since(n)}
	}
	finalizers := cause.Finalizers
	for _, in := range h.namespaces.contents[t.Object.Name] {
		if t.Contents == nil && len(h.graph.Object(in).ForeignFinalizers()) > 0 {
			t.Contents = &h.graph.Object(in).Identity
		}
	}
	for _, c := range found.Causes[1:] {
		if c.Kind == CauseContentsLeft {
			finalizers = append(slices.Clip(finalizers), c.Finalizers...)
		}
	}
	t.holds(namespaceHolders[cause.Kind], because, finalizers...)
}

var namespaceHolders = map[NamespaceCauseKind]Holder{
	CauseDiscovery: HolderDiscovery, CauseVersionParsing: HolderDiscovery,
	CauseDeletionFails: HolderContents, CauseContentsLeft: HolderContents,
	CauseSpecFinalizers: HolderFinalizer, CauseFinalizers: HolderFinalizer, CauseNothing: HolderNothing,
	CauseContentsUnread: HolderUnknown, CauseConditionsUnread: HolderUnknown,
}

// holds sets what holds the object.
func (t *TerminatingObject) holds(holder Holder, because reason.Reason, finalizers ...string) {
	t.Holder, t.Stored = holder, reason.Store(because)
	for _, f := range finalizers {
		held := HoldingFinalizer{Name: f}
		if held.Controller, held.Condition, held.known = simulate.FinalizerController(f); !held.known && held.Controller != "" {
			held.Controller = "the controller behind " + held.Controller
		}
		t.Finalizers = append(t.Finalizers, held)
	}
}

// explain sets why the finalizers of the object are still there.
func (t *TerminatingObject) explain(held reason.HeldByFinalizers) {
	if held.Due != nil {
		t.Because = held.Due.Finalizer + held.Because()
	} else if len(held.UsedBy) > 0 || held.Any() && t.Age() > settle { // who uses it need not be known before
		t.Because = t.Object.String() + " " + held.Message()
	}
}

// Controllers returns who has to act before the object can go, as nouns without duplicates; none
// if only the name of a finalizer says.
func (t *TerminatingObject) Controllers() []string {
	var out []string
	add := func(who string) {
		if who != "" && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	switch t.Holder {
	case HolderGracePeriod, HolderKubelet:
		add("its kubelet")
	case HolderCollector:
		add("the garbage collector")
	case HolderContents:
		if len(t.Finalizers) == 0 && t.Object.IsNamespace() {
			add("the namespace controller")
		} else if len(t.Finalizers) == 0 {
			add("the API server")
		}
	case HolderDependents:
		if t.collects {
			add("the garbage collector")
		}
	case HolderFinalizer, HolderDiscovery, HolderNothing, HolderUnknown:
	}
	for _, f := range t.Finalizers {
		if f.known {
			add(f.Controller)
		}
	}
	return out
}
