package simulate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

const cleanup = "customresourcecleanup.apiextensions.k8s.io"

// describeState describes the state that the API server leaves.
func describeState(o *object.Object) string {
	if o == nil {
		return "gone"
	}
	words := []string{"alive"}
	if o.Terminating() {
		words[0] = "terminating"
	}
	if o.InGracePeriod() {
		words = append(words, fmt.Sprintf("in %ds", *o.GraceSeconds))
	}
	if len(o.Finalizers) > 0 {
		words = append(words, strings.Join(o.Finalizers, " "))
	}
	return strings.Join(words, ": ")
}

// docs/gc-semantics.md#finalizers-after-a-delete, and upstream's
// TestStoreDeletionPropagation and TestStoreDeleteWithOrphanDependents for
// explicit policies. orphanDependents true and false are the policies Orphan and
// Background.
func TestFinalizersAfterADelete(t *testing.T) {
	const foreground, background, orphaning, none = metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan, ""
	for _, test := range []struct {
		finalizers string
		policy     metav1.DeletionPropagation
		want       string
	}{
		{"", foreground, collectortest.Foreground},
		{"", background, "gone"},
		{"", orphaning, collectortest.Orphan},
		{"", none, "gone"},
		{collectortest.Orphan, foreground, collectortest.Foreground},
		{collectortest.Orphan, background, "gone"},
		{collectortest.Orphan, orphaning, collectortest.Orphan},
		{collectortest.Orphan, none, collectortest.Orphan},
		{collectortest.Foreground, foreground, collectortest.Foreground},
		{collectortest.Foreground, background, "gone"},
		{collectortest.Foreground, orphaning, collectortest.Orphan},
		{collectortest.Foreground, none, collectortest.Foreground},
		// Others stay in their order; what is new stands at the end.
		{"a/a b/b", foreground, "a/a b/b " + collectortest.Foreground},
		{"a/a b/b", background, "a/a b/b"},
		{"a/a b/b", orphaning, "a/a b/b " + collectortest.Orphan},
		{"a/a b/b", none, "a/a b/b"},
		// What was there before keeps its place.
		{"a/a " + collectortest.Orphan + " b/b", orphaning, "a/a " + collectortest.Orphan + " b/b"},
		{"a/a " + collectortest.Orphan + " b/b", none, "a/a " + collectortest.Orphan + " b/b"},
		{"a/a " + collectortest.Orphan + " b/b", background, "a/a b/b"},
		{"a/a " + collectortest.Orphan + " b/b", foreground, "a/a b/b " + collectortest.Foreground},
		{"a/a " + collectortest.Foreground + " b/b", foreground, "a/a " + collectortest.Foreground + " b/b"},
		{"a/a " + collectortest.Foreground + " b/b", none, "a/a " + collectortest.Foreground + " b/b"},
		{"a/a " + collectortest.Foreground + " b/b", background, "a/a b/b"},
		{"a/a " + collectortest.Foreground + " b/b", orphaning, "a/a b/b " + collectortest.Orphan},
		// Both at once are invalid today. One is removed, so the order changes.
		{collectortest.Foreground + " a/a " + collectortest.Orphan, foreground, "a/a " + collectortest.Foreground},
		{collectortest.Foreground + " a/a " + collectortest.Orphan, orphaning, "a/a " + collectortest.Orphan},
		{collectortest.Foreground + " a/a " + collectortest.Orphan, background, "a/a"},
		{collectortest.Foreground + " a/a " + collectortest.Orphan, none, "a/a " + collectortest.Foreground},
		{collectortest.Orphan + " " + collectortest.Foreground, none, collectortest.Orphan},
	} {
		name := fmt.Sprintf("%s of an object with %s", or(string(test.policy), "no policy"), or(test.finalizers, "no finalizers"))
		t.Run(name, func(t *testing.T) {
			want := "terminating: " + test.want
			if test.want == "gone" {
				want = test.want
			}
			alive := st.ConfigMap("ns/o", st.WithFinalizers(strings.Fields(test.finalizers)...))
			if got := describeState(simulate.StateAfterDelete(&alive, test.policy, nil, st.Taken)); got != want {
				t.Errorf("alive: got %q, want %q", got, want)
			}
			if test.finalizers == "" {
				return // nothing would hold it
			}
			// A later DELETE swaps the finalizer of a terminating object.
			terminating := st.ConfigMap("ns/o", st.Terminating(strings.Fields(test.finalizers)...))
			if got := describeState(simulate.StateAfterDelete(&terminating, test.policy, nil, st.Taken)); got != want {
				t.Errorf("terminating: got %q, want %q", got, want)
			}
		})
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// See docs/gc-semantics.md#delete-request, #graceful-pods and
// #first-delete-of-a-namespace-or-crd.
func TestStateAfterADelete(t *testing.T) {
	const background, foreground = metav1.DeletePropagationBackground, metav1.DeletePropagationForeground
	for _, test := range []struct {
		name   string
		object object.Object
		policy metav1.DeletionPropagation
		want   string
	}{
		{"an object that somebody holds stays, terminating", st.Secret("ns/o", st.WithFinalizers("x/y")), background, "terminating: x/y"},
		{"a second DELETE of it changes nothing", st.Secret("ns/o", st.Terminating("x/y")), background, "terminating: x/y"},
		{"a DELETE in the background ends a foreground deletion", st.Secret("ns/o", st.Foreground()), background, "gone"},
		{"and an orphaning", st.Secret("ns/o", st.Terminating(collectortest.Orphan)), background, "gone"},

		{"a Pod that runs is given time to stop", st.Pod("ns/p", st.Running()), background, "terminating: in 30s"},
		{"a Pod that does not run goes at once", st.Pod("ns/p"), background, "gone"},
		{"the collector's finalizer goes together with that time", st.Pod("ns/p", st.Running()), foreground, "terminating: in 30s: " + collectortest.Foreground},
		{"so do those of others", st.Pod("ns/p", st.Running(), st.WithFinalizers("x/y")), background, "terminating: in 30s: x/y"},
		{"while a Pod stops, a DELETE is ignored", st.Pod("ns/p", st.Running(), st.InGracePeriod()), foreground, "terminating: in 30s"},
		{"not even one that would strip a finalizer", st.Pod("ns/p", st.Running(), st.InGracePeriod(), st.WithFinalizers(collectortest.Foreground)), background, "terminating: in 30s: " + collectortest.Foreground},
		{"a Pod whose time is over is held by finalizers alone", st.Pod("ns/p", st.Running(), st.Terminating(collectortest.Foreground)), background, "gone"},

		{"a Namespace stays until it is empty", st.Namespace("n"), background, "terminating"},
		{"its DELETE follows the policy", st.Namespace("n", st.WithFinalizers("x/y", collectortest.Orphan)), foreground, "terminating: x/y " + collectortest.Foreground},
		{"a second DELETE of it does nothing before it is empty", st.Namespace("n", st.Terminating(collectortest.Foreground)), background, "terminating: " + collectortest.Foreground},
		{"a CustomResourceDefinition stays until its instances are gone", st.CRD("widgets.example.com"), background, "terminating: " + cleanup},
		{"its first DELETE ignores the policy", st.CRD("widgets.example.com", st.WithFinalizers(collectortest.Orphan)), foreground, "terminating: " + collectortest.Orphan + " " + cleanup},
		{"its second DELETE does not", st.CRD("widgets.example.com", st.Terminating(collectortest.Orphan, cleanup)), background, "terminating: " + cleanup},
		{"its finalizer is added once", st.CRD("widgets.example.com", st.WithFinalizers(cleanup, "x/y")), background, "terminating: " + cleanup + " x/y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.object
			got := simulate.StateAfterDelete(&test.object, test.policy, nil, st.Taken.Add(time.Hour))
			if describeState(got) != test.want {
				t.Errorf("got %q, want %q", describeState(got), test.want)
			}
			if describeState(&before) != describeState(&test.object) {
				t.Errorf("the object itself became %q", describeState(&test.object))
			}
			if got != nil && before.Terminating() && !got.Deleted.Equal(*before.Deleted) {
				t.Error("a terminating object got another deletion timestamp")
			}
		})
	}
}

// See docs/gc-semantics.md#graceful-pods.
func TestStateAfterADeleteWithAGracePeriod(t *testing.T) {
	const background, foreground = metav1.DeletePropagationBackground, metav1.DeletePropagationForeground
	for _, test := range []struct {
		name    string
		object  object.Object
		policy  metav1.DeletionPropagation
		seconds int64
		want    string
		end     time.Duration // of the grace period after the scan, if the Pod stays
	}{
		{"a Pod that runs is given that time", st.Pod("ns/p", st.Running()), background, 5, "terminating: in 5s", 5 * time.Second},
		{"or none", st.Pod("ns/p", st.Running()), background, 0, "gone", 0},
		{"finalizers keep it without a grace period", st.Pod("ns/p", st.Running(), st.WithFinalizers("x/y")), foreground, 0, "terminating: x/y " + collectortest.Foreground, 0},
		{"one that does not run needs no time", st.Pod("ns/p"), background, 5, "gone", 0},
		{"nor does anything else", st.Secret("ns/o"), background, 5, "gone", 0},
		{"a longer time than a stopping Pod has is ignored", st.Pod("ns/p", st.InGracePeriodUntil(20*time.Second)), foreground, 60, "terminating: in 30s", 20 * time.Second},
		{"so is the same", st.Pod("ns/p", st.InGracePeriodUntil(20*time.Second)), foreground, 30, "terminating: in 30s", 20 * time.Second},
		{"a shorter one counts from the beginning", st.Pod("ns/p", st.InGracePeriodUntil(20*time.Second)), background, 15, "terminating: in 15s", 5 * time.Second},
		{"and ends now at the earliest", st.Pod("ns/p", st.InGracePeriodUntil(20*time.Second)), background, 1, "terminating: in 1s", 0},
		{"unless it was over before", st.Pod("ns/p", st.InGracePeriodUntil(-time.Minute)), background, 1, "terminating: in 1s", -89 * time.Second},
		{"with it the policy counts", st.Pod("ns/p", st.InGracePeriodUntil(20*time.Second)), foreground, 15, "terminating: in 15s: " + collectortest.Foreground, 5 * time.Second},
		{"a stopping Pod goes at once without any time", st.Pod("ns/p", st.InGracePeriod()), background, 0, "gone", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := simulate.StateAfterDelete(&test.object, test.policy, &test.seconds, st.Taken)
			if describeState(got) != test.want {
				t.Errorf("got %q, want %q", describeState(got), test.want)
			}
			if want := st.Taken.Add(test.end); got != nil && !got.Deleted.Equal(want) {
				t.Errorf("the deletion timestamp is %s, want %s", got.Deleted, want)
			}
		})
	}
}

// docs/gc-semantics.md#deletion-by-an-update
func TestStateAfterAPatch(t *testing.T) {
	owner := st.Pod("ns/owner")
	drop, free := object.Change{Drop: []int{0}}, object.Change{RemoveFinalizer: collectortest.Foreground}
	for _, test := range []struct {
		name   string
		object object.Object
		change object.Change
		want   string
	}{
		{"the last finalizer of a terminating object takes it along", st.Secret("ns/o", st.Foreground()), free, "gone"},
		{"that of an object which is not terminating does not", st.Secret("ns/o", st.WithFinalizers(collectortest.Foreground)), free, "alive"},
		{"one finalizer of several does not", st.Secret("ns/o", st.Terminating("x/y", collectortest.Foreground)), free, "terminating: x/y"},
		{"a finalizer that is not there changes nothing", st.Secret("ns/o", st.Terminating("x/y")), free, "terminating: x/y"},
		{"a Pod that has yet to stop stays", st.Pod("ns/p", st.InGracePeriod(), st.WithFinalizers(collectortest.Foreground)), free, "terminating: in 30s"},
		{"a Namespace waits for its contents all the same", st.Namespace("n", st.Foreground()), free, "terminating"},
		{"a reference goes and the object stays", st.Secret("ns/o", st.OwnedBy(owner)), drop, "alive"},
		{"so it does of one that is terminating", st.Secret("ns/o", st.OwnedBy(owner), st.Terminating("x/y")), drop, "terminating: x/y"},
		{"one that is terminating without a finalizer goes with any change", st.Secret("ns/o", st.OwnedBy(owner), st.Terminating()), drop, "gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describeState(simulate.StateAfterPatch(&test.object, test.change)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
