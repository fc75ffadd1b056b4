package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// strength is how important a precedence is. In a cycle the weakest one yields.
type strength int

const (
	preferred strength = iota // so that the API server does not refuse the object
	ownership                 // so that the object can be created with its reference; otherwise it is linked later
	required                  // the object cannot be created without
)

// precedence says that one object is created before another.
type precedence struct {
	before, after int // indexes in toCreate
	strength      strength
}

// creationOrder returns the order of creation and, for each object, the positions
// of those that it must wait for:
//
//   - a namespace comes before its contents, a CustomResourceDefinition before its
//     instances;
//   - an owner comes before its dependents;
//   - but a controller that adopts comes after its dependents, because it would
//     create those that it misses;
//   - what an object needs to be admitted comes before it, and what may refuse other
//     objects comes after them.
func (p *planner) creationOrder() (order []*recreation, after [][]int) {
	sequence, satisfied := topologicalOrder(len(p.toCreate), p.precedences())
	for position, i := range sequence {
		p.toCreate[i].position = position
		order = append(order, p.toCreate[i])
	}
	after = make([][]int, len(order))
	for _, e := range satisfied {
		at := p.toCreate[e.after].position
		after[at] = append(after[at], p.toCreate[e.before].position)
	}
	for i := range after {
		slices.Sort(after[i])
		after[i] = slices.Compact(after[i])
	}
	for _, h := range p.holders {
		for _, r := range h.references {
			r.linkedLater = h.live == nil && r.owner.pending() && r.owner.position >= h.recreation.position
		}
	}
	return order, after
}

func (p *planner) precedences() []precedence {
	var out []precedence
	index := make(map[*recreation]int, len(p.toCreate))
	byName := map[prerequisite]int{}
	inNamespace := map[string][]int{}
	definitions := map[schema.GroupKind]int{}
	for i, c := range p.toCreate {
		index[c] = i
		o := c.saved.Object
		byName[prerequisite{o.GroupVersionKind().GroupKind(), o.Namespace, o.Name}] = i
		inNamespace[o.Namespace] = append(inNamespace[o.Namespace], i)
		for _, t := range c.types {
			definitions[schema.GroupKind{Group: t.Group, Kind: t.Kind}] = i
		}
	}
	add := func(before, after int, s strength) {
		if before != after {
			out = append(out, precedence{before, after, s})
		}
	}
	for i, c := range p.toCreate {
		o := c.saved.Object
		if namespace, ok := byName[prerequisite{schema.GroupKind{Kind: "Namespace"}, "", o.Namespace}]; ok && o.Namespace != "" {
			add(namespace, i, required)
		}
		if definition, ok := definitions[o.GroupVersionKind().GroupKind()]; ok {
			add(definition, i, required)
		}
		for _, r := range c.holder.references {
			switch owner, ok := index[r.owner]; {
			case !ok || !r.accepted:
			case adopting(r.restored):
				add(i, owner, ownership)
			default:
				add(owner, i, ownership)
			}
		}
		for _, n := range c.prerequisites {
			if before, ok := byName[n]; ok {
				add(before, i, preferred)
			}
		}
		switch c.kind.refuses {
		case refusesInNamespace:
			for _, before := range inNamespace[o.Namespace] {
				if p.toCreate[before].kind.refuses == refusesNothing {
					add(before, i, preferred)
				}
			}
		case refusesAnywhere:
			for before := range p.toCreate {
				if p.toCreate[before].kind.refuses != refusesAnywhere {
					add(before, i, preferred)
				}
			}
		case refusesNothing:
		}
	}
	return out
}
