package planview_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// totals returns the totals of a plan for a screen with that many lines, or an empty string if
// it fits.
func totals(t interface{ Fatal(...any) }, p *plan.Plan, screen int) string {
	var out bytes.Buffer
	written, err := planview.Totals(&out, p, screen, 1000, color.New(color.Never, false, false))
	if err != nil {
		t.Fatal(err)
	}
	if written == (out.Len() == 0) {
		t.Fatal("it does not tell whether it has written")
	}
	return out.String()
}

// many returns as many objects, with numbered names.
func many(n int, create func(name string) object.Object) []object.Object {
	out := make([]object.Object, n)
	for i := range out {
		out[i] = create(fmt.Sprintf("%s-%d", "x", i))
	}
	return out
}

func TestTotals(t *testing.T) {
	web, old, api := Deployment("shop/web"), Deployment("shop/old"), Deployment("shop/api")
	objects := []object.Object{
		api, ConfigMap("shop/shared", OwnedBy(old, api)),
		Namespace("team", OwnedBy(Node("gone"))), Secret("team/a"), claim("team/data"),
		Secret("kube-system/token", OwnedBy(old)),
		web, Secret("shop/restored", OwnedBy(Deployment("shop/web", UID("before")))),
		Secret("shop/import", Foreground()), Pod("shop/import-x", Terminating("example.com/hold"), Owned(To(Secret("shop/import"), Blocking))),
	}
	objects = append(objects, many(30, func(name string) object.Object { return Pod("shop/"+name, OwnedBy(old)) })...)
	for _, owner := range objects[len(objects)-30:] {
		objects = append(objects, ConfigMap("shop/below-"+owner.Name, OwnedBy(owner)))
	}
	want := `ACTION   NAMESPACE    OBJECT                      WHY
delete   kube-system  Secret/token                its only owner, Deployment/old, does not exist
delete   shop         Secret/restored             its only owner, Deployment/web, was replaced by a new object with the same name
delete   -            Namespace/team              its only owner, Node/gone, does not exist; 2 objects in it: deleted with it
delete   team         PersistentVolumeClaim/data  deleted with Namespace/team; its data may be deleted
blocked  shop         Secret/import               is blocked by Pod/import-x, which has been held by example.com/hold for 60s

ACTION   KIND                   OBJECTS  NAMESPACE
delete   ConfigMap              30       shop
delete   Pod                    30       shop
delete   Secret                 3        3 namespaces
delete   Namespace              1        -
delete   PersistentVolumeClaim  1        team
unlink   ConfigMap              1        shop
blocked  Secret                 1        shop

CAUSE                                                           NAMESPACE     DELETES  CHANGES
Deployment/old does not exist                                   2 namespaces  61       1
Node/gone does not exist                                        -             3        0
Deployment/web was replaced by a new object with the same name  shop          1        0
These are totals of 66 lines: to see every line, use -o wide.
`
	p := made(objects)
	if diff := cmp.Diff(want, totals(t, p, 40)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := totals(t, p, 66); got != "" {
		t.Errorf("it fits on the screen: %s", got)
	}
}

func TestTotalsSumUpTheRest(t *testing.T) {
	var objects []object.Object
	for i := range 14 {
		owner := Deployment(fmt.Sprintf("shop/d%02d", i))
		objects = append(objects, many(14-i, func(name string) object.Object {
			return Pod("shop/"+owner.Name+name, OwnedBy(owner))
		})...)
	}
	got := totals(t, made(objects), 40)
	for _, want := range []string{"\nDeployment/d00 does not exist  shop       14       0\n", "\nDeployment/d09 does not exist  shop       5        0\n", "\nand 4 more causes              shop       10       0\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "d10") {
		t.Error(got)
	}
}

func TestTotalsOfADeletionNameWhatIsRequested(t *testing.T) {
	owner := ConfigMap("shop/owner")
	objects := append(many(50, func(name string) object.Object { return Pod("shop/"+name, OwnedBy(owner)) }), owner, claim("shop/data", OwnedBy(owner)))
	g := graph.New(New(Serving(Workloads()...), Listing(objects...)))
	p := plan.New(collector.NewJudge(g), plan.DeleteOptions(collector.ActorControllerManager, simulate.Deletion{Node: g.Find(owner.UID), Policy: metav1.DeletePropagationBackground}))
	got := totals(t, p, 40)
	for _, want := range []string{"\ndelete  shop       PersistentVolumeClaim/data  its only owner, ConfigMap/owner, is deleted before it; its data may be deleted\n", "\ndelete  Pod                    50       shop\n", "\nConfigMap/owner: requested  shop       52       0\n"} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestTotalsNameContentsWithTheirContainer(t *testing.T) {
	objects := append(many(60, func(name string) object.Object { return Pod("shop/"+name, OwnedBy(Node("gone"))) }),
		Namespace("team", OwnedBy(Node("gone"))), claim("team/held", WithFinalizers("x/y")))
	if got, want := totals(t, made(objects), 40), "PersistentVolumeClaim/held  deleted with Namespace/team; then it is blocked until a controller removes x/y; its data may be deleted\n"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}

func TestTotalsAreLeftOutWhereTheyAreHardlyShorter(t *testing.T) {
	several := []object.Object{Secret("a/x", OwnedBy(Node("gone"))), ConfigMap("a/y", OwnedBy(Node("other"))), Pod("a/z", OwnedBy(Node("third")))}
	if got := totals(t, made(several), 2); got != "" {
		t.Error(got)
	}
	if got := totals(t, made(many(60, func(name string) object.Object { return claim("shop/"+name, OwnedBy(Node("gone"))) })), 40); got != "" {
		t.Error(got)
	}
}

func TestTotalsReportAFailedWrite(t *testing.T) {
	want := errors.New("disk full")
	p := made(many(60, func(name string) object.Object { return Pod("shop/"+name, OwnedBy(Node("gone"))) }))
	if _, err := planview.Totals(broken{want}, p, 40, 1000, color.New(color.Never, false, false)); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// Every line is counted once by action and kind, and every step's object once by cause. What is
// critical or blocked is named.
func TestTotalsCountEverything(t *testing.T) {
	one, two := regexp.MustCompile(` {2,}([0-9,]+)(?: {2,}|\n|$)`), regexp.MustCompile(` {2,}([0-9,]+) {2,}([0-9,]+)\n`)
	sum := func(text string, number *regexp.Regexp) (total int) {
		for line := range strings.Lines(text) {
			for _, digits := range append(number.FindStringSubmatch(line), "")[1:] {
				n, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
				total += n
			}
		}
		return total
	}
	written := 0
	rapid.Check(t, func(t *rapid.T) {
		s := DrawBusy(t)
		for i := range 40 { // otherwise most lines would have to be named
			o := Secret(fmt.Sprintf("b/more-%d", i), OwnedBy(Node("gone")))
			s.Objects = append(s.Objects, &o)
		}
		s.Lookups = append(s.Lookups, New(Absent("v1", "Node", "gone")).Lookups...)
		s.Normalize()
		p := plan.New(collector.NewJudge(graph.New(s)), plan.Options{Mode: plan.Collect})
		got := totals(t, p, 0)
		if got == "" {
			return
		}
		written++
		named, rest, _ := strings.Cut("\n"+got, "\nACTION ")
		if strings.Contains(rest, "\nACTION ") {
			named, rest, _ = strings.Cut(rest, "\nACTION ")
		}
		kinds, causes, _ := strings.Cut(rest, "\nCAUSE ")
		rows, acted := planview.Rows(p), 0
		for _, r := range rows {
			if r.Action != "" {
				acted++
			}
		}
		if n := sum(kinds, one); n != len(rows) {
			t.Errorf("%d objects by kind, and %d lines:\n%s", n, len(rows), got)
		}
		if n := sum(causes, two); n != acted {
			t.Errorf("%d objects by cause, and %d of the steps:\n%s", n, acted, got)
		}
		for _, b := range p.Blocked {
			if !strings.Contains(named, escape.Line(b.Object.String())) {
				t.Errorf("%s is blocked, and not named:\n%s", b.Object, got)
			}
		}
		for _, name := range planview.CriticalDeletions(p) {
			name, _, _ = strings.Cut(name, ":")
			name, _, _ = strings.Cut(name, " -n ")
			if !strings.Contains(named, name) {
				t.Errorf("%s is critical, and not named:\n%s", name, got)
			}
		}
	})
	if written == 0 {
		t.Error("no plan was written as totals")
	}
}

func TestTotalsEscapeNames(t *testing.T) {
	owner := Deployment("shop/o\x1b[31m\nwner")
	got := totals(t, made(many(60, func(name string) object.Object { return Pod("shop/"+name, OwnedBy(owner)) })), 40)
	if strings.ContainsFunc(got, func(r rune) bool { return escape.Hidden(r) && r != '\n' }) || strings.Count(got, "\n") != 6 {
		t.Errorf("%q", got)
	}
}
