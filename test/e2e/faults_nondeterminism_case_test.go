package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A PriorityClass, #0, is being orphaned; #1 refers to it, under another name as a
// rule, and was deleted while PriorityClasses could not be listed. Undisturbed, it
// stays without owners.
func TestDeletionIsNondeterministicOnlyWithAnUnreadOrphaningOwner(t *testing.T) {
	const class, dependent, other = 0, 1, 2
	astray := claim{apiVersion: "v1", kind: "Service", name: class, uid: class}
	type setting struct {
		*faultScenario
		before, after, undisturbed ending
		unlisted                   map[int]bool
	}
	for name, test := range map[string]struct {
		but   func(*setting)
		lucky bool
	}{
		"a kind that has no object of that name": {func(*setting) {}, true},
		"a name that nothing has": {func(s *setting) {
			s.parts[dependent].claims[0] = claim{apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", name: -1, uid: class}
		}, true},
		"the name of another object": {func(s *setting) {
			s.parts[dependent].claims[0] = claim{apiVersion: "v1", kind: "ConfigMap", name: other, uid: class}
		}, true},
		"another owner that never was": {func(s *setting) {
			s.parts[dependent].claims = append(s.parts[dependent].claims, claim{apiVersion: "v1", kind: "Secret", name: -1, uid: -2})
		}, true},

		"an owner that is not being deleted": {func(s *setting) { s.before[roleOf(class)] = condition{} }, false},
		"an owner that is deleted in the foreground": {func(s *setting) {
			s.before[roleOf(class)] = condition{Terminating: true, Finalizers: []string{metav1.FinalizerDeleteDependents}}
		}, false},
		"an owner that would orphan, and that nobody has deleted": {func(s *setting) {
			s.before[roleOf(class)] = condition{Finalizers: []string{metav1.FinalizerOrphanDependents}}
		}, false},
		"the owner's own name and kind": {func(s *setting) {
			s.parts[dependent].claims[0] = claim{apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", name: class, uid: class}
		}, false},
		"another owner that is there": {func(s *setting) {
			s.parts[dependent].claims = append(s.parts[dependent].claims, claim{apiVersion: "v1", kind: "ConfigMap", name: other, uid: other})
		}, false},
		"another owner that was there until the command": {func(s *setting) {
			s.parts[dependent].claims = append(s.parts[dependent].claims, claim{apiVersion: "v1", kind: "ConfigMap", name: other, uid: other})
			s.after[roleOf(other)] = condition{Gone: true}
		}, false},
		"an owner of a kind that nobody knows": {func(s *setting) { s.parts[dependent].claims[0].kind = "Nothing" }, false},
		"another owner of a kind that nobody knows": {func(s *setting) {
			s.parts[dependent].claims = append(s.parts[dependent].claims, claim{apiVersion: "v1", kind: "Nothing", name: -1, uid: -2})
		}, false},
		"an object in no namespace, whose owner would be in one": {func(s *setting) { s.parts[dependent].space = nowhere }, false},
		"an owner whose type was listed":                         {func(s *setting) { delete(s.unlisted, class) }, false},
		"an object that keeps a reference undisturbed": {func(s *setting) {
			s.undisturbed[roleOf(dependent)] = condition{Owners: []owned{{line: "v1/Service #0", uid: roleOf(class)}}}
		}, false},
		"another command": {func(s *setting) { s.command = "repair" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &setting{
				faultScenario: &faultScenario{
					builtGraph: &builtGraph{scene: &scene{T: t}, blueprint: &blueprint{parts: []part{
						class:     {apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", space: nowhere, fate: isOrphaning},
						dependent: {apiVersion: "v1", kind: "ConfigMap", claims: []claim{astray}},
						other:     {apiVersion: "v1", kind: "ConfigMap"},
					}}},
					faultCommand: faultCommand{command: "collect", saves: wasDeletedNow},
					kinds: func(c claim) (namespaced, known bool) {
						return c.kind != "PriorityClass", c.kind != "Nothing"
					},
				},
				before: ending{
					roleOf(class):     {Terminating: true, Finalizers: []string{metav1.FinalizerOrphanDependents}},
					roleOf(dependent): {Owners: []owned{{line: "v1/Service #0", uid: roleOf(class)}}},
					roleOf(other):     {},
				},
				after:       ending{roleOf(class): {Gone: true}, roleOf(dependent): {Gone: true}},
				undisturbed: ending{roleOf(class): {Gone: true}, roleOf(dependent): {}},
				unlisted:    map[int]bool{class: true},
			}
			s.hidden = func(n int) bool { return s.unlisted[n] }
			test.but(s)
			v := &verdict{copyResult: &copyResult{before: s.before, after: s.after, end: s.after, saved: map[string]bool{roleOf(dependent): true, roleOf(other): true}}}
			s.compare(v, &copyResult{after: s.undisturbed, end: s.undisturbed})
			of := func(lines []string) int {
				n := 0
				for _, line := range lines {
					if strings.HasPrefix(line, roleOf(dependent)+" ") {
						n++
					}
				}
				return n
			}
			if got := of(v.wrong) == 0; got != test.lucky {
				t.Errorf("wrong deletes: %q", v.wrong)
			}
			if got := of(v.unlike) == 0; got != test.lucky {
				t.Errorf("ended otherwise: %q", v.unlike)
			}
			if got := of(v.lucky) == 1; got != test.lucky {
				t.Errorf("luck: %q", v.lucky)
			}
		})
	}
}
