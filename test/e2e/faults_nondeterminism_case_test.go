package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A PriorityClass, #0, is being orphaned. #1 has its UID in a reference, usually with another
// name, and was deleted while PriorityClasses could not be listed. Without faults, #1 stays and
// has no owners.
func TestDeletionIsNondeterministicOnlyWithAnUnreadOrphaningOwner(t *testing.T) {
	const class, dependent, other = 0, 1, 2
	astray := partRef{apiVersion: "v1", kind: "Service", name: class, uid: class}
	type setting struct {
		*faultScenario
		before, after, baseline graphState
		unlisted                map[int]bool
	}
	for name, test := range map[string]struct {
		but              func(*setting)
		nondeterministic bool
	}{
		"a kind without an object of that name": {func(*setting) {}, true},
		"a name that does not exist": {func(s *setting) {
			s.parts[dependent].refs[0] = partRef{apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", name: -1, uid: class}
		}, true},
		"the name of another object": {func(s *setting) {
			s.parts[dependent].refs[0] = partRef{apiVersion: "v1", kind: "ConfigMap", name: other, uid: class}
		}, true},
		"another owner that never existed": {func(s *setting) {
			s.parts[dependent].refs = append(s.parts[dependent].refs, partRef{apiVersion: "v1", kind: "Secret", name: -1, uid: -2})
		}, true},

		"an owner that is not being deleted": {func(s *setting) { s.before[roleOf(class)] = partState{} }, false},
		"an owner in foreground deletion": {func(s *setting) {
			s.before[roleOf(class)] = partState{Terminating: true, Finalizers: []string{metav1.FinalizerDeleteDependents}}
		}, false},
		"an owner with an orphan finalizer that is not being deleted": {func(s *setting) {
			s.before[roleOf(class)] = partState{Finalizers: []string{metav1.FinalizerOrphanDependents}}
		}, false},
		"the owner's own name and kind": {func(s *setting) {
			s.parts[dependent].refs[0] = partRef{apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", name: class, uid: class}
		}, false},
		"another owner that exists": {func(s *setting) {
			s.parts[dependent].refs = append(s.parts[dependent].refs, partRef{apiVersion: "v1", kind: "ConfigMap", name: other, uid: other})
		}, false},
		"another owner that existed until the run": {func(s *setting) {
			s.parts[dependent].refs = append(s.parts[dependent].refs, partRef{apiVersion: "v1", kind: "ConfigMap", name: other, uid: other})
			s.after[roleOf(other)] = partState{Gone: true}
		}, false},
		"an owner of an unknown kind": {func(s *setting) { s.parts[dependent].refs[0].kind = "Nothing" }, false},
		"another owner of an unknown kind": {func(s *setting) {
			s.parts[dependent].refs = append(s.parts[dependent].refs, partRef{apiVersion: "v1", kind: "Nothing", name: -1, uid: -2})
		}, false},
		"a cluster-scoped object with a namespaced owner": {func(s *setting) { s.parts[dependent].namespace = clusterScoped }, false},
		"an owner whose type was listed":                  {func(s *setting) { delete(s.unlisted, class) }, false},
		"an object that keeps a reference without faults": {func(s *setting) {
			s.baseline[roleOf(dependent)] = partState{Owners: []roleRef{{line: "v1/Service #0", uid: roleOf(class)}}}
		}, false},
		"another command": {func(s *setting) { s.command = "repair" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &setting{
				faultScenario: &faultScenario{
					builtGraph: &builtGraph{scene: &scene{T: t}, blueprint: &blueprint{parts: []part{
						class:     {apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", namespace: clusterScoped, change: isOrphaning},
						dependent: {apiVersion: "v1", kind: "ConfigMap", refs: []partRef{astray}},
						other:     {apiVersion: "v1", kind: "ConfigMap"},
					}}},
					faultCommand: faultCommand{command: "collect", mustBackUp: wasDeletedNow},
					kinds: func(c partRef) (namespaced, known bool) {
						return c.kind != "PriorityClass", c.kind != "Nothing"
					},
				},
				before: graphState{
					roleOf(class):     {Terminating: true, Finalizers: []string{metav1.FinalizerOrphanDependents}},
					roleOf(dependent): {Owners: []roleRef{{line: "v1/Service #0", uid: roleOf(class)}}},
					roleOf(other):     {},
				},
				after:    graphState{roleOf(class): {Gone: true}, roleOf(dependent): {Gone: true}},
				baseline: graphState{roleOf(class): {Gone: true}, roleOf(dependent): {}},
				unlisted: map[int]bool{class: true},
			}
			s.hidden = func(n int) bool { return s.unlisted[n] }
			test.but(s)
			v := &verdict{copyResult: &copyResult{before: s.before, after: s.after, final: s.after, backedUp: map[string]bool{roleOf(dependent): true, roleOf(other): true}}}
			s.compareFinalStates(v, &copyResult{after: s.baseline, final: s.baseline})
			about := func(lines []string) int {
				n := 0
				for _, line := range lines {
					if strings.HasPrefix(line, roleOf(dependent)+" ") {
						n++
					}
				}
				return n
			}
			if got := about(v.wrongDeletes) == 0; got != test.nondeterministic {
				t.Errorf("wrong deletes: %q", v.wrongDeletes)
			}
			if got := about(v.differing) == 0; got != test.nondeterministic {
				t.Errorf("in another final state: %q", v.differing)
			}
			if got := about(v.nondeterministic) == 1; got != test.nondeterministic {
				t.Errorf("nondeterministic: %q", v.nondeterministic)
			}
		})
	}
}
