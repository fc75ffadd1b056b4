package oracle

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	recorded "github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Accepted returns the scenario without the deletions that the command refuses because it
// cannot list everything that they would delete.
func Accepted(s scenario.Scenario) scenario.Scenario {
	for len(s.Deletes) > 0 {
		refused := map[string]bool{}
		for _, b := range previewOf(s).Blocked {
			switch b.Reason.Code {
			case "ContentsUnknown", "CascadeRefused":
				refused[string(b.Object.UID)] = true
			}
		}
		left := slices.DeleteFunc(slices.Clone(s.Deletes), func(d scenario.Delete) bool { return refused[d.UID] })
		if len(left) == len(s.Deletes) {
			break
		}
		s.Deletes = left
	}
	return s
}

// previewOf returns the plan that `delete --dry-run` shows for the scenario's deletions.
func previewOf(s scenario.Scenario) *plan.Plan {
	g := graph.New(Scan(s))
	deletions := make([]simulate.DeleteRequest, len(s.Deletes))
	for i, d := range s.Deletes {
		n := g.Find(types.UID(d.UID))
		deletions[i] = simulate.DeleteRequest{Node: n, Policy: policyOf(g.Object(n), d.Policy)}
	}
	return plan.New(collector.NewJudge(g), plan.DeletePurpose(simulate.Cluster, deletions...))
}

// policyOf returns the policy of a request. The command always sends one, so the simulation
// does not apply the default of a type.
func policyOf(o *object.Object, policy metav1.DeletionPropagation) metav1.DeletionPropagation {
	if policy == "" && o != nil && len(o.ForeignFinalizers()) == len(o.Finalizers) && simulate.DefaultPolicy(o.Identity) == metav1.DeletePropagationOrphan {
		return metav1.DeletePropagationOrphan
	}
	return policy
}

// PredictDelete returns what the preview of `delete` says about the end of a scenario:
//
//   - the state of every object: deleted, terminating with these finalizers, or not deleted.
//     An object without an outcome stays as it is.
//   - the references of every object that stays and is not terminating.
//   - which objects are backed up.
//   - which objects are gone once other controllers have removed their finalizers, and the number that
//     the command asks for.
//
// An outcome may be nondeterministic, or the object may be deleted later, or an owner may be
// unverified.
func PredictDelete(s scenario.Scenario) []Prediction {
	p := previewOf(s)
	outcomes := map[types.UID]*plan.Outcome{}
	for i := range p.Outcomes {
		outcomes[p.Outcomes[i].Object.UID] = &p.Outcomes[i]
	}
	reserves := reservesOf(p)
	owners := ownersAfter(p)
	lost := map[types.UID]bool{}
	for _, l := range p.LostObjects {
		lost[l.Object.UID] = true
	}
	backedUp := map[types.UID]bool{}
	for _, o := range p.ObjectsToBackUp() {
		backedUp[o.UID] = true
	}
	var out []Prediction
	for i := range s.Objects {
		o := &s.Objects[i]
		said := forecast{state: stateOf(o), references: ownersOf(o), reserve: reserves[o.UID], backedUp: backedUp[o.UID]}
		if outcome := outcomes[o.UID]; outcome != nil && (outcome.When != plan.Later || o.DeletionTimestamp == nil) {
			said.state = outcomeState(outcome)
		}
		if after, changed := owners[o.UID]; changed {
			said.references = formatOwners(after)
		}
		out = append(out, said.predictions(s, o)...)
		out = append(out, predictRelease(s, o, outcomes[o.UID], lost[o.UID], reserves[o.UID], backedUp[o.UID])...)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(reserves)), func(r Reserve) bool { return r != Later }) {
		out = append(out, predictNumber(s, lost))
	}
	return append(out, predictRestoration(s, p))
}

// notRecreated are the reasons why an object is left alone: somebody else had deleted it or its
// Namespace before, its controller creates another, a scenario has no schemas and may leave out
// Namespaces, and an Event is about the past.
var notRecreated = []string{"it was already being deleted", "is no longer served", "its namespace ", "it reports a past event", " exists and creates "}

// predictRestoration returns that a restoration creates each object again that is in the backup and gone
// in the end.
func predictRestoration(s scenario.Scenario, p *plan.Plan) Prediction {
	manifests := map[types.UID]json.RawMessage{}
	for i := range s.Objects {
		manifests[s.Objects[i].UID], _ = json.Marshal(s.Objects[i].PartialObjectMetadata) // it holds only strings
	}
	b := restore.SavedRun{Mode: p.Mode, Manifest: func(o recorded.Saved) (json.RawMessage, error) { return manifests[o.Object.UID], nil }}
	for _, o := range p.ObjectsToBackUp() {
		b.Saved = append(b.Saved, recorded.Saved{Object: o})
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		b.Steps = append(b.Steps, recorded.Step{ID: step.ID, Action: string(step.Action), Requested: step.Requested, Object: step.Object.Identity})
	}
	slices.SortFunc(b.Saved, func(a, b recorded.Saved) int { return a.Object.Compare(b.Object) })
	missing := func(e End) []string {
		var left []scenario.Object
		for i := range s.Objects {
			if o := e.Released().Object(s.Objects[i].UID); o != nil {
				left = append(left, *o)
			}
		}
		plan, created := restore.New(b, Scan(settled(s, left)), restore.Options{}).Plan, map[types.UID]bool{}
		for i := range plan.Steps {
			created[plan.Steps[i].Object.UID] = true
		}
		var out []string
		for _, o := range b.Saved {
			if e.Released().Object(o.Object.UID) == nil && !created[o.Object.UID] {
				why := "without a reason"
				for _, k := range plan.Kept {
					if k.Object.UID == o.Object.UID {
						why = k.Reason.Message()
					}
				}
				if slices.ContainsFunc(notRecreated, func(by string) bool { return strings.Contains(why, by) }) {
					continue
				}
				out = append(out, string(o.Object.UID)+": "+why)
			}
		}
		return out
	}
	return Prediction{
		Command: "delete", Aspect: "restoration", Said: "everything in the backup is there again", None: Wrong, Some: Wrong,
		Holds: func(e End) bool { return len(missing(e)) == 0 }, Describe: func(e End) string { return strings.Join(missing(e), ", ") },
	}
}

// predictRelease returns what the plan says about an object once other controllers have removed their
// finalizers from what the deletions leave terminating.
func predictRelease(s scenario.Scenario, o *scenario.Object, outcome *plan.Outcome, deletes bool, reserve Reserve, backedUp bool) []Prediction {
	mayStay := outcome != nil && outcome.State == plan.Terminating // until something ends that nobody removes: a cycle, or a missing API group
	describe := func(e End) string { return stateOf(e.Released().Object(o.UID)) }
	var out []Prediction
	if reserve != Nondeterministic && reserve != Unverified && (deletes || o.DeletionTimestamp == nil) {
		said := "stays"
		if deletes {
			said = "deleted in the end"
		}
		out = append(out, Prediction{
			Command: "delete", Aspect: "release", Object: o.UID, Said: said, None: Wrong, Some: FalselyCertain, Describe: describe,
			Holds: func(e End) bool {
				return e.Released().Deleted(o.UID) == deletes && (!deletes || mayStay || e.Released().Object(o.UID) == nil) || deletedWithNamespace(s, e.Released(), o)
			},
		})
	}
	if !backedUp && (deletes || o.DeletionTimestamp == nil) {
		out = append(out, Prediction{
			Command: "delete", Aspect: "backup of the release", Object: o.UID, Said: "not backed up", None: NotBackedUp, Some: NotBackedUp, Describe: describe,
			Holds: func(e End) bool { return !e.Released().Deleted(o.UID) || deletedWithNamespace(s, e.Released(), o) },
		})
	}
	return out
}

// predictNumber returns that as many objects are gone in the end as the command asks for.
func predictNumber(s scenario.Scenario, counted map[types.UID]bool) Prediction {
	gone := func(e End) int {
		n := 0
		for i := range s.Objects {
			o := &s.Objects[i]
			if (counted[o.UID] || o.DeletionTimestamp == nil) && e.Released().Deleted(o.UID) && (counted[o.UID] || !deletedWithNamespace(s, e.Released(), o)) {
				n++
			}
		}
		return n
	}
	return Prediction{
		Command: "delete", Aspect: "number", Said: strconv.Itoa(len(counted)), None: Wrong, Some: FalselyCertain,
		Holds: func(e End) bool { return gone(e) == len(counted) }, Describe: func(e End) string { return strconv.Itoa(gone(e)) },
	}
}

// forecast is what is said about the end of one object.
type forecast struct {
	state, references string
	reserve           Reserve
	backedUp          bool
}

// predictions returns what a forecast says about an object.
func (f forecast) predictions(s scenario.Scenario, o *scenario.Object) []Prediction {
	out := []Prediction{{
		Command: "delete", Aspect: "state", Object: o.UID, Said: f.state, Reserve: f.reserve, None: Wrong, Some: FalselyCertain,
		Holds:    func(e End) bool { return stateOf(e.Object(o.UID)) == f.state || deletedWithNamespace(s, e, o) },
		Describe: func(e End) string { return stateOf(e.Object(o.UID)) },
	}}
	if f.state == alive && f.reserve != Nondeterministic {
		out = append(out, Prediction{
			Command: "delete", Aspect: "references", Object: o.UID, Said: f.references, Reserve: f.reserve, None: Wrong, Some: FalselyCertain,
			Holds: func(e End) bool {
				return stateOf(e.Object(o.UID)) != f.state || ownersOf(e.Object(o.UID)) == f.references
			},
			Describe: func(e End) string { return ownersOf(e.Object(o.UID)) },
		})
	}
	if o.DeletionTimestamp == nil && !f.backedUp {
		out = append(out, Prediction{
			Command: "delete", Aspect: "backup", Object: o.UID, Said: "not backed up; the preview: " + f.state, None: NotBackedUp, Some: NotBackedUp,
			Holds:    func(e End) bool { return !e.Deleted(o.UID) || deletedWithNamespace(s, e, o) },
			Describe: func(e End) string { return stateOf(e.Object(o.UID)) },
		})
	}
	return out
}

// outcomeState returns the state that an outcome predicts.
func outcomeState(o *plan.Outcome) string {
	switch {
	case o.When == plan.Later: // as it is
	case o.State == plan.Deleted:
		return gone
	case o.State == plan.Terminating:
		return terminatingState(o.WaitsFor)
	}
	return alive
}

// reservesOf returns the reserves of a plan about single objects.
func reservesOf(p *plan.Plan) map[types.UID]Reserve {
	out := map[types.UID]Reserve{}
	for _, r := range p.Retained {
		if r.Uncertain {
			out[r.Object.UID] = Unverified
		}
	}
	for _, o := range p.Outcomes {
		if o.When == plan.Later {
			out[o.Object.UID] = Later
		}
		if o.Nondeterministic != nil {
			out[o.Object.UID] = Nondeterministic
		}
	}
	return out
}

// ownersAfter returns the references that the objects of a plan's steps are left with.
func ownersAfter(p *plan.Plan) map[types.UID][]object.Reference {
	out := map[types.UID][]object.Reference{}
	for i := range p.Steps {
		t := p.Steps[i].Transition()
		out[t.StateBefore.UID] = t.Change.Apply(*t.StateBefore).Owners
	}
	return out
}

// deletedWithNamespace reports whether an object is an Event whose Namespace was deleted. The
// preview leaves those out.
func deletedWithNamespace(s scenario.Scenario, e End, o *scenario.Object) bool {
	if typeOf(s.Types, o).Resource != "events" {
		return false
	}
	for i := range s.Objects {
		if ns := &s.Objects[i]; ns.Kind == namespace.Kind && ns.APIVersion == "v1" && ns.Name == o.Namespace && e.Deleted(ns.UID) {
			return true
		}
	}
	return false
}
