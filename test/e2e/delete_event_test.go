package e2e

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// The collector does not watch Events, but it polls one that a watched object names as its owner.
func TestD6TheRealCollectorDeletesAnEventWithItsOwner(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("event")
	owner := s.create(secret(ns, "owner"))
	between := s.create(event(ns, "between", ownedBy(referenceTo(owner))))
	below := s.create(configMap(ns, "below", ownedBy(reference("events.k8s.io/v1", "Event", "between", between.GetUID())))) // the API server accepts no v1 Event as an owner
	d := &deletion{name: ns, targets: []object{owner}, policy: []metav1.DeletionPropagation{metav1.DeletePropagationBackground}, namespaces: []string{ns}}
	d.preview(s.scan(scan.Scope{}))
	d.begin(s)
	for _, o := range d.targets {
		d.requireOutcome(s, o, plan.Deleted)
	}
	d.requireOutcome(s, between, plan.Deleted)
	d.requireOutcome(s, below, plan.Deleted)
	s.await("the Event and its dependent to go", func(context.Context) (bool, error) { return s.gone(between) && s.gone(below), nil })
}
