package plan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func save(t interface{ Fatal(...any) }, p *plan.Plan) []byte {
	var b bytes.Buffer
	if err := p.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSaveAndLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plan.New(collector.NewJudge(graph.New(Draw(t))), plan.Options{Mode: plan.Collect})
		p.ClusterUID = rapid.StringMatching("[a-z0-9-]*").Draw(t, "cluster") // the digest does not cover it
		got, err := plan.Load(bytes.NewReader(save(t, p)), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got, cmpopts.IgnoreFields(plan.Step{}, "Transition")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLoadRefusesInvalidFiles(t *testing.T) {
	whole := string(save(t, planOf(absent, Listing(Secret("a/x", OwnedBy(gone))))))
	for name, c := range map[string]struct{ file, want string }{
		"nothing":                         {"", "the file is empty"},
		"something else":                  {"hello", "not a plan: invalid character"},
		"another kind of ours":            {`{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Snapshot"}`, `it holds a "Snapshot", not a plan`},
		"a later format":                  {strings.Replace(whole, "v1alpha1", "v1", 1), `the plan has format "kubectl-gc.dev/v1"`},
		"a plan cut off":                  {whole[:strings.Index(whole, `"outcomes"`)], "not a plan: unexpected end of JSON input"},
		"a field that we do not know":     {strings.Replace(whole, `"mode"`, `"modus"`, 1), `this version of the program cannot read the plan: json: unknown field "modus": make a new one`},
		"two plans":                       {whole + whole, "not a plan: invalid character '{' after top-level value"},
		"a plan that somebody has edited": {strings.Replace(whole, "Secret/a/x", "Secret/a/y", 1), "the plan was changed after it was made"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Load(strings.NewReader(c.file), 1<<30)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestDigestCoversWhatIsConfirmed(t *testing.T) {
	at := func(version string, more ...Option) *plan.Plan {
		o := Secret("a/x", append([]Option{OwnedBy(gone)}, more...)...)
		o.ResourceVersion = version
		return planOf(absent, Listing(o))
	}
	if at("1").Digest != at("2").Digest {
		t.Error("a resourceVersion, which nobody is shown, changes it")
	}
	for name, other := range map[string]*plan.Plan{
		"another policy":  at("1", WithFinalizers(object.OrphanFinalizer)),
		"another object":  at("1", UID("other")),
		"another outcome": at("1", WithFinalizers("x/y")),
		"one step more":   planOf(absent, Listing(Secret("a/x", OwnedBy(gone)), Secret("a/y", OwnedBy(gone)))),
	} {
		if other.Digest == at("1").Digest {
			t.Errorf("%s does not change it", name)
		}
	}
}

func TestDigestCoversGaps(t *testing.T) {
	with := func(gaps ...snapshot.Gap) string {
		s := New(absent, Listing(Secret("a/x", OwnedBy(gone))))
		s.Gaps = gaps
		return plan.New(collector.NewJudge(graph.New(s)), plan.Options{Mode: plan.Collect}).Digest
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

func TestDigestCoversCompleteness(t *testing.T) {
	p := planOf(absent, Listing(Secret("a/x", OwnedBy(gone))))
	complete := p.Finalized().Digest
	p.Complete = false
	if p.Finalized().Digest == complete {
		t.Error("a complete and an incomplete scan have the same digest")
	}
}

func TestPlanIsIndependentOfInputOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t)
		shuffled := *s
		shuffled.Objects, shuffled.Types = Reversed(s.Objects), Reversed(s.Types)
		shuffled.Lookups, shuffled.Listed, shuffled.Gaps = Reversed(s.Lookups), Reversed(s.Listed), Reversed(s.Gaps)
		shuffled.Normalize()
		want := save(t, plan.New(collector.NewJudge(graph.New(s)), plan.Options{}))
		if diff := cmp.Diff(string(want), string(save(t, plan.New(collector.NewJudge(graph.New(&shuffled)), plan.Options{})))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnconfirmedPlanGetsItsDigestWhenFinalized(t *testing.T) {
	judge := collector.NewJudge(graph.New(New(absent, Listing(Secret("a/x", OwnedBy(gone))))))
	confirmed := plan.New(judge, plan.Options{Mode: plan.Collect})
	p := plan.New(judge, plan.Options{Mode: plan.Collect, Unconfirmed: true})
	if p.Digest != "" || confirmed.Digest == "" || p.Finalized().Digest != confirmed.Digest || p.Summary != confirmed.Summary {
		t.Errorf("%q, finalized %q, want none and then %q", p.Digest, p.Finalized().Digest, confirmed.Digest)
	}
}
