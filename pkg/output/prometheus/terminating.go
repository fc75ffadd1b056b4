package prometheus

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// maxDeletions is how many pairs of kind and holder have series of their own, per cluster. Names of
// finalizers come from the cluster, so there may be any number of them.
const maxDeletions = 50

// other is the kind and the holder of what has no series of its own.
const other = "other"

// deletionLabels identifies the series about objects that are being deleted.
type deletionLabels struct{ kind, holder string }

// deletionState is the number of these objects, and the age of the oldest.
type deletionState struct {
	deletionLabels
	objects int
	oldest  time.Duration
}

// deletions counts the objects that are being deleted, by kind and holder: the most frequent pairs,
// and the others together. They are sorted.
func deletions(c audit.Cluster) []*deletionState {
	states := map[deletionLabels]*deletionState{}
	add := func(d deletionLabels, objects int, oldest time.Duration) {
		if states[d] == nil {
			states[d] = &deletionState{deletionLabels: d}
		}
		states[d].objects += objects
		states[d].oldest = max(states[d].oldest, oldest)
	}
	for i := range c.Terminating {
		t := &c.Terminating[i]
		add(deletionLabels{t.Object.Kind, holder(t)}, 1, t.Age())
	}
	frequent := slices.SortedFunc(maps.Values(states), func(a, b *deletionState) int { return cmp.Or(b.objects-a.objects, compare(a, b)) })
	for _, s := range frequent[min(len(frequent), maxDeletions):] {
		delete(states, s.deletionLabels)
		add(deletionLabels{other, other}, s.objects, s.oldest)
	}
	return slices.SortedFunc(maps.Values(states), compare)
}

func compare(a, b *deletionState) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.holder, b.holder))
}

// holder returns the name of the first finalizer that holds an object, or the word for another
// holder. A finalizer with such a word as its name is other.
func holder(t *terminating.Hold) string {
	if t.Holder != terminating.HolderFinalizer || len(t.Finalizers) == 0 {
		return string(t.Holder)
	}
	name := t.Finalizers[0].Name
	if slices.Contains(terminating.Holders, terminating.Holder(name)) {
		return other
	}
	return name
}

// deletionSeries returns a series per kind and holder.
func deletionSeries(value func(*deletionState) string) func(audit.Cluster) []series {
	return func(c audit.Cluster) []series {
		var out []series
		for _, d := range deletions(c) {
			out = append(out, series{value(d), []label{{"kind", d.kind}, {"holder", d.holder}}})
		}
		return out
	}
}

func objects(d *deletionState) string { return strconv.Itoa(d.objects) }

func oldest(d *deletionState) string {
	return strconv.FormatInt(int64(d.oldest/time.Second), 10)
}
