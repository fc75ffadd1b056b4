package plan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func asJSON(t interface{ Fatal(...any) }, p *plan.Plan) string {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDigestCoversWhatIsConfirmed(t *testing.T) {
	at := func(version string, more ...Option) *plan.Plan {
		o := Secret("a/x", append([]Option{OwnedBy(gone)}, more...)...)
		o.ResourceVersion = version
		return planOf(absent, Listing(o))
	}
	if at("1").Digest() != at("2").Digest() {
		t.Error("a resourceVersion, which nobody is shown, changes it")
	}
	for name, other := range map[string]*plan.Plan{
		"another policy":  at("1", WithFinalizers(object.OrphanFinalizer)),
		"another object":  at("1", UID("other")),
		"another outcome": at("1", WithFinalizers("x/y")),
		"one step more":   planOf(absent, Listing(Secret("a/x", OwnedBy(gone)), Secret("a/y", OwnedBy(gone)))),
	} {
		if other.Digest() == at("1").Digest() {
			t.Errorf("%s does not change it", name)
		}
	}
}

func TestDigestCoversGaps(t *testing.T) {
	with := func(gaps ...snapshot.Gap) string {
		s := New(absent, Listing(Secret("a/x", OwnedBy(gone))))
		s.Gaps = gaps
		return plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(nil)).Digest()
	}
	widgets := snapshot.Gap{Group: "example.com", Resource: "widgets", Reason: snapshot.Forbidden, Message: "no"}
	changed := func(change func(*snapshot.Gap)) snapshot.Gap {
		g := widgets
		change(&g)
		return g
	}
	gadgets := changed(func(g *snapshot.Gap) { g.Resource = "gadgets" })
	for name, other := range map[string]string{
		"no gap":            with(),
		"another group":     with(changed(func(g *snapshot.Gap) { g.Group = "example.org" })),
		"another resource":  with(gadgets),
		"another namespace": with(changed(func(g *snapshot.Gap) { g.Namespace = "a" })),
		"another name":      with(changed(func(g *snapshot.Gap) { g.Name = "one" })),
		"another reason":    with(changed(func(g *snapshot.Gap) { g.Reason = snapshot.Unavailable })),
		"one gap more":      with(widgets, gadgets),
	} {
		if other == with(widgets) {
			t.Errorf("%s does not change the digest", name)
		}
	}
	if with(widgets) != with(changed(func(g *snapshot.Gap) { g.Message = "not today" })) {
		t.Error("the server's words for a gap change the digest")
	}
	if with(widgets, gadgets) != with(gadgets, widgets, changed(func(g *snapshot.Gap) { g.Message = "not today" })) {
		t.Error("the order of the gaps, or a gap that is named twice, changes the digest")
	}
}

// digestOf returns the digest of a plan as it is now.
func digestOf(p *plan.Plan) string {
	now := &plan.Plan{
		Mode: p.Mode, Complete: p.Complete, Gaps: p.Gaps, AcceptedGaps: p.AcceptedGaps, Steps: p.Steps, Outcomes: p.Outcomes,
		Blocked: p.Blocked, Retained: p.Retained, Kept: p.Kept, Lost: p.Lost,
	}
	return now.Digest()
}

func TestPlanIsIndependentOfInputOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t)
		shuffled := *s
		shuffled.Objects, shuffled.Types = Reversed(s.Objects), Reversed(s.Types)
		shuffled.Lookups, shuffled.Listed, shuffled.Gaps = Reversed(s.Lookups), Reversed(s.Listed), Reversed(s.Gaps)
		shuffled.Normalize()
		want := asJSON(t, plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(nil)))
		if diff := cmp.Diff(want, asJSON(t, plan.New(collector.NewJudge(graph.New(&shuffled)), plan.CollectPurpose(nil)))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDigestCoversReasonsAndReferences(t *testing.T) {
	of := func(change func(*plan.Plan)) string {
		p := planOf(absent, Listing(Secret("a/x", OwnedBy(gone)), Secret("a/y", OwnedBy(gone))))
		change(p)
		return digestOf(p)
	}
	before := of(func(*plan.Plan) {})
	changed := map[string]string{
		"another reason":          of(func(p *plan.Plan) { p.Steps[0].Reason = reason.CycleBroken }),
		"no reason":               of(func(p *plan.Plan) { p.Steps[0].Reason = nil }),
		"another parameter":       of(func(p *plan.Plan) { p.Steps[0].Reason = reason.Of(reason.OwnersLost{}) }),
		"another order":           of(func(p *plan.Plan) { p.Steps[0], p.Steps[1] = p.Steps[1], p.Steps[0] }),
		"another predecessor":     of(func(p *plan.Plan) { p.Steps[1].After = []string{"1"} }),
		"no reference":            of(func(p *plan.Plan) { p.Steps[0].References = nil }),
		"another owner":           of(func(p *plan.Plan) { p.Steps[0].References[0].UID = "other" }),
		"another verdict":         of(func(p *plan.Plan) { p.Steps[0].References[0].Verdict = collector.VerdictWaiting }),
		"another time":            of(func(p *plan.Plan) { p.Outcomes[0].When = plan.Later }),
		"something to wait for":   of(func(p *plan.Plan) { p.Outcomes[0].WaitsFor = []string{"x/y"} }),
		"lost data":               of(func(p *plan.Plan) { p.Outcomes[0].Data = &simulate.Data{Lost: simulate.DataLost} }),
		"an uncertain outcome":    of(func(p *plan.Plan) { p.Outcomes[0].Nondeterministic = reason.NotReached }),
		"something that is kept":  of(func(p *plan.Plan) { p.Kept = []plan.Kept{{}} }),
		"something that is lost":  of(func(p *plan.Plan) { p.Lost = []plan.Lost{{}} }),
		"something that is left":  of(func(p *plan.Plan) { p.Retained = []plan.Retained{{}} }),
		"left for another reason": of(func(p *plan.Plan) { p.Retained = []plan.Retained{{Reason: reason.NotReached}} }),
		"an outcome less":         of(func(p *plan.Plan) { p.Outcomes = p.Outcomes[1:] }),
		"a step less, not listed": of(func(p *plan.Plan) { p.Steps = p.Steps[:1] }),
		"an incomplete scan":      of(func(p *plan.Plan) { p.Complete = false }),
	}
	for name, other := range changed {
		if other == before {
			t.Errorf("%s does not change it", name)
		}
		for otherName, o := range changed {
			if o == other && otherName != name {
				t.Errorf("%s and %s give the same digest", name, otherName)
			}
		}
	}
	if of(func(p *plan.Plan) { p.Blocked = []plan.Blocked{{Reason: reason.NothingBlocks}} }) != before {
		t.Error("how long something has been waiting changes it")
	}
}

// No reason that the digest covers has another reason, with its message, among its parameters.
func TestDigestLeavesOutProse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plan.New(collector.NewJudge(graph.New(Draw(t))), plan.CollectPurpose(nil))
		for _, s := range p.Steps {
			parameters, err := json.Marshal(s.Reason.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(parameters, []byte(`"message":`)) {
				t.Errorf("%s %s: %s", s.Action, s.Object, parameters)
			}
		}
	})
}

func TestDigestOfManyEscapesTakesLinearTime(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{ID: strings.Repeat("\"\n", 4<<20)}}}
	if begun := time.Now(); len(p.Digest()) != 16 || time.Since(begun) > 10*time.Second {
		t.Errorf("it took %s", time.Since(begun))
	}
}
