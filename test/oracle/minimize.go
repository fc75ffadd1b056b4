package oracle

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// maxReductions limits how many smaller scenarios Minimize tries.
const maxReductions = 400

// Minimize returns the finding in a smaller scenario: it removes objects, references,
// finalizers, deletions and flags while the same command disagrees in the same class, about
// the same aspect of the same object. An error of Ask ends it early.
func (c Checker) Minimize(ctx context.Context, f Finding) (Finding, error) {
	for tried := 0; ; {
		reduced := false
		for _, s := range reductions(f.Scenario) {
			if tried++; tried > maxReductions {
				return f, nil
			}
			found, err := c.recheck(ctx, s, f.Seed, f.Command)
			if err != nil {
				return f, err
			}
			if i := slices.IndexFunc(found, func(other Finding) bool { return other.Same(f.Disagreement) }); i >= 0 {
				f, reduced = found[i], true
				break
			}
		}
		if !reduced {
			return f, nil
		}
	}
}

// reductions returns the scenarios that lack one thing, the largest first.
func reductions(s scenario.Scenario) []scenario.Scenario {
	var out []scenario.Scenario
	without := func(change func(*scenario.Scenario)) {
		smaller, err := Parse(Format(s)) // a deep copy
		if err != nil {
			return
		}
		if change(&smaller); consistent(smaller) {
			out = append(out, smaller)
		}
	}
	for i := range s.Objects {
		without(func(s *scenario.Scenario) { removeObject(s, i, true) })
		without(func(s *scenario.Scenario) { removeObject(s, i, false) })
	}
	for i := range s.Deletes {
		without(func(s *scenario.Scenario) { s.Deletes = slices.Delete(s.Deletes, i, i+1) })
	}
	for i := range s.UnreachableGroups {
		without(func(s *scenario.Scenario) { s.UnreachableGroups = slices.Delete(s.UnreachableGroups, i, i+1) })
	}
	for i := range s.Types {
		without(func(s *scenario.Scenario) { s.Types = slices.Delete(s.Types, i, i+1) })
		if len(s.Types[i].OtherVersions) > 0 {
			without(func(s *scenario.Scenario) { s.Types[i].OtherVersions = nil })
		}
	}
	for i := range s.Objects {
		for _, change := range objectReductions(&s.Objects[i]) {
			without(func(s *scenario.Scenario) { change(&s.Objects[i]) })
		}
	}
	return out
}

// removeObject removes the object at an index, its deletions, and the references to it if
// wanted.
func removeObject(s *scenario.Scenario, index int, references bool) {
	uid := s.Objects[index].UID
	s.Objects = slices.Delete(s.Objects, index, index+1)
	s.Deletes = slices.DeleteFunc(s.Deletes, func(d scenario.Delete) bool { return types.UID(d.UID) == uid })
	for i := range s.Objects {
		o := &s.Objects[i]
		for k := len(o.OwnerReferences) - 1; references && k >= 0; k-- {
			if o.OwnerReferences[k].UID == uid {
				o.OwnerReferences = dropAt(o.OwnerReferences, k)
			}
		}
	}
}

// dropAt returns a list without the element at an index, and nil instead of an empty list.
func dropAt[T any](list []T, index int) []T {
	if len(list) == 1 {
		return nil
	}
	return slices.Delete(slices.Clone(list), index, index+1)
}

// objectReductions returns what can be left out of an object.
func objectReductions(o *scenario.Object) []func(*scenario.Object) {
	var out []func(*scenario.Object)
	for i, r := range o.OwnerReferences {
		out = append(out, func(o *scenario.Object) { o.OwnerReferences = dropAt(o.OwnerReferences, i) })
		if r.Controller != nil {
			out = append(out, func(o *scenario.Object) { o.OwnerReferences[i].Controller = nil })
		}
		if r.BlockOwnerDeletion != nil {
			out = append(out, func(o *scenario.Object) { o.OwnerReferences[i].BlockOwnerDeletion = nil })
		}
	}
	if o.DeletionTimestamp != nil {
		out = append(out, func(o *scenario.Object) {
			o.DeletionTimestamp, o.DeletionGracePeriodSeconds = nil, nil
			if o.Pod != nil {
				o.Pod.NodeLost = false
			}
		})
	}
	for i := range o.Finalizers {
		out = append(out, func(o *scenario.Object) { o.Finalizers = dropAt(o.Finalizers, i) })
	}
	if o.Pod != nil && o.DeletionTimestamp == nil {
		if o.Pod.Scheduled {
			out = append(out, func(o *scenario.Object) { o.Pod.Scheduled = false })
		}
		if o.Pod.Finished {
			out = append(out, func(o *scenario.Object) { o.Pod.Finished = false })
		}
	}
	return out
}

// consistent reports whether every object has a type, and whether something holds every
// terminating one.
func consistent(s scenario.Scenario) bool {
	for i := range s.Objects {
		o := &s.Objects[i]
		stopping := o.DeletionGracePeriodSeconds != nil && *o.DeletionGracePeriodSeconds > 0
		held := len(o.Finalizers) > 0 || len(o.SpecFinalizers) > 0 || stopping
		if typeOf(s.Types, o).Kind == "" || o.DeletionTimestamp != nil && !held {
			return false
		}
		if o.Kind == definition.Kind && o.DeletionTimestamp != nil && !slices.Contains(o.Finalizers, cleanupFinalizer) {
			return false
		}
	}
	return true
}
