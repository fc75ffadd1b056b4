package controller

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// LeftOut is a namespace, or a kind of owners, whose objects rounds leave alone.
type LeftOut struct {
	// Namespace is left out with everything in it. Empty stands for cluster-scoped objects, or for no
	// namespace if OwnerKind is set.
	Namespace string
	// OwnerKind, if set, is a kind of owner: left out are the objects, in any namespace, with an owner of
	// this kind that does not exist or is being deleted.
	OwnerKind schema.GroupKind
	Deletes   int // objects that would be deleted
	// BackupFull reports that the namespace is left out because of Setup.Full, and not because of Setup.MaxDeletes.
	BackupFull bool
}

// leftOut is what rounds must not touch: so much of it would be deleted at once that a person should
// look first, or its backup would not fit. A round over everything decides this again; a round over
// a part keeps the last decision.
type leftOut struct {
	namespaces map[string]LeftOut
	kinds      map[schema.GroupKind]LeftOut
	// others are objects outside these namespaces whose deletion would delete something in them, such as
	// CustomResourceDefinitions.
	others map[types.UID]bool
}

func newLeftOut() leftOut {
	return leftOut{map[string]LeftOut{}, map[schema.GroupKind]LeftOut{}, map[types.UID]bool{}}
}

// errCannotLeaveOut reports that a plan still deletes something that was left out.
var errCannotLeaveOut = errors.New("the plan of this round exceeds --max-deletes, and no part of it could be left out")

// planWithin plans a round over what is not left out, and leaves out what exceeds the limits.
func (c *controller) planWithin(judge *collector.Judge, o plan.Purpose) (*plan.Plan, error) {
	within := o.Bounds.Within
	for {
		o.Bounds.Within = func(n graph.Node) bool { return within(n) && !c.left.has(judge, n) }
		p := plan.New(judge, o)
		switch more, exceeded := c.left.add(p, c.options); {
		case !exceeded:
			return p, nil
		case !more:
			return nil, errCannotLeaveOut
		}
	}
}

// has reports whether an object is left alone.
func (l *leftOut) has(judge *collector.Judge, n graph.Node) bool {
	o := judge.Graph().Object(n)
	if o == nil {
		return false
	}
	if _, ok := l.namespaces[o.Identity.InNamespace()]; ok || l.others[o.UID] {
		return true
	}
	if len(l.kinds) == 0 {
		return false
	}
	for i, r := range o.Owners {
		if _, ok := l.kinds[kindOf(r)]; ok && judge.Reference(graph.Edge{Node: n, Index: i}).Verdict != collector.VerdictSolid {
			return true
		}
	}
	return false
}

func kindOf(r object.Reference) schema.GroupKind { return r.GroupVersionKind().GroupKind() }

// add leaves out every namespace for which the plan exceeds a limit or, if there is none, every kind of
// owner that exceeds one. It reports whether it left out more than before, and whether anything exceeded a limit.
//
// The namespaces with the most deletions do not count against a kind of owner. Otherwise anyone who
// can create objects in a few namespaces could have that kind left out everywhere. For the same
// reason an object counts for one kind only.
func (l *leftOut) add(p *plan.Plan, o Setup) (more, exceeded bool) {
	losses := p.LostObjects
	in := map[string]int{}
	of := map[schema.GroupKind]map[string]int{}
	for _, loss := range losses {
		at := loss.Object.InNamespace()
		in[at]++
		kind := loss.Kind
		if kind.Empty() {
			continue
		}
		if of[kind] == nil {
			of[kind] = map[string]int{}
		}
		of[kind][at]++
	}
	before := len(l.namespaces) + len(l.kinds) + len(l.others)
	for i := range p.Steps { // a backup stores every step
		in[p.Steps[i].Object.InNamespace()] += 0
	}
	for at, deletes := range in {
		if full := o.Full != nil && o.Full(at); full || deletes > o.MaxDeletes {
			l.namespaces[at] = LeftOut{Namespace: at, Deletes: deletes, BackupFull: full}
			exceeded = true
		}
	}
	for _, loss := range losses {
		at := loss.Object.InNamespace()
		if _, ok := l.namespaces[at]; ok && loss.By != nil && loss.By.Object.Identity.InNamespace() != at {
			l.others[loss.By.Object.UID] = true
		}
	}
	if !exceeded {
		for kind, counts := range of {
			ascending := slices.Sorted(maps.Values(counts))
			if sum(ascending[:max(len(ascending)-fewNamespaces, 0)]) > o.MaxDeletes {
				l.kinds[kind] = LeftOut{OwnerKind: kind, Deletes: sum(ascending)}
				exceeded = true
			}
		}
	}
	return len(l.namespaces)+len(l.kinds)+len(l.others) > before, exceeded
}

// fewNamespaces is the largest number of namespaces in which an untrusted user is expected to be able
// to create objects.
const fewNamespaces = 5

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// full reports whether a namespace is left out because of Setup.Full.
func (l *leftOut) full() bool {
	for _, out := range l.namespaces {
		if out.BackupFull {
			return true
		}
	}
	return false
}

// sorted returns what is left out.
func (l *leftOut) sorted() []LeftOut {
	var out []LeftOut
	for _, one := range l.namespaces {
		out = append(out, one)
	}
	for _, one := range l.kinds {
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b LeftOut) int {
		return cmp.Or(cmp.Compare(a.OwnerKind.String(), b.OwnerKind.String()), cmp.Compare(a.Namespace, b.Namespace))
	})
	return out
}
