package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func at(version string, o object.Object) object.Object {
	o.ResourceVersion = version
	return o
}

func TestRevalidate(t *testing.T) {
	x, y := at("1", Secret("a/x", OwnedBy(gone))), at("1", Pod("a/y", OwnedBy(Secret("a/x"))))
	saved := planOf(absent, Listing(x, y, at("1", Secret("a/z", OwnedBy(gone)))))
	for name, c := range map[string]struct {
		now  []Part
		want []string
	}{
		"nothing has changed": {
			[]Part{absent, Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))))},
			[]string{"1 delete x []", "2 delete z []", "3 delete y [1]"},
		},
		"one object was written to": {
			[]Part{absent, Listing(x, y, at("2", Secret("a/z", OwnedBy(gone))))},
			[]string{"1 delete x []", "3 delete y [1]", "stale z: it changed since the plan was made"},
		},
		"one object is gone": {
			[]Part{absent, Listing(x, y)},
			[]string{"1 delete x []", "3 delete y [1]", "stale z: the garbage collector would no longer change it"},
		},
		"an owner is there after all": {
			[]Part{Found(gone), Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))))},
			[]string{
				"stale x: the garbage collector would no longer change it",
				"stale z: the garbage collector would no longer change it",
				"stale y: the garbage collector would no longer change it",
			},
		},
		"the same is done for another reason": {
			[]Part{Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))), ConfigMap("a/gone", UID("successor")))},
			[]string{
				"3 delete y []",
				"stale x: the garbage collector would now do something else with it, or for another reason",
				"stale z: the garbage collector would now do something else with it, or for another reason",
			},
		},
		"there is more to do by now": {
			[]Part{absent, Listing(x, y, at("1", Secret("a/z", OwnedBy(gone))), Secret("a/a", OwnedBy(gone)))},
			[]string{"1 delete x []", "2 delete z []", "3 delete y [1]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			renewed, stale := plan.Revalidate(saved, planOf(c.now...))
			if renewed.Digest != saved.Digest {
				t.Error("it is not the plan that was confirmed")
			}
			if _, err := plan.Load(bytes.NewReader(save(t, renewed.Finalized())), 1<<30); err != nil {
				t.Errorf("what is left of it cannot be read back: %v", err)
			}
			got := []string{}
			for _, s := range renewed.Steps {
				got = append(got, fmt.Sprintf("%s %s %s %v", s.ID, s.Action, s.Object.Name, s.After))
			}
			for _, s := range stale {
				got = append(got, fmt.Sprintf("stale %s: %s", s.Step.Object.Name, s.Reason.Message()))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("renewed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRevalidateRefusesMoreContents(t *testing.T) {
	node := Node("gone")
	doomed := at("1", Namespace("doomed", OwnedBy(node)))
	definition := at("1", CRD("widgets.example.com", OwnedBy(node)))
	widget := func(name string, with ...Option) object.Object {
		return at("1", Object("example.com/v1", "Widget", "a/"+name, with...))
	}
	inside, other := at("1", Secret("doomed/inside")), at("1", Secret("a/other", OwnedBy(gone)))
	garbage := at("1", Secret("doomed/inside", OwnedBy(ConfigMap("doomed/gone"))))
	absentToo := Absent("v1", "ConfigMap", "doomed/gone")
	for name, c := range map[string]struct {
		saved, fresh []object.Object
		want         []string
	}{
		"nothing came or went": {
			[]object.Object{doomed, inside, other},
			[]object.Object{doomed, inside, other},
			[]string{"delete doomed", "delete other", "inside goes along with doomed"},
		},
		"something in it is gone": {
			[]object.Object{doomed, inside, other},
			[]object.Object{doomed, other},
			[]string{"delete doomed", "delete other"},
		},
		"something in it was written to": {
			[]object.Object{doomed, inside, other},
			[]object.Object{doomed, at("2", inside), other},
			[]string{"delete doomed", "delete other", "inside goes along with doomed"},
		},
		"something came to be in it": {
			[]object.Object{doomed, inside, other},
			[]object.Object{doomed, inside, at("1", Secret("doomed/new")), other},
			[]string{"delete other", "refused doomed: more would be deleted with it than the plan shows: Secret/new"},
		},
		"something in it was replaced by another of its name": {
			[]object.Object{doomed, inside, other},
			[]object.Object{doomed, at("1", Secret("doomed/inside", UID("another"))), other},
			[]string{"delete other", "refused doomed: more would be deleted with it than the plan shows: Secret/inside"},
		},
		"what was garbage by itself changed, and would go along unsaved": {
			[]object.Object{doomed, garbage},
			[]object.Object{doomed, at("2", garbage)},
			[]string{
				"refused doomed: what would be deleted with it is no longer part of the plan: Secret/inside",
				"refused inside: it changed since the plan was made",
			},
		},
		"what was in it came to be garbage by itself": {
			[]object.Object{doomed, inside},
			[]object.Object{doomed, at("2", garbage)},
			[]string{"refused doomed: what would be deleted with it is no longer part of the plan: Secret/inside"},
		},
		"an instance of a definition came": {
			[]object.Object{definition, widget("one")},
			[]object.Object{definition, widget("one"), widget("two")},
			[]string{"refused widgets.example.com: more would be deleted with it than the plan shows: Widget/two"},
		},
		"an instance of a definition is gone": {
			[]object.Object{definition, widget("one"), widget("two")},
			[]object.Object{definition, widget("two")},
			[]string{"delete widgets.example.com", "two goes along with widgets.example.com"},
		},
		"the definition that its contents went along with is refused": {
			[]object.Object{doomed, definition, at("1", Object("example.com/v1", "Widget", "doomed/both"))},
			[]object.Object{doomed, definition, at("1", Object("example.com/v1", "Widget", "doomed/both")), widget("new")},
			[]string{
				"refused doomed: what would be deleted with it is no longer part of the plan: Widget/both",
				"refused widgets.example.com: more would be deleted with it than the plan shows: Widget/new",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			planned := func(objects []object.Object) *plan.Plan {
				return planOf(Serving(TypesWithContents()...), absent, absentToo, Absent("v1", "Node", "gone"), Listing(objects...))
			}
			renewed, stale := plan.Revalidate(planned(c.saved), planned(c.fresh))
			got := []string{}
			names := map[string]string{}
			for _, s := range renewed.Steps {
				names[s.ID] = s.Object.Name
				got = append(got, fmt.Sprintf("%s %s", s.Action, s.Object.Name))
			}
			for _, o := range renewed.Outcomes {
				if o.Follows != "" {
					got = append(got, fmt.Sprintf("%s goes along with %s", o.Object.Name, names[o.Follows]))
				}
			}
			for _, s := range stale {
				got = append(got, fmt.Sprintf("refused %s: %s", s.Step.Object.Name, s.Reason.Message()))
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("renewed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewGaps(t *testing.T) {
	widgets := snapshot.Gap{Group: "example.com", Resource: "widgets", Reason: snapshot.Forbidden, Message: "no"}
	moved := func(change func(*snapshot.Gap)) snapshot.Gap {
		g := widgets
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		fresh snapshot.Gap
		isNew bool
	}{
		"the same":              {widgets, false},
		"other words":           {moved(func(g *snapshot.Gap) { g.Message = "not today" }), false},
		"another reason":        {moved(func(g *snapshot.Gap) { g.Reason = snapshot.TimedOut }), false},
		"another type":          {moved(func(g *snapshot.Gap) { g.Resource = "gadgets" }), true},
		"another group":         {moved(func(g *snapshot.Gap) { g.Group = "example.org" }), true},
		"another namespace":     {moved(func(g *snapshot.Gap) { g.Namespace = "a" }), true},
		"a single lost owner":   {moved(func(g *snapshot.Gap) { g.Name = "one" }), true},
		"all types of no group": {snapshot.Gap{Group: snapshot.All, Resource: snapshot.All}, true},
	} {
		got := plan.NewGaps(&plan.Plan{Gaps: []snapshot.Gap{widgets}}, &plan.Plan{Gaps: []snapshot.Gap{c.fresh}})
		if (len(got) > 0) != c.isNew {
			t.Errorf("%s: %v", name, got)
		}
	}
}
