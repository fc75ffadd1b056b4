package planview_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// saying returns a reason with a given sentence.
func saying(sentence string) *reason.Reason { return reason.Of(said(sentence)) }

type said string

func (s said) Message() string { return string(s) }

func TestPreview(t *testing.T) {
	gone, old := Node("gone"), Deployment("shop/old")
	redis := widget("kube-system/redis-0826")
	exporter := Deployment("monitoring/redis-exporter", OwnedBy(redis))
	web := Deployment("shop/web")
	top := ConfigMap("a/top", OwnedBy(gone))
	left, right := Secret("a/left", OwnedBy(top)), Secret("a/right", OwnedBy(top))
	orphaner := ConfigMap("a/orphaner", OwnedBy(gone), WithFinalizers(object.OrphanFinalizer))
	foreground := ConfigMap("a/foreground", OwnedBy(gone), WithFinalizers(object.ForegroundFinalizer, "x/y"))

	for name, c := range map[string]struct {
		objects []object.Object
		want    string
	}{
		"deletions come first, blocked objects last": {
			[]object.Object{
				redis, exporter, Pod("monitoring/redis-exporter-0", OwnedBy(exporter), Running()),
				web, Secret("shop/restored", OwnedBy(Deployment("shop/web", UID("before")))),
				ConfigMap("shop/shared", OwnedBy(old, web)),
				Object("apps/v1", "ReplicaSet", "shop/api-7c", Foreground()),
				Secret("shop/import", Foreground()), Pod("shop/import-x", Terminating("example.com/hold"), Owned(To(Secret("shop/import"), Blocking))),
			},
			`ACTION            NAMESPACE   OBJECT                     WHY
delete            monitoring  Deployment/redis-exporter  its only owner, Widget/redis-0826, is in another namespace (kube-system), which does not count
                              └─ Pod/redis-exporter-0    its owner is gone; must stop first (grace period)
delete            shop        Secret/restored            its only owner, Deployment/web, was replaced by a new object with the same name
unlink            shop        ConfigMap/shared           Deployment/old does not exist; Deployment/web remains
remove-finalizer  shop        ReplicaSet/api-7c          nothing blocks its foreground deletion anymore
blocked           shop        Secret/import              is blocked by Pod/import-x, which has been held by example.com/hold for 60s
`,
		},
		"an object has one line, below the owner that is deleted last; finalizers block it": {
			[]object.Object{
				top, left, right, Pod("a/bottom", OwnedBy(left, right)),
				Pod("a/held", OwnedBy(left), WithFinalizers("w/1", "x/2", "y/3", "z/4")),
			},
			`ACTION  NAMESPACE  OBJECT            WHY
delete  a          ConfigMap/top     its only owner, Node/gone, does not exist
                   ├─ Secret/left    its owner is gone
                   │  └─ Pod/held    its owner is gone; then it is blocked until controllers remove w/1, x/2, y/3 and 1 more
                   └─ Secret/right   its owner is gone
                      └─ Pod/bottom  no owner is left: Secret/left is deleted before it; Secret/right is deleted before it
`,
		},
		"the steps on one object are one line, in a cycle": {
			[]object.Object{
				ConfigMap("a/one", OwnedBy(Secret("a/two")), Terminating(object.ForegroundFinalizer, "x/y")), Secret("a/two", Owned(To(ConfigMap("a/one"), Blocking))),
			},
			`ACTION            NAMESPACE  OBJECT         WHY
delete            a          Secret/two     its only owner, ConfigMap/one, is being deleted in the foreground and waits for its dependents; its own dependents go first (foreground); its references stop blocking first, to break a cycle; removes its finalizer at the end
remove-finalizer  a          ConfigMap/one  nothing blocks its foreground deletion anymore; then it is blocked until a controller removes x/y
`,
		},
		"dependents of a foreground deletion are deleted before the owner": {
			[]object.Object{foreground, Secret("a/child", Owned(To(foreground, Blocking)))},
			`ACTION  NAMESPACE  OBJECT                WHY
delete  a          ConfigMap/foreground  its only owner, Node/gone, does not exist; its own dependents go first (foreground); removes its finalizer at the end; then it is blocked until a controller removes x/y
                   └─ Secret/child       deleted before its owner
`,
		},
		"orphaned dependents are below their owner, unless they lost a reference before": {
			[]object.Object{orphaner, Secret("a/kept", OwnedBy(orphaner)), Secret("a/twice", OwnedBy(orphaner, gone))},
			`ACTION  NAMESPACE  OBJECT              WHY
delete  a          ConfigMap/orphaner  its only owner, Node/gone, does not exist; its own dependents stay (finalizer orphan); removes its finalizer at the end
unlink             └─ Secret/kept      its owner ConfigMap/orphaner is being deleted and orphans its dependents
unlink  a          Secret/twice        Node/gone does not exist; ConfigMap/orphaner remains; then removes 1 more reference
`,
		},
		"several missing owners are named": {
			[]object.Object{web, ConfigMap("shop/shared", OwnedBy(old, gone, web))},
			`ACTION  NAMESPACE  OBJECT            WHY
unlink  shop       ConfigMap/shared  Deployment/old does not exist; Node/gone does not exist; Deployment/web remains
`,
		},
		"the contents of a namespace or definition are counted, with their dependents below": {
			[]object.Object{
				Namespace("doomed", OwnedBy(gone)), Pod("doomed/a"), Secret("doomed/b", WithFinalizers("x/y")), ConfigMap("doomed/c", OwnedBy(Secret("doomed/b"))),
				CRD("widgets.example.com", OwnedBy(gone)), widget("shop/w"), Secret("shop/of-w", OwnedBy(widget("shop/w"))),
				Namespace("empty", OwnedBy(gone)),
			},
			`ACTION   NAMESPACE  OBJECT                                        WHY
delete   -          CustomResourceDefinition/widgets.example.com  its only owner, Node/gone, does not exist
                    ├─ 1 object of its kind                       deleted with it
         shop       └─ Secret/of-w                                its only owner, Widget/w, is deleted before it
delete   -          Namespace/doomed                              its only owner, Node/gone, does not exist; then it waits for its contents to be deleted
                    └─ 3 objects in it                            deleted with it, 1 of them blocked
delete   -          Namespace/empty                               its only owner, Node/gone, does not exist
blocked  doomed     Secret/b                                      is held by x/y
`,
		},
		"an empty plan writes nothing": {[]object.Object{web}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := made(c.objects, Absent("v1", "Node", "gone"), Absent("apps/v1", "Deployment", "shop/old"))
			if diff := cmp.Diff(c.want, previewed(t, p, 0, color.Never)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPreviewColours(t *testing.T) {
	gone, web := Node("gone"), Deployment("a/web")
	top := ConfigMap("a/top", OwnedBy(gone))
	p := made([]object.Object{
		web, top, Pod("a/below", OwnedBy(top), Running()), Secret("a/shared", OwnedBy(gone, web)), Secret("a/stuck", Foreground()),
		Pod("a/stuck", Terminating("x/y"), Owned(To(Secret("a/stuck"), Blocking))),
	}, Absent("v1", "Node", "gone"))
	got := previewed(t, p, 0, color.Always)
	for _, want := range []string{
		"\x1b[31mdelete\x1b[0m", "\x1b[31mConfigMap/top\x1b[0m", "└─ \x1b[31mPod/below\x1b[0m",
		"\x1b[2mits owner is gone\x1b[22m; \x1b[33mmust stop first (grace period)\x1b[0m",
		"\x1b[33munlink\x1b[0m", "\x1b[33mSecret/shared\x1b[0m", "\x1b[33mblocked\x1b[0m", "\x1b[33mSecret/stuck\x1b[0m",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if plain := previewed(t, p, 0, color.Never); strings.Contains(plain, "\x1b") {
		t.Errorf("unexpected colour: %q", plain)
	}
}

func TestPreviewOfStrangeNames(t *testing.T) {
	strange := object.Identity{APIVersion: "v1", Kind: "Po\x1b[31md", Namespace: "a\u202eb", Name: "x\ndelete  shop  Secret/forged", UID: "u"}
	long := object.Identity{APIVersion: "v1", Kind: "Pod", Name: strings.Repeat("y", 102400), UID: "v"}
	p := &plan.Plan{
		Steps: []plan.Step{
			{ID: "1", Action: plan.ActionDelete, Object: plan.ObjectState{Identity: strange}, Reason: saying("its only owner, Node/\x1b]0;x\x07, is gone")},
			{ID: "2", Action: "re\nlink", Object: plan.ObjectState{Identity: long}, Reason: saying(strings.Repeat("z", 102400))},
		},
		Outcomes: []plan.Outcome{{Object: strange, State: plan.Terminating, WaitsFor: []string{"x/\u200b"}}},
		Blocked:  []plan.Blocked{{Object: strange, Reason: saying("is held by x/\u200b")}},
	}
	cells := func(line string) []string {
		var out []string
		for _, cell := range strings.Split(line, "  ") {
			if cell = strings.TrimSpace(cell); cell != "" {
				out = append(out, cell)
			}
		}
		return out
	}
	var got [][]string
	for _, line := range strings.Split(strings.TrimSuffix(previewed(t, p, 0, color.Never), "\n"), "\n")[1:] {
		got = append(got, cells(line))
	}
	object := []string{`a\u202eb`, `Po\x1b[31md/x\ndelete`, "shop", "Secret/forged"}
	want := [][]string{
		append(append([]string{"delete"}, object...), `its only owner, Node/\x1b]0;x\x07, is gone; then it is held by x/\u200b`),
		{`re\nlink`, "-", "Pod/" + strings.Repeat("y", 396) + "…(102404 bytes)", strings.Repeat("z", 400) + "…(102400 bytes)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPreviewOfManyLines(t *testing.T) {
	var objects []object.Object
	for i := range 5 {
		objects = append(objects, ConfigMap(fmt.Sprintf("a/%d", i), OwnedBy(Node("gone"))))
	}
	p := made(append(objects, Namespace("b", OwnedBy(Node("gone"))), Pod("b/x"), Secret("a/stuck", Terminating(object.ForegroundFinalizer)),
		Pod("a/stuck", Terminating("x/y"), Owned(To(Secret("a/stuck"), Blocking)))), Absent("v1", "Node", "gone"))
	for limit, want := range map[int]string{
		0: "", 8: "", 9: "",
		7: "", // what is blocked is named beyond the limit
		4: "… and 2 more lines: to see every line, use -o wide",
		1: "… and 5 more lines: to see every line, use -o wide",
	} {
		lines := strings.Split(strings.TrimSuffix(previewed(t, p, limit, color.Never), "\n"), "\n")
		last := lines[len(lines)-1]
		shown := len(lines) - 1
		if want == "" && (shown != 8 || strings.HasPrefix(last, "…")) || want != "" && (shown != limit+3 || last != want) {
			t.Errorf("limit %d: got\n%s", limit, strings.Join(lines, "\n"))
		}
	}
}

// A plan from a file may have cycles.
func TestPreviewOfCyclicSteps(t *testing.T) {
	step := func(id, name, follows string, action plan.Action) plan.Step {
		return plan.Step{ID: id, Action: action, Follows: follows, Object: plan.ObjectState{Identity: object.Identity{Kind: "Pod", Namespace: "a", Name: name}}, Reason: saying("why")}
	}
	p := &plan.Plan{Steps: []plan.Step{
		step("1", "x", "2", plan.ActionUnlink), step("2", "y", "3", plan.ActionDelete), step("3", "x", "2", plan.ActionDelete),
		step("4", "z", "4", plan.ActionDelete), step("5", "w", "no such step", plan.ActionDelete), step("6", "x", "6", plan.ActionDelete),
	}}
	want := `ACTION  NAMESPACE  OBJECT    WHY
delete  a          Pod/y     why
                   └─ Pod/x  why; also: delete
delete  a          Pod/z     why
delete  a          Pod/w     why
`
	if diff := cmp.Diff(want, previewed(t, p, 0, color.Never)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriteErrorsAreReturned(t *testing.T) {
	want := errors.New("pipe closed")
	p := made([]object.Object{ConfigMap("a/x", OwnedBy(Node("gone")))}, Absent("v1", "Node", "gone"))
	none := color.New(color.Never, false, false)
	if _, err := planview.Preview(broken{want}, p, 0, none); !errors.Is(err, want) {
		t.Errorf("Preview: got %v", err)
	}
	if err := planview.Unfinished(broken{want}, p, []event.Result{{Status: event.Failed}}, none); !errors.Is(err, want) {
		t.Errorf("Unfinished: got %v", err)
	}
}

func TestPreviewDoesNotChangeThePlan(t *testing.T) {
	make := func() *plan.Plan {
		return made([]object.Object{ConfigMap("a/x", OwnedBy(Node("gone"))), Pod("a/y", OwnedBy(ConfigMap("a/x")))}, Absent("v1", "Node", "gone"))
	}
	p := make()
	previewed(t, p, 1, color.Always)
	if diff := cmp.Diff(make(), p, cmpopts.IgnoreTypes(&simulate.Transition{}), cmpopts.IgnoreUnexported(plan.Plan{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// shapes are plans whose layout would be slow if it were quadratic, or too deep if it
// recursed.
var shapes = map[string]func(n int) *plan.Plan{
	"a chain":             func(n int) *plan.Plan { return following(n, func(i int) int { return i - 1 }) },
	"roots":               func(n int) *plan.Plan { return following(n, func(int) int { return -1 }) },
	"one root with all":   func(n int) *plan.Plan { return following(n, func(int) int { return 0 }) },
	"branches of two":     func(n int) *plan.Plan { return following(n, func(i int) int { return (i - 1) / 2 }) },
	"steps on one object": onOneObject,
	"a chain, from the most urgent step to the least": func(n int) *plan.Plan {
		p := following(n, func(i int) int { return i - 1 })
		stepsOf := []plan.Action{plan.ActionDelete, plan.ActionUnlink, plan.ActionUnblock, plan.ActionRemoveFinalizer}
		for i := range p.Steps {
			p.Steps[i].Action = stepsOf[len(stepsOf)*i/n]
		}
		return p
	},
}

func following(n int, follows func(i int) int) *plan.Plan {
	p := &plan.Plan{Steps: make([]plan.Step, n)}
	for i := range p.Steps {
		p.Steps[i] = plan.Step{
			ID: fmt.Sprint(i), Action: plan.ActionDelete, Follows: fmt.Sprint(follows(i)), Reason: saying("why"),
			Object: plan.ObjectState{Identity: object.Identity{Kind: "Pod", Namespace: "a", Name: fmt.Sprint(i)}},
		}
	}
	return p
}

func onOneObject(n int) *plan.Plan {
	p := following(n, func(i int) int { return i - 1 })
	for i := range p.Steps {
		p.Steps[i].Object.Name = "same"
	}
	return p
}

func TestPreviewOfLargePlans(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			n := 50_000
			if name == "a chain" {
				n = 200_000
			}
			p := shape(n)
			lines := strings.Split(strings.TrimSuffix(previewed(t, p, 100, color.Never), "\n"), "\n")
			rest := fmt.Sprintf("… and %s more lines: to see every line, use -o wide", wording.Thousands(n-100))
			switch {
			case name == "steps on one object":
				if len(lines) != 2 {
					t.Errorf("got %d lines", len(lines))
				}
			case len(lines) != 102 || lines[101] != rest:
				t.Errorf("got %d lines, the last is %s", len(lines), lines[len(lines)-1])
			case name == "a chain" && !strings.Contains(lines[100], "⋯ 99 levels down: Pod/99"):
				t.Errorf("got %s", lines[100])
			}
		})
	}
}

func TestPreviewOfLargePlanWithoutLimit(t *testing.T) {
	for _, name := range []string{"a chain", "roots"} {
		got := previewed(t, shapes[name](20_000), 0, color.Never)
		if n := strings.Count(got, "\n"); n != 20_001 || strings.Contains(got, "…") || len(got) > 20_000*400 {
			t.Errorf("%s: got %d lines of %d bytes", name, n, len(got))
		}
	}
}
