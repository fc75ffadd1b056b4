// Package overview sums up one scan for somebody who wants to know whether anything is wrong with
// deletion in a cluster: what the garbage collector will delete, which deletions are stuck, which
// references are broken, and what to run next. It knows no client.
//
// Strings from the cluster are not escaped.
package overview

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Overview is what one scan shows.
type Overview struct {
	Cluster  ScannedCluster `json:"cluster"`
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	Summary  audit.Totals   `json:"summary"`
	Types    int            `json:"-"` // how many the garbage collector watches
	// WillBeDeleted are the objects that the garbage collector will delete, without their dependents.
	WillBeDeleted []CauseGroup    `json:"willBeDeleted"` // never nil
	Dependents    int             `json:"dependents"`    // how many are deleted, or may be, because of these
	Stuck         []Stuck         `json:"stuck"`         // the oldest first; never nil
	StuckAfter    metav1.Duration `json:"stuckAfter"`
	BeingDeleted  []Stuck         `json:"beingDeleted"`      // these, and the younger ones that something holds; never nil
	Younger       int             `json:"deletionsUnderWay"` // how many deletions are not stuck yet
	Others        int             `json:"-"`                 // how many deletions nothing holds so far
	OthersAge     time.Duration   `json:"-"`                 // of the oldest of them
	Broken        []CauseGroup    `json:"broken"`            // references that the collector cannot resolve or removes; never nil
	// Unverified is of how many objects it is unknown what the collector does with them, because the
	// scan is incomplete.
	Unverified int `json:"unverified"`
	// Overdue is how many of the objects of WillBeDeleted a working collector would have deleted by now,
	// unless their owner was deleted within the last seconds.
	Overdue int `json:"overdue"`
	// Manager is whether kube-controller-manager runs, which has the garbage collector; nil for a file.
	Manager *reason.Reason `json:"controllerManager,omitempty"`
}

// ScannedCluster is what was scanned.
type ScannedCluster struct {
	Context string `json:"context,omitempty"` // of the kubeconfig; empty without one
	Server  string `json:"server,omitempty"`  // its URL
	File    string `json:"file,omitempty"`    // that was read instead
	Version string `json:"version,omitempty"` // empty if unknown
}

// CauseGroup is a cause with its objects.
type CauseGroup struct {
	audit.Group
	Command []string // what to run next, as words without the name of the program
}

// maxObjects is how many objects of a group the document names.
const maxObjects = 3

// MarshalJSON implements json.Marshaler.
func (g CauseGroup) MarshalJSON() ([]byte, error) {
	first := g.Findings[0]
	return json.Marshal(struct {
		Rule       string                 `json:"rule"`
		Severity   audit.Severity         `json:"severity"`
		Count      int                    `json:"count"`
		Namespaces []audit.NamespaceCount `json:"namespaces"`
		Objects    []object.Identity      `json:"objects"`
		*reason.Reason
		Effect  *reason.Reason `json:"effect"`
		Command []string       `json:"command"`
	}{
		first.Rule, first.Severity, len(g.Objects), g.Namespaces, g.Objects[:min(len(g.Objects), maxObjects)],
		first.Reason, first.Effect, g.Command,
	})
}

// Stuck is deletions that take long, and that the same thing holds.
type Stuck struct {
	terminating.Hold // the oldest of them

	Count      int                    `json:"count"`
	Namespaces []audit.NamespaceCount `json:"namespaces"`
	Command    []string               `json:"command"`
	objects    []object.Identity
}

// settle is how long a working collector may need for an object.
const settle = 30 * time.Second

// New sums up the audit of a scan with these options.
func New(g *graph.Graph, r *audit.Deletions, o audit.Filter) *Overview {
	s := g.Snapshot()
	v := &Overview{
		Cluster: ScannedCluster{Version: s.Server}, Complete: r.Complete, Gaps: r.Gaps, Summary: r.Summary, Types: s.MonitoredTypes(),
		WillBeDeleted: []CauseGroup{}, Stuck: []Stuck{}, StuckAfter: metav1.Duration{Duration: o.StuckAfter}, BeingDeleted: []Stuck{}, Dependents: r.Dependents, Broken: []CauseGroup{},
	}
	var stuck, held []terminating.Hold
	for _, t := range r.Terminating {
		late := t.Late(o.StuckAfter)
		if late {
			stuck = append(stuck, t)
		} else {
			v.Younger++
		}
		if late || t.Held() {
			held = append(held, t)
		} else {
			v.Others, v.OthersAge = v.Others+1, max(t.Age(), v.OthersAge)
		}
	}
	v.Stuck, v.BeingDeleted = byHolder(g, stuck), byHolder(g, held)
	var deleted, broken []audit.Finding
	unverified, overdue := map[types.UID]bool{}, map[types.UID]bool{}
	for _, f := range r.Findings {
		switch {
		case f.Blocker != nil: // it is about a deletion
		case f.Consequence == collector.ConsequenceDelete:
			deleted = append(deleted, f)
			if isOverdue(g, &f) {
				overdue[f.Object.UID] = true
			}
		case f.Consequence == collector.ConsequenceUnknown:
			unverified[f.Object.UID] = true
		case f.Severity.AtLeast(audit.Warning):
			broken = append(broken, f)
		}
	}
	v.Unverified, v.Overdue = len(unverified), len(overdue)
	for _, group := range audit.Groups(deleted) {
		v.WillBeDeleted = append(v.WillBeDeleted, CauseGroup{group, show(g, &group)})
	}
	for _, group := range audit.Groups(broken) {
		v.Broken = append(v.Broken, CauseGroup{group, repair(g, &group)})
	}
	return v
}

// heldBy is what holds deletions.
type heldBy struct {
	holder              terminating.Holder
	kubelet, finalizers string
	rootCause           object.Identity
	only                object.Identity // set if no other deletion has the same holder
}

// byHolder groups deletions by what holds them.
func byHolder(g *graph.Graph, deletions []terminating.Hold) []Stuck {
	index, out := map[heldBy]int{}, []Stuck{}
	for _, t := range deletions {
		key := heldBy{holder: t.Holder, kubelet: t.Kubelet}
		for _, f := range t.Finalizers {
			key.finalizers += f.Name + ","
		}
		if t.RootCause != nil {
			key.rootCause = *t.RootCause
		}
		if t.Holder != terminating.HolderDiscovery && key == (heldBy{holder: t.Holder}) {
			key.only = t.Object
		}
		at, known := index[key]
		if !known {
			at = len(out)
			index[key] = at
			out = append(out, Stuck{Hold: t})
		}
		out[at].objects = append(out[at].objects, t.Object)
	}
	for i := range out {
		held := &out[i]
		held.Count, held.Namespaces = len(held.objects), audit.CountNamespaces(held.objects)
		if held.Command = command(g, "why", held.Object); held.Count > 1 {
			held.Command = inNamespace(held.Namespaces, "stuck")
		}
	}
	return out
}

// Healthy reports whether there is nothing to show of a complete scan.
func (v *Overview) Healthy() bool {
	return v.Complete && len(v.WillBeDeleted)+len(v.BeingDeleted)+len(v.Broken)+v.Unverified == 0
}

// Doomed returns how many objects WillBeDeleted has.
func (v *Overview) Doomed() int {
	objects := map[types.UID]bool{}
	for _, g := range v.WillBeDeleted {
		for _, o := range g.Objects {
			objects[o.UID] = true
		}
	}
	return len(objects)
}

// Objects returns the objects of all sections.
func (v *Overview) Objects() []object.Identity {
	var out []object.Identity
	for _, g := range slices.Concat(v.WillBeDeleted, v.Broken) {
		out = append(out, g.Objects...)
	}
	for _, held := range v.BeingDeleted {
		out = append(out, held.objects...)
	}
	return out
}

// EditCommands replaces every command by what edit returns for it.
func (v *Overview) EditCommands(edit func(words []string) []string) {
	for _, groups := range [][]CauseGroup{v.WillBeDeleted, v.Broken} {
		for i, g := range groups {
			groups[i].Command = edit(g.Command)
		}
	}
	for _, deletions := range [][]Stuck{v.Stuck, v.BeingDeleted} {
		for i, t := range deletions {
			deletions[i].Command = edit(t.Command)
		}
	}
}

// isOverdue reports whether a working collector would have deleted the object of a finding: an owner
// in another namespace may escape it until it starts again.
func isOverdue(g *graph.Graph, f *audit.Finding) bool {
	o := g.Object(g.Find(f.Object.UID))
	return f.Verdict == collector.VerdictDangling && f.Nondeterministic == nil && f.Rule != string(collector.CauseCrossNamespace) &&
		!o.Created.IsZero() && g.Snapshot().Taken.Sub(o.Created) > settle
}

// Manager returns whether kube-controller-manager runs, by its lease as it was read at a time.
func Manager(l reason.Leader, at time.Time, err error) *reason.Reason {
	// A renewal is 2 s old at most, and the clocks of two machines differ.
	const alive = time.Minute
	switch age := max(at.Sub(l.Renewed), 0).Truncate(time.Second); {
	case err != nil:
		return reason.ManagerUnknown
	case !l.Exists:
		return reason.NoLease
	case l.Holder == "" && age <= alive:
		return reason.LeaseReleased(metav1.Duration{Duration: age})
	case l.Holder == "":
		return reason.LeaseNotHeld
	case age > alive:
		return reason.ManagerSilent(metav1.Duration{Duration: age})
	default:
		return reason.ManagerRuns(metav1.Duration{Duration: age})
	}
}

// show returns the command that shows the objects of a group.
func show(g *graph.Graph, group *audit.Group) []string {
	if len(group.Objects) == 1 {
		return command(g, "why", group.Objects[0])
	}
	return inNamespace(group.Namespaces, "audit", "--rule", group.Findings[0].Rule, "-o", "wide")
}

// repair returns the command that previews the repair of a group, or shows it if there is none.
func repair(g *graph.Graph, group *audit.Group) []string {
	first := group.Findings[0]
	if _, ok := audit.RepairFor(first.Rule); !ok || first.Fix == audit.NoFix {
		return show(g, group)
	}
	if len(group.Objects) == 1 {
		return append(command(g, "repair", first.Object), "--dry-run")
	}
	return inNamespace(group.Namespaces, "repair", "--rule", first.Rule, "--dry-run")
}

// command returns a command about one object.
func command(g *graph.Graph, name string, o object.Identity) []string {
	return append([]string{name}, explain.Arguments(g, o)...)
}

// inNamespace returns a command about all objects in these namespaces, limited to one if there is only one.
func inNamespace(in []audit.NamespaceCount, words ...string) []string {
	if len(in) == 1 && in[0].Name != "" {
		words = append(words, "-n", in[0].Name)
	}
	return words
}
