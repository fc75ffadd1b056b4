package restore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// mostNamed is how many references a reason names.
const mostNamed = 4

// why says in a few words to whom an object belongs from now on, and to whom no
// more. Strings of the cluster are in it as they are.
func why(b *bearer) string {
	var said []string
	for _, w := range b.wants {
		if len(said) == mostNamed {
			said = append(said, fmt.Sprintf("and %d more references", len(b.wants)-mostNamed))
			break
		}
		switch {
		case !w.kept:
			said = append(said, fmt.Sprintf("without its reference to %s, which %s", w.was, w.evidence()))
		case w.found.Verdict != collector.Solid:
			said = append(said, fmt.Sprintf("with its reference to %s, which %s: %s", w.was, w.evidence(), w.warning()))
		case w.owner != nil && !w.owner.made() && w.later && adopting(w.ref) && w.ref.Controls():
			said = append(said, fmt.Sprintf("adopted by %s", w.ref))
		default:
			said = append(said, fmt.Sprintf("owned by %s, which %s", w.ref, w.evidence()))
		}
	}
	return strings.Join(said, "; ")
}

// warning says what comes of a reference that is put back although it leads
// nowhere.
func (w *want) warning() string {
	switch w.comes {
	case collector.Delete:
		return "the collector will delete the object for it"
	case collector.Unlink:
		return "the collector will drop it again"
	case collector.Stuck, collector.Hidden, collector.None:
	}
	return "what the collector makes of it is unknown"
}

// evidence says what was found of the owner that a reference leads to.
func (w *want) evidence() string {
	switch {
	case w.rival != nil:
		return "is not its controller any more: " + w.rival.String() + " is"
	case w.stays:
		return "was replaced by another of that name, to which they lead now"
	}
	switch w.found.Cause {
	case collector.NoCause:
		return w.fate()
	case collector.Missing:
		return "is gone"
	case collector.Replaced:
		return "was replaced by another of that name"
	case collector.Mismatched:
		return fmt.Sprintf("is not whose UID it names: that is %s", w.found.Holder)
	case collector.CrossNamespace:
		return "is not in its namespace: it is in " + w.found.Holder.Namespace
	case collector.ClusterToNamespaced:
		return "is in a namespace, as no owner of a cluster-scoped object may be"
	case collector.UnservedVersion:
		return w.was.APIVersion + " does not serve any more"
	case collector.UnknownKind:
		return "is of a kind that nobody serves"
	case collector.Terminating:
		return "is being deleted and waits for its dependents"
	case collector.Unverified:
	}
	return "could not be asked for"
}

// fate is what became of an owner that is there, or will be.
func (w *want) fate() string {
	switch {
	case w.owner != nil && !w.owner.made():
		return "is made again"
	case w.owner != nil:
		return "was made again before"
	case w.ref.UID != w.was.UID:
		return "is another of that name"
	}
	return "is there"
}

// lost gathers what does not come back, in the order in which it is met.
func (m *maker) lost(order []*subject) []plan.Lost {
	var out []plan.Lost
	of := map[string]int{}
	add := func(what string, o ...object.Identity) {
		i, known := of[what]
		if !known {
			i = len(out)
			of[what] = i
			out = append(out, plan.Lost{What: what})
		}
		out[i].Objects = append(out[i].Objects, o...)
	}
	if len(order) > 0 {
		add("UIDs, times of creation, status, and who manages which field: what is made gets new ones")
	}
	for _, s := range order {
		for _, what := range s.lost {
			add(what, s.saved.Object)
		}
	}
	for _, b := range m.bearers {
		for _, w := range b.wants {
			if !w.kept {
				add(fmt.Sprintf("references to %s, which %s", w.was, w.evidence()), b.object)
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Objects, object.Identity.Compare)
		out[i].Objects = slices.Compact(out[i].Objects)
	}
	return out
}
