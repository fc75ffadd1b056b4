package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// strength is how much it matters that one object is made before another.
type strength int

const (
	kindly strength = iota // so that it is not refused
	owning                 // so that the one can refer to the other; else it is linked afterwards
	bound                  // the other cannot be made without
)

// precedence is that an object is made before another.
type precedence struct {
	before, after int // in making
	strength      strength
}

// order puts what is made into an order, and answers for each what it comes
// after, by its place in that order:
//
//   - a namespace before what is in it, a CustomResourceDefinition before its
//     instances;
//   - an owner before what it owns;
//   - but a controller that adopts after what it owns: if it came first, it would
//     make anew what is not there yet;
//   - what an object needs to be let in before it, and what may refuse others after
//     them.
//
// Where these form a circle the weakest one yields: a reference is then added when
// both are there.
func (m *maker) order() (order []*subject, after [][]int) {
	o := orderOf(len(m.making), m.precedences())
	place := make([]int, len(m.making))
	for at, i := range o.sequence {
		place[i] = at
		m.making[i].at = at
		order = append(order, m.making[i])
	}
	after = make([][]int, len(order))
	for _, p := range o.kept {
		after[place[p.after]] = append(after[place[p.after]], place[p.before])
	}
	for i := range after {
		slices.Sort(after[i])
		after[i] = slices.Compact(after[i])
	}
	for _, b := range m.bearers {
		for _, w := range b.wants {
			w.later = b.now == nil && w.owner != nil && !w.owner.made() && w.owner.at >= b.made.at
		}
	}
	return order, after
}

func (m *maker) precedences() []precedence {
	var out []precedence
	number := make(map[*subject]int, len(m.making))
	names := map[need]int{}
	within := map[string][]int{} // by namespace
	for i, s := range m.making {
		number[s] = i
		o := s.saved.Object
		names[need{o.GroupVersionKind().GroupKind(), o.Namespace, o.Name}] = i
		within[o.Namespace] = append(within[o.Namespace], i)
	}
	definitions := m.definitions(number)
	add := func(before, after int, of strength) {
		if before != after {
			out = append(out, precedence{before, after, of})
		}
	}
	for i, s := range m.making {
		o := s.saved.Object
		if ns, ok := names[need{schema.GroupKind{Kind: "Namespace"}, "", o.Namespace}]; ok && o.Namespace != "" {
			add(ns, i, bound)
		}
		if definition, ok := definitions[o.GroupVersionKind().GroupKind()]; ok {
			add(definition, i, bound)
		}
		for _, w := range s.bearer.wants {
			switch owner, ok := number[w.owner]; {
			case !ok || !w.kept:
			case adopting(w.ref):
				add(i, owner, owning)
			default:
				add(owner, i, owning)
			}
		}
		for _, n := range s.needs {
			if before, ok := names[n]; ok {
				add(before, i, kindly)
			}
		}
		switch s.kind.gate {
		case ofNamespace:
			for _, before := range within[o.Namespace] {
				if m.making[before].kind.gate == open {
					add(before, i, kindly)
				}
			}
		case ofAll:
			for before := range m.making {
				if m.making[before].kind.gate != ofAll {
					add(before, i, kindly)
				}
			}
		case open:
		}
	}
	return out
}

// definitions are the numbers of those that are made, by what they define.
func (m *maker) definitions(number map[*subject]int) map[schema.GroupKind]int {
	out := map[schema.GroupKind]int{}
	for _, s := range m.making {
		for _, t := range s.types {
			out[groupKind(t)] = number[s]
		}
	}
	return out
}
