package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// needed returns a line per need.
func needed(needs []object.Right) []string {
	out := []string{}
	for _, n := range needs {
		var names []string
		for _, o := range n.Objects {
			names = append(names, o.Name)
		}
		out = append(out, fmt.Sprintf("%s %s in %q: %s", n.Verb, n.Objects[0].Kind, n.Objects[0].Namespace, strings.Join(names, " ")))
	}
	return out
}

// making returns a plan that creates objects.
func making(objects ...object.Object) *plan.Plan {
	p := &plan.Plan{Mode: plan.Restore}
	for _, o := range objects {
		p.Steps = append(p.Steps, plan.Step{Action: plan.ActionCreate, Object: plan.ObjectState{Identity: o.Identity}})
	}
	return p
}

// linking returns a plan that restores references.
func linking(objects ...object.Object) *plan.Plan {
	p := &plan.Plan{Mode: plan.Restore}
	for _, o := range objects {
		s := plan.Step{Action: plan.ActionLink, Object: plan.ObjectState{Identity: o.Identity}}
		for _, r := range o.Owners {
			s.References = append(s.References, plan.StepReference{Reference: r})
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func TestNeeds(t *testing.T) {
	owner := Secret("a/owner")
	binding := func(kind, at string) object.Object { return Object("rbac.authorization.k8s.io/v1", kind, at) }
	cascade := []Part{Listing(owner, ConfigMap("a/x", OwnedBy(owner)), ConfigMap("a/y", OwnedBy(owner, stays)), stays)}
	for name, c := range map[string]struct {
		plan  *plan.Plan
		asked bool
		read  bool
		want  []string
	}{
		"a pass deletes, unlinks and releases": {
			planOf(Listing(
				Secret("a/x", OwnedBy(gone)), Secret("b/x", OwnedBy(ConfigMap("b/gone"))), Secret("a/y", OwnedBy(gone)),
				Secret("a/shared", OwnedBy(gone, stays)), stays, waiting,
			), absent, Absent("v1", "ConfigMap", "b/gone")),
			false, false,
			[]string{`patch ConfigMap in "a": waiting`, `patch Secret in "a": shared`, `delete Secret in "a": x y`, `delete Secret in "b": x`},
		},
		"what goes is read before": {
			planOf(Listing(Secret("a/x", OwnedBy(gone)), Secret("a/shared", OwnedBy(gone, stays)), stays), absent), false, true,
			[]string{`get Secret in "a": x`, `patch Secret in "a": shared`, `delete Secret in "a": x`},
		},
		"a deletion that the cluster goes on with takes the right to what was asked for": {
			deleting(New(cascade...), inBackground, owner), true, false, []string{`delete Secret in "a": owner`},
		},
		"one that is done from here takes those to what follows": {
			deleting(New(cascade...), inBackground, owner), false, false,
			[]string{`delete Secret in "a": owner`, `patch ConfigMap in "a": y`, `delete ConfigMap in "a": x`},
		},
		"and what goes along with it is read before, too": {
			deleting(New(Serving(TypesWithContents()...), Listing(Namespace("a"), Secret("a/x"))), inBackground, Namespace("a")), true, true,
			[]string{`get Namespace in "": a`, `get Secret in "a": x`, `delete Namespace in "": a`},
		},
		"a repair patches, and reads what it mends": {
			repairOf(plan.RepairOptions{}, Listing(Secret("a/x", OwnedBy(gone)), stays), absent), false, true,
			[]string{`get Secret in "a": x`, `patch Secret in "a": x`},
		},
		"a restoration makes": {
			making(Secret("a/x"), Role("a/r")), false, true, []string{},
		},
		"what is linked again is read before, and patched unless its controller may do that": {
			linking(ConfigMap("a/x"), ConfigMap("a/y", Owned(To(owner, Controlling)))), false, true,
			[]string{`get ConfigMap in "a": x y`, `patch ConfigMap in "a": x`},
		},
		"what is made where nobody knows yet who may what": {
			making(Namespace("a"), Secret("a/x"), binding("RoleBinding", "b/bound"), Secret("b/x"), Secret("c/x")), false, true,
			[]string{`create Namespace in "": a`, `create Secret in "c": x`},
		},
		"what is made once somebody may do it everywhere": {
			making(Secret("c/x"), binding("ClusterRoleBinding", "bound")), false, true, []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var read []object.Identity
			if c.read && c.plan.Mode != plan.Restore {
				read = c.plan.ObjectsToBackUp()
			}
			if diff := cmp.Diff(c.want, needed(c.plan.Needs(c.asked, read))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// No permission list shows the rules of admission plugins, so one step per kind is tried.
func TestPreflightSamples(t *testing.T) {
	p := planOf(Listing(
		Secret("a/x", OwnedBy(gone, stays)), Secret("a/y", OwnedBy(gone, stays)), Secret("b/x", OwnedBy(ConfigMap("b/gone"), ConfigMap("b/stays"))),
		ConfigMap("b/stays"), Pod("a/doomed", OwnedBy(gone)), stays, waiting,
	), absent, Absent("v1", "ConfigMap", "b/gone"))
	var got []string
	for _, s := range p.PreflightSamples() {
		got = append(got, fmt.Sprintf("%s %s/%s", s.Action, s.Object.Namespace, s.Object.Name))
	}
	if diff := cmp.Diff([]string{"unlink a/x", "unlink b/x"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A later step depends on the result of the first one.
func TestPreflightSampleIsFirstStepOfItsObject(t *testing.T) {
	owner := ConfigMap("a/owner")
	p := repairOf(plan.RepairOptions{}, Listing(Secret("a/x", Owned(To(owner, WithUID("old")), To(gone))), owner), absent)
	if len(p.Steps) != 2 || len(p.PreflightSamples()) != 1 || p.PreflightSamples()[0].ID != p.Steps[0].ID {
		t.Errorf("of %d steps the samples are %+v", len(p.Steps), p.PreflightSamples())
	}
}
