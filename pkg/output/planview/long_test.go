package planview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// many returns as many objects, with numbered names.
func many(n int, create func(name string) object.Object) []object.Object {
	out := make([]object.Object, n)
	for i := range out {
		out[i] = create(fmt.Sprintf("x-%02d", i))
	}
	return out
}

func TestLongPreviewNamesWhatMustBeSeen(t *testing.T) {
	web, old, api := Deployment("shop/web"), Deployment("shop/old"), Deployment("shop/api")
	objects := append(many(30, func(name string) object.Object { return ConfigMap("a/"+name, OwnedBy(old)) }),
		api, ConfigMap("shop/shared", OwnedBy(old, api)),
		Namespace("team", OwnedBy(Node("gone"))), Secret("team/a"), claim("team/data"),
		Secret("kube-system/token", OwnedBy(old)),
		web, Secret("shop/restored", OwnedBy(Deployment("shop/web", UID("before")))),
		Secret("shop/import", Foreground()), Pod("shop/import-x", Terminating("example.com/hold"), Owned(To(Secret("shop/import"), Blocking))),
	)
	want := `ACTION   NAMESPACE    OBJECT                      WHY
delete   a            ConfigMap/x-00              its only owner, Deployment/old, does not exist
delete   a            ConfigMap/x-01              its only owner, Deployment/old, does not exist
delete   kube-system  Secret/token                its only owner, Deployment/old, does not exist
delete   shop         Secret/restored             its only owner, Deployment/web, was replaced by a new object with the same name
delete   -            Namespace/team              its only owner, Node/gone, does not exist; 2 objects in it: deleted with it
delete   team         PersistentVolumeClaim/data  deleted with Namespace/team; its data may be deleted
blocked  shop         Secret/import               is blocked by Pod/import-x, which has been held by example.com/hold for 60s
… and 30 more lines: to see every line, use -o wide
`
	if diff := cmp.Diff(want, previewed(t, made(objects), 2, color.Never)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A person sees by name what is critical, blocked or uncertain, however short the preview is, and every other
// line is counted.
func TestLongPreviewHidesNothingThatMustBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := DrawBusy(t)
		p := plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(nil))
		limit := rapid.IntRange(1, 10).Draw(t, "limit")
		var out strings.Builder
		left, err := planview.Preview(&out, p, limit, color.New(color.Never, false, false))
		if err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if left < 0 || (left > 0) != strings.Contains(got, " more line") {
			t.Errorf("%d lines are left:\n%s", left, got)
		}
		if left == 0 { // what is in a namespace or of a definition has a number then
			return
		}
		named := []string{}
		for _, b := range p.Blocked {
			named = append(named, escape.Line(b.Object.String()))
		}
		for _, o := range p.Outcomes {
			if o.Nondeterministic != nil {
				named = append(named, escape.Line(o.Object.String()))
			}
		}
		for _, text := range planview.CriticalDeletions(p) {
			text, _, _ = strings.Cut(text, ":")
			text, _, _ = strings.Cut(text, ", later")
			text, _, _ = strings.Cut(text, " -n ")
			named = append(named, text)
		}
		for _, name := range named {
			if !strings.Contains(got, name) {
				t.Errorf("%s is not named:\n%s", name, got)
			}
		}
	})
}
