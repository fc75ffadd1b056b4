package planrun_test

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestCheckContentsRefusesNewContents(t *testing.T) {
	widget := func(at string) object.Object { return Object("example.com/v1", "Widget", at) }
	for name, c := range map[string]struct {
		there, appears object.Object
		want           string
	}{
		"a namespace":              {Namespace("a"), Secret("a/new"), "failed ContentsAdded Secret/new"},
		"elsewhere":                {Namespace("a"), Secret("b/new"), "done"},
		"a definition":             {CRD("widgets.example.com"), widget("b/new"), "failed ContentsAdded Widget/new"},
		"of another type":          {CRD("widgets.example.com"), Secret("b/new"), "done"},
		"another of the same name": {Namespace("a"), Secret("a/x", UID("successor")), "failed ContentsAdded Secret/x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := deletionScenario(simulate.Own, metav1.DeletePropagationBackground, c.there, Secret("a/x"))
			s.onRequest("contents "+c.there.Name, 1, func() { s.server.create(c.appears) })
			s.checkResults(t, s.run(t.Context()), "delete "+c.there.Name+": "+c.want)
			if kept := s.server.state(c.there.UID) != nil; kept == (c.want == "done") {
				t.Errorf("it is there: %v", kept)
			}
		})
	}
}

func TestCheckContentsRefusesContentsThatCannotBeListed(t *testing.T) {
	s := deletionScenario(simulate.Own, metav1.DeletePropagationBackground, Namespace("a"), Secret("a/x"))
	s.failAll("contents a", errors.New("no route to host"))
	s.checkResults(t, s.run(t.Context()), "delete a: failed ContentsNotListed no route to host")
	s.checkRequests(t, writes)

	s = deletionScenario(simulate.Own, metav1.DeletePropagationBackground, Namespace("a"), Secret("a/x"))
	s.onRequest("contents a", 1, func() {
		s.server.base.Listed = slices.DeleteFunc(slices.Clone(s.server.base.Listed), func(l snapshot.Listing) bool { return l.Resource == "secrets" })
		s.server.base.Gaps = []snapshot.Gap{{Resource: "secrets", Reason: snapshot.Forbidden}}
	})
	s.checkResults(t, s.run(t.Context()), "delete a: failed ContentsIncomplete secrets (forbidden)")
	s.checkRequests(t, writes)
}

func TestCheckContentsRunsAgainAfterAConflict(t *testing.T) {
	s := deletionScenario(simulate.Own, metav1.DeletePropagationBackground, Namespace("a"), Secret("a/x"))
	s.onRequest("delete a", 1, func() {
		s.server.edit("Namespace/a", func(*object.Object) {})
		s.server.create(Secret("a/new"))
	})
	s.checkResults(t, s.run(t.Context()), "delete a: failed ContentsAdded Secret/new")
}

func TestCheckContentsRefusesNewContentsInARequestedOnlyRun(t *testing.T) {
	s := deletionScenario(simulate.Cluster, metav1.DeletePropagationBackground, Namespace("a"), Secret("a/x"))
	s.options.RequestedOnly = true
	s.onRequest("contents a", 1, func() { s.server.create(Secret("a/new")) })
	s.checkResults(t, s.run(t.Context()), "delete a: failed ContentsAdded Secret/new")
	s.checkRequests(t, writes)
}

// The other contents go once the Pod is gone, without another step of this run: see
// docs/gc-semantics.md#contents-of-a-namespace.
func TestD1ContentsThatWaitForAPodAreBackedUp(t *testing.T) {
	for name, predictor := range map[string]simulate.Predictor{"client": simulate.Own, "controller manager": simulate.Cluster} {
		t.Run(name, func(t *testing.T) {
			s := deletionScenario(predictor, metav1.DeletePropagationBackground, Namespace("a"), Pod("a/p", WithFinalizers("x/y")), Secret("a/x"))
			s.options.RequestedOnly = name == "controller manager"
			s.checkResults(t, s.run(t.Context()), "delete a: done")
			s.checkRequests(t, []string{"backup"}, "backup a", "backup p", "backup x")
		})
	}
}
