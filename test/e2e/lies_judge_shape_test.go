package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// #0 owns #1. Without lies, #0 is gone at the end, and #1 stays and has no owner.
func TestViolationsUnderLies(t *testing.T) {
	const owner, dependent = "#0", "#1"
	held := func(by string) partState { return partState{Terminating: true, Finalizers: []string{by}} }
	owned := func(blocks bool) partState { return partState{Owners: []roleRef{{"v1/ConfigMap #0", owner, blocks}}} }
	gone, free := partState{Gone: true}, partState{}
	type setting struct {
		before, after, baseline graphState
		code, baselineCode      int
	}
	for name, test := range map[string]struct {
		setting
		unproven, false string     // the expected violation; empty: none
		between         graphState // without lies, before the runs that complete the command
	}{
		"an owner that goes before its dependent without lies, too": {
			setting{graphState{owner: {Finalizers: []string{metav1.FinalizerOrphanDependents}}, dependent: owned(false)}, graphState{owner: gone, dependent: owned(false)}, graphState{owner: gone, dependent: free}, 1, 0},
			"", "",
			graphState{owner: gone, dependent: owned(false)},
		},
		"an owner that was orphaned after its dependent": {
			setting{graphState{owner: held(metav1.FinalizerOrphanDependents), dependent: owned(false)}, graphState{owner: gone, dependent: free}, graphState{owner: gone, dependent: free}, 0, 0}, "", "", nil,
		},
		"an owner that was orphaned before its dependent": {
			setting{graphState{owner: held(metav1.FinalizerOrphanDependents), dependent: owned(false)}, graphState{owner: gone, dependent: owned(false)}, graphState{owner: gone, dependent: free}, 1, 0}, "orphan is removed, but #1 is still there", "", nil,
		},
		"an owner that is still held": {
			setting{graphState{owner: held(metav1.FinalizerOrphanDependents), dependent: owned(false)}, graphState{owner: held(metav1.FinalizerOrphanDependents), dependent: owned(false)}, graphState{owner: gone, dependent: free}, 1, 0}, "", "", nil,
		},
		"an owner that went before what blocks it": {
			setting{graphState{owner: held(metav1.FinalizerDeleteDependents), dependent: owned(true)}, graphState{owner: gone, dependent: owned(true)}, graphState{owner: gone, dependent: gone}, 1, 0}, "foregroundDeletion is removed, but #1 is still there", "", nil,
		},
		"an owner that went before what does not block it": {
			setting{graphState{owner: held(metav1.FinalizerDeleteDependents), dependent: owned(false)}, graphState{owner: gone, dependent: owned(false)}, graphState{owner: gone, dependent: gone}, 1, 0}, "", "", nil,
		},
		"an owner that keeps its finalizer without lies": {
			setting{graphState{owner: held(metav1.FinalizerDeleteDependents), dependent: gone}, graphState{owner: gone, dependent: gone}, graphState{owner: held(metav1.FinalizerDeleteDependents), dependent: gone}, 1, 1}, "foregroundDeletion stays without lies", "", nil,
		},
		"another controller's finalizer": {
			setting{graphState{owner: held(hold), dependent: gone}, graphState{owner: gone, dependent: gone}, graphState{owner: held(hold), dependent: gone}, 1, 1}, hold + " belongs to another controller", "", nil,
		},
		"exit code 0 with something left": {
			setting{graphState{owner: free, dependent: free}, graphState{owner: free, dependent: free}, graphState{owner: gone, dependent: free}, 0, 0}, "", "#0 ConfigMap d0-0-0 is there, and without lies gone", nil,
		},
		"exit code 1 with something left": {
			setting{graphState{owner: free, dependent: free}, graphState{owner: free, dependent: free}, graphState{owner: gone, dependent: free}, 1, 0}, "", "", nil,
		},
		"exit code 0, and 1 without lies": {
			setting{graphState{owner: free, dependent: free}, graphState{owner: free, dependent: free}, graphState{owner: free, dependent: free}, 0, 1}, "", "it exits with 0, and without lies with 1", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := &faultScenario{builtGraph: &builtGraph{scene: &scene{T: t}, objects: []object{configMap("", "some-0"), configMap("", "some-1")}, blueprint: &blueprint{parts: []part{
				{apiVersion: "v1", kind: "ConfigMap"}, {apiVersion: "v1", kind: "ConfigMap", refs: []partRef{{apiVersion: "v1", kind: "ConfigMap"}}},
			}}}}
			liar := proxy.NewLiar(1, proxy.Facts{Objects: []proxy.Object{{UID: "some"}}, Requests: proxy.Tables})
			v := &verdict{copyResult: &copyResult{before: test.before, after: test.after, liar: liar, result: result{Code: test.code}}, inTime: true}
			o.judgeUnderLies(v, &copyResult{after: test.between, final: test.baseline, result: result{Code: test.baselineCode}})
			for what, said := range map[string]struct {
				lines []string
				want  string
			}{"finalizers": {v.unproven, test.unproven}, "exit code": {v.falseSuccess, test.false}} {
				if all := strings.Join(said.lines, "\n"); said.want == "" && all != "" || !strings.Contains(all, said.want) {
					t.Errorf("%s: %q, want %q", what, all, said.want)
				}
			}
		})
	}
}
