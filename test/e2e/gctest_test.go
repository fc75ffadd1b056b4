package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/gctest"
)

func TestGCTestCollectsWhatTheRealCollectorWould(t *testing.T) {
	s := newScene(t)
	gc, err := gctest.Start(t.Context(), s.config, gctest.Options{DeletesEverythingOn: strings.TrimPrefix(s.config.Host, "https://")})
	s.must(err)
	defer gc.Stop()
	ns := s.namespace("gctest")
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			owner := s.create(configMap(ns, "owner-"+fmt.Sprint(len(policy))))
			var below []object
			for i := range 3 {
				child := s.create(secret(ns, fmt.Sprintf("child-%d-%d", len(policy), i), ownedBy(referenceTo(owner, blocking))))
				below = append(below, child, s.create(configMap(ns, child.GetName(), ownedBy(referenceTo(child)))))
			}
			s.remove(owner, policy)
			s.must(gc.WaitForIdle(t.Context()))
			for _, o := range below {
				if kept := !s.gone(o); kept != (policy == metav1.DeletePropagationOrphan) {
					t.Errorf("%s %s is kept: %v", o.GetKind(), o.GetName(), kept)
				}
			}
			if !s.gone(owner) {
				t.Error("the owner is still there")
			}
		})
	}
}
