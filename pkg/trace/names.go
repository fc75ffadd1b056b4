package trace

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// The types whose objects take others along.
var (
	pods        = schema.GroupResource{Resource: "pods"}
	namespaces  = schema.GroupResource{Resource: "namespaces"}
	nodes       = schema.GroupResource{Resource: "nodes"}
	definitions = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
)

// arrange finds out which object each fact is about that has a name alone, once everything is read.
func (q *inquiry) arrange() {
	q.types.complete()
	q.takeLines()
	for _, times := range q.created {
		slices.SortFunc(times, instant.compare)
	}
	named := map[object.Address]bool{} // where it matters what else had the name
	for _, s := range slices.Clone(q.subjects) {
		slices.SortStableFunc(s.sightings, func(a, b sighting) int { return a.when.compare(b.when) })
		if q.types.place(s); s.real && s.Namespace != "" {
			q.types.namespaced[s.resource] = true
		}
		named[s.address()] = named[s.address()] || s.fate != &nothingMore
		for _, l := range s.lines {
			named[q.types.at(l.Owner)], named[q.types.at(inNamespace(l.Owner, s.Namespace))] = true, true
		}
		if len(s.asked) == 0 {
			continue
		}
		for _, v := range s.sightings {
			for _, r := range v.owners {
				if r.UID != "" {
					q.owner(s.Namespace, r)
				}
			}
		}
	}
	for i := range q.nameless {
		n := &q.nameless[i]
		if n.line != nil {
			n.at = q.types.at(n.line.Object)
		}
		named[n.at] = named[n.at] || n.line != nil || n.asked != nil
	}
	for _, s := range q.subjects {
		if q.types.place(s); !s.real && !q.types.namespaced[s.resource] {
			s.Namespace = ""
		}
		if at := s.address(); named[at] || at.Type == namespaces || at.Type == nodes || at.Type == definitions {
			q.byPlace[at] = append(q.byPlace[at], s)
		}
	}
	slices.SortStableFunc(q.nameless, func(a, b nameless) int { return a.when.compare(b.when) })
	for i := range q.nameless { // first the creates, which tell objects of one name apart
		n := &q.nameless[i]
		within := named[object.Address{Type: namespaces, Name: n.at.Namespace}] || n.at.Type.Group != "" && named[object.Address{Type: definitions, Name: n.at.Type.String()}]
		if n.line == nil && n.asked == nil && (named[n.at] || within) {
			var s *subject
			if of := q.byPlace[n.at]; len(of) == 1 && !of[0].start(n.when.file).known() {
				s = of[0]
			} else {
				s = q.unnamed(n)
			}
			s.created, s.real = n.when.us, true
			s.existed(n.when)
		}
	}
	for i := range q.nameless {
		switch n := &q.nameless[i]; {
		case n.line != nil:
			s := q.resolve(n)
			s.says(n.line, n.when)
			s.real = s.real || n.line.Says == Deletes
		case n.asked != nil:
			s := q.resolve(n)
			s.real = true
			n.asked.byName = s.UID != ""
			s.own().asked = append(s.asked, *n.asked)
		}
	}
}

func inNamespace(i object.Identity, namespace string) object.Identity {
	i.Namespace = namespace
	return i
}

// manyNames is how many objects of one name are told apart without UIDs.
const manyNames = 1000

// resolve returns the object that had the name then. If it may have been one of several, it is none of them.
func (q *inquiry) resolve(n *nameless) *subject {
	all := q.byPlace[n.at]
	if len(all) > manyNames {
		return q.unnamed(n)
	}
	var found []*subject
	var newest *subject // that was created before: it has replaced those that were created before it
	for _, s := range all {
		switch start := s.start(n.when.file); {
		case n.when.before(start) || s.gone.known() && s.gone.before(n.when):
		case !start.known():
			found = append(found, s)
		case newest == nil || newest.start(n.when.file).us < start.us && start.us <= n.when.us:
			newest = s
		}
	}
	if newest != nil {
		found = append(found, newest)
	}
	if len(found) == 1 {
		return found[0]
	}
	s := q.unnamed(n)
	s.own().several = len(found) > 1
	return s
}

// start returns when an object was created; zero if that is unknown. It is taken for a time by the clock of a file.
func (s *subject) start(file int32) instant { return instant{s.created, file} }

// unnamed adds an object whose UID no file has.
func (q *inquiry) unnamed(n *nameless) *subject {
	s := &subject{Identity: n.identity(), resource: n.at.Type, real: true, fate: &nothingMore}
	s.UID = ""
	q.types.place(s)
	q.subjects, q.byPlace[n.at] = append(q.subjects, s), append(q.byPlace[n.at], s)
	return s
}

// createdBetween reports whether one of some objects was created after one time and before another.
func createdBetween(of []*subject, from, to instant) bool {
	return slices.ContainsFunc(of, func(s *subject) bool {
		start := s.start(from.file)
		return from.us < start.us && start.us < to.us
	})
}
