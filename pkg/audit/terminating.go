package audit

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// TerminatingReport has everything that is being deleted.
type TerminatingReport struct {
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	// Objects are sorted by the time at which their deletion was requested; never nil.
	Objects []terminating.Hold `json:"objects"`
}

// JoinTerminating returns what is being deleted in several clusters as one report.
func JoinTerminating(clusters []Cluster) *TerminatingReport {
	all := Join(clusters)
	out := &TerminatingReport{Complete: all.Complete, Gaps: all.Gaps, Objects: []terminating.Hold{}}
	for _, c := range clusters {
		for _, t := range c.Terminating {
			t.Cluster = c.Name
			out.Objects = append(out.Objects, t)
		}
	}
	slices.SortStableFunc(out.Objects, func(a, b terminating.Hold) int {
		return cmp.Or(a.Requested.Compare(b.Requested), cmp.Compare(a.Cluster, b.Cluster), a.Object.Compare(b.Object))
	})
	return out
}

// Terminating returns every listed object in scope that is being deleted, whatever its age, in the
// order of the graph. It ignores the rules of the options.
func Terminating(j *collector.Judge, o Filter) []terminating.Hold {
	return newRuleContext(j, o).terminating()
}

// Deletions are a Report with the deletions that are under way or follow from it.
type Deletions struct {
	*Report

	Terminating []terminating.Hold // the oldest first
	Dependents  int                // how many objects the collector may delete because it deletes those of findings
}

// RunWithDeletions is Run and Terminating with one simulation.
func RunWithDeletions(j *collector.Judge, o Filter) (*Deletions, error) {
	r := newRuleContext(j, o)
	report, err := r.run()
	if err != nil {
		return nil, err
	}
	out := &Deletions{Report: report, Terminating: r.terminating(), Dependents: r.cascade(report)}
	slices.SortStableFunc(out.Terminating, func(a, b terminating.Hold) int { return a.Requested.Compare(b.Requested) })
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
			if o := r.graph.Object(e.Node); !reached.Has(e.Node) && !o.Terminating() && r.inScope(o) && r.possible().Terminates(e.Node) != simulate.Never {
				reached.Add(e.Node)
				next = append(next, e.Node)
				dependents++
			}
		}
	}
	return dependents
}

func (r *ruleContext) terminating() []terminating.Hold {
	var out []terminating.Hold
	for _, n := range r.listed((*object.Object).Terminating) {
		out = append(out, r.holds().Of(n))
	}
	return out
}

// listed returns the listed objects in scope that are selected.
func (r *ruleContext) listed(selected func(*object.Object) bool) []graph.Node {
	var out []graph.Node
	for n := graph.Node(0); int(n) < r.graph.Listed(); n++ {
		if o := r.graph.Object(n); r.inScope(o) && selected(o) {
			out = append(out, n)
		}
	}
	return out
}

// The rules about deletions select from what terminating finds.

var blockedDeletion = Rule{
	ID:      "blocked-deletion",
	Summary: "A deletion waits for dependents, and the garbage collector cannot complete it.",
	group: func(r *ruleContext) []Finding {
		var out []Finding
		for _, n := range r.listed((*object.Object).HasCollectorFinalizer) {
			by, left := r.holds().Of(n), r.after().Object(n)
			stays := left != nil && left.HasCollectorFinalizer()
			missed := !stays && r.model().Decide(n).Action == collector.ActionRemoveFinalizer && by.Late(r.options.StuckAfter)
			if stays || missed {
				out = append(out, blocked(by, missed))
			}
		}
		return out
	},
}

// blocked returns the finding about a deletion that something blocks, or that the collector has missed.
func blocked(by terminating.Hold, missed bool) Finding {
	if missed {
		by.Reason = reason.NothingBlocks
	}
	f := Finding{
		Object: by.Object, Severity: Warning, Consequence: by.Consequence, Fix: NoFix,
		Reason: reason.DeletionBlocked(by.Reason), Effect: reason.Of(reason.Waits{}), Members: by.BlockedBy, Blocker: by.Reason,
	}
	switch {
	case by.RootCause != nil:
		f.Cause = &SharedCause{Object: *by.RootCause}
	case by.Holder == terminating.HolderFinalizer:
		f.Cause = heldBy(terminating.Names(by.Finalizers))
	}
	switch {
	case by.Consequence == collector.ConsequenceStuck:
		f.Severity, f.Effect = Error, reason.Of(reason.Waits{Forever: true})
	case by.Consequence == collector.ConsequenceUnknown:
		f.Effect = reason.Of(reason.Waits{Unknown: true})
	case missed, by.Holder == terminating.HolderCollector:
		f.Idle, f.Effect = true, reason.Of(reason.Waits{Idle: true})
	}
	return f
}

var stuckFinalizer = Rule{
	ID:      "stuck-finalizer",
	Summary: "An object has long been terminating and waits for a finalizer that is not the collector's.",
	group: func(r *ruleContext) []Finding {
		var out []Finding
		for _, n := range r.listed(func(o *object.Object) bool { return o.Terminating() && len(o.ForeignFinalizers()) > 0 }) {
			if h := r.holds().Of(n); !h.Late(r.options.StuckAfter) {
				continue
			}
			o, by := r.graph.Object(n), r.model().HeldBy(n)
			found := reason.FinalizerStuck{HeldByFinalizers: by}
			for _, f := range r.holds().Finalizers(by.Finalizers, o.Identity) {
				known := func(t reason.ControllerTraces) bool { return t.Domain == f.Traces.Domain }
				if f.Traces != nil && !slices.ContainsFunc(found.Traces, known) {
					found.Traces = append(found.Traces, *f.Traces)
				}
			}
			by.Since = reason.Since{} // said of the object itself
			out = append(out, Finding{
				Severity: Warning, Object: o.Identity, Consequence: collector.ConsequenceNone, Fix: NoFix, Effect: reason.WaitsForController,
				Reason: reason.Of(found), Blocker: reason.Of(by), Cause: heldBy(o.ForeignFinalizers()),
			})
		}
		return out
	},
}

var stuckNamespace = Rule{
	ID:      "stuck-namespace",
	Summary: "A namespace has long been terminating, because something in it or around it keeps it.",
	group: func(r *ruleContext) []Finding {
		var out []Finding
		for _, n := range r.listed(func(o *object.Object) bool { return o.Terminating() && o.IsNamespace() }) {
			if by := r.holds().Of(n); by.Namespace != nil && by.Late(r.options.StuckAfter) {
				out = append(out, namespaceStuck(by))
			}
		}
		return out
	},
}

func namespaceStuck(by terminating.Hold) Finding {
	d := by.Namespace
	found := reason.NamespaceStuck{
		Since:      reason.Since{Deleted: by.Deleted, Scanned: by.Scanned},
		Conditions: append([]reason.ReportedCondition{}, d.Conditions...),
	}
	for _, c := range d.Causes {
		found.Causes = append(found.Causes, c.Reason)
	}
	f := Finding{Object: by.Object, Severity: Warning, Consequence: d.Consequence, Fix: NoFix, Reason: reason.Of(found), Effect: reason.NoEffect(true), Blocker: d.Causes[0].Reason}
	switch first := d.Causes[0]; {
	case first.Kind == terminating.CauseDiscovery:
		f.Cause = &SharedCause{Discovery: true}
	case len(first.Finalizers) > 0:
		f.Cause = heldBy(terminating.Names(first.Finalizers))
	}
	switch d.Consequence {
	case collector.ConsequenceStuck:
		f.Severity, f.Effect = Error, reason.NamespaceControllerFails
	case collector.ConsequenceUnknown:
		f.Effect = reason.NamespaceEndUnknown
	case collector.ConsequenceNone, collector.ConsequenceDelete, collector.ConsequenceUnlink:
	}
	return f
}
