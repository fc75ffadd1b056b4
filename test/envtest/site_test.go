package envtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-gc/kubectl-gc/pkg/gctest"
)

// TestDeletingSiteDeletesWhatTheOperatorCreated runs one scenario on an API server alone, and again
// with gctest. Without it, the operator's test would fail.
func TestDeletingSiteDeletesWhatTheOperatorCreated(t *testing.T) {
	deletions := []struct {
		policy          metav1.DeletionPropagation
		alone, expected []string // the kinds that are left, without gctest and with it
	}{
		{metav1.DeletePropagationBackground, []string{"ConfigMap", "Deployment"}, nil},
		{metav1.DeletePropagationForeground, []string{"Site", "ConfigMap", "Deployment"}, nil},
		{metav1.DeletePropagationOrphan, []string{"Site", "ConfigMap", "Deployment"}, []string{"ConfigMap", "Deployment"}},
	}
	e := newEnvironment(t)

	for _, d := range deletions {
		site := named("early", d.policy)
		e.createSite(site)
		e.delete(site, d.policy)
		e.requireLeft(site, d.alone)
	}

	gc, err := gctest.Start(e.ctx, e.config, gctest.Options{DeletesEverythingOn: e.started})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gc.Stop)
	for _, d := range deletions {
		late := named("late", d.policy)
		e.createSite(late)
		e.delete(late, d.policy)
		if err := gc.WaitForIdle(e.ctx); err != nil {
			t.Fatal(err)
		}
		e.requireLeft(late, d.expected)
		e.requireLeft(named("early", d.policy), d.expected)
	}
}

// named returns a Site that is deleted before gctest starts or after that, by a policy.
func named(when string, policy metav1.DeletionPropagation) *Site {
	return &Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: when + "-" + strings.ToLower(string(policy))},
		Spec:       SiteSpec{Page: "hello"},
	}
}

// createSite creates a Site and waits until the operator has created the last object for it.
func (e environment) createSite(site *Site) {
	e.Helper()
	if err := e.Create(e.ctx, site); err != nil {
		e.Fatal(err)
	}
	err := wait.PollUntilContextCancel(e.ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		return e.exists(server(site)), nil
	})
	if err != nil {
		e.Fatalf("wait for the operator: %v", err)
	}
}

func (e environment) delete(site *Site, policy metav1.DeletionPropagation) {
	e.Helper()
	if err := e.Delete(e.ctx, site, client.PropagationPolicy(policy)); err != nil {
		e.Fatal(err)
	}
}

// requireLeft checks which of a Site and its dependents exist.
func (e environment) requireLeft(site *Site, want []string) {
	e.Helper()
	var got []string
	for _, o := range []struct {
		kind string
		client.Object
	}{{"Site", site}, {"ConfigMap", page(site)}, {"Deployment", server(site)}} {
		if e.exists(o.Object) {
			got = append(got, o.kind)
		}
	}
	if !slices.Equal(got, want) {
		e.Errorf("%v are left of %s, want %v", got, site.Name, want)
	}
}

func (e environment) exists(o client.Object) bool {
	e.Helper()
	err := e.Get(e.ctx, client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		e.Fatal(err)
	}
	return err == nil
}
