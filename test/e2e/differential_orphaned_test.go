package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOrphanedUnderWrongName(t *testing.T) {
	const owner, dependent, below = 0, 1, 2
	orphaning := partState{Terminating: true, Finalizers: []string{metav1.FinalizerOrphanDependents}}
	for name, c := range map[string]struct {
		owner partState
		ref   partRef // of the dependent
		part  int
		want  bool
	}{
		"a wrong kind":                 {orphaning, partRef{apiVersion: "v1", kind: "Service", name: owner, uid: owner}, dependent, true},
		"a wrong name":                 {orphaning, partRef{apiVersion: "v1", kind: "Secret", name: -1, uid: owner}, dependent, true},
		"of its owner":                 {orphaning, partRef{apiVersion: "v1", kind: "Secret", name: -1, uid: owner}, below, true},
		"a valid reference":            {orphaning, partRef{apiVersion: "v1", kind: "Secret", name: owner, uid: owner}, dependent, false},
		"an owner that is not deleted": {partState{}, partRef{apiVersion: "v1", kind: "Service", name: owner, uid: owner}, dependent, false},
		"a UID that does not exist":    {orphaning, partRef{apiVersion: "v1", kind: "Secret", name: owner, uid: -1}, dependent, false},
		"the owner that is orphaning":  {orphaning, partRef{apiVersion: "v1", kind: "Service", name: owner, uid: owner}, owner, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &blueprint{parts: []part{
				{apiVersion: "v1", kind: "Secret"},
				{apiVersion: "v1", kind: "ConfigMap", refs: []partRef{c.ref}},
				{apiVersion: "v1", kind: "ConfigMap", refs: []partRef{{apiVersion: "v1", kind: "ConfigMap", name: dependent, uid: dependent}}},
			}}
			if got := b.orphanedUnderWrongName(c.part, graphState{roleOf(owner): c.owner}); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
