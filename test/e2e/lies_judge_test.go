package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// judgeUnderLies reports the violations that are possible under lies only.
func (o *faultScenario) judgeUnderLies(v *verdict, baseline *copyResult) {
	o.Helper()
	for _, role := range slices.Sorted(maps.Keys(v.before)) {
		for _, finalizer := range v.before[role].Finalizers {
			if line := o.unprovenRemoval(role, finalizer, v, baseline); line != "" {
				v.unproven = append(v.unproven, fmt.Sprintf("%s %s was %s, and is %s: %s", role, o.describe(role), v.before[role], v.after[role], line))
			}
		}
	}
	v.createdTwice = v.liar.CreatedTwice()
	if !v.inTime || v.result.Code != 0 {
		return
	}
	if baseline.result.Code != 0 {
		v.falseSuccess = append(v.falseSuccess, fmt.Sprintf("it exits with 0, and without lies with %d", baseline.result.Code))
	}
	for _, role := range slices.Sorted(maps.Keys(v.before)) {
		if got, want := o.finalCondition(v.after, role, v.before[role]), o.finalCondition(baseline.final, role, v.before[role]); got != want {
			v.falseSuccess = append(v.falseSuccess, fmt.Sprintf("it exits with 0, but %s %s is %s, and without lies %s", role, o.describe(role), got, want))
		}
	}
}

// isRequested reports whether the command line names an object.
func (o *faultScenario) isRequested(role string) bool {
	name := "/" + o.name(o.partNumber(role))
	return slices.ContainsFunc(o.args, func(arg string) bool { return strings.HasSuffix(arg, name) })
}

// unprovenRemoval returns why a finalizer must not have been removed. It is empty if the
// finalizer is still there, or if its removal was correct.
func (o *faultScenario) unprovenRemoval(role, finalizer string, v *verdict, baseline *copyResult) string {
	was, is, kept := v.before[role], v.after[role], baseline.final[role]
	if was.Gone || !is.Gone && slices.Contains(is.Finalizers, finalizer) {
		return ""
	}
	if finalizer != metav1.FinalizerDeleteDependents && finalizer != metav1.FinalizerOrphanDependents {
		return finalizer + " belongs to another controller"
	}
	if was.Terminating && slices.Contains(kept.Finalizers, finalizer) {
		return finalizer + " stays without lies"
	}
	if finalizer == metav1.FinalizerDeleteDependents && !was.Terminating {
		return "" // the object is not terminating, so it does not wait for its dependents
	}
	if !was.Terminating && o.isRequested(role) && !slices.Contains(o.args, "--cascade=orphan") {
		return "" // a DELETE with that policy removes the orphan finalizer (docs/gc-semantics.md#finalizers-after-a-delete)
	}
	for _, other := range slices.Sorted(maps.Keys(v.after)) {
		for _, ref := range v.after[other].Owners {
			if ref.uid != role || finalizer == metav1.FinalizerDeleteDependents && !ref.blocks || v.after[other].Gone {
				continue
			}
			same := slices.Contains(baseline.final[other].Owners, ref) || baseline.after[role].Gone && slices.Contains(baseline.after[other].Owners, ref)
			if !same {
				return fmt.Sprintf("%s is removed, but %s is still %s", finalizer, other, v.after[other])
			}
		}
	}
	return ""
}
