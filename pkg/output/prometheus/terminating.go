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

// deletionState is the number of objects of a kind that something holds while they are being deleted, and the age of the oldest.
type deletionState struct {
	kind, holder string
	objects      int
	oldest       time.Duration
}

// deletions counts the objects that are being deleted, by kind and holder: the most frequent pairs,
// and the others together. They are sorted.
func deletions(c audit.Cluster) []*deletionState {
	states := map[[2]string]*deletionState{}
	add := func(kind, holder string, objects int, oldest time.Duration) {
		key := [2]string{kind, holder}
		if states[key] == nil {
			states[key] = &deletionState{kind: kind, holder: holder}
		}
		states[key].objects += objects
		states[key].oldest = max(states[key].oldest, oldest)
	}
	for i := range c.Terminating {
		t := &c.Terminating[i]
		add(t.Object.Kind, holder(t), 1, t.Age())
	}
	frequent := slices.SortedFunc(maps.Values(states), func(a, b *deletionState) int { return cmp.Or(b.objects-a.objects, compare(a, b)) })
	for _, s := range frequent[min(len(frequent), maxDeletions):] {
		delete(states, [2]string{s.kind, s.holder})
		add(other, other, s.objects, s.oldest)
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
