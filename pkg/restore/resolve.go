package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// resolve finds for each reference where it leads from now on, and whether it may
// be put back. First it leads to what was made of its owner. If the collector
// then finds another object in the owner's place, it leads there, unless it is to
// be as it was. What the
// collector finds solid is put back, all else only if that was asked for.
func (m *maker) resolve() {
	for _, b := range m.bearers {
		for _, w := range b.wants {
			m.lead(w, w.ref.UID)
		}
	}
	m.judge()
	if !m.options.Exact && m.succeed() {
		m.judge()
	}
	for _, b := range m.bearers {
		b.settle(m.options.Exact)
	}
}

// lead has a reference lead to what is, or will be, known by a UID.
func (m *maker) lead(w *want, uid types.UID) {
	w.owner, w.ref.UID = m.of[uid], uid
	if w.owner != nil {
		w.ref.UID = w.owner.uid
	}
}

// succeed has references lead to the successor of their owner, and says whether
// any does.
func (m *maker) succeed() bool {
	found := false
	for _, b := range m.bearers {
		for _, w := range b.wants {
			if w.found.Cause == collector.Replaced && w.found.Resident != nil && !w.found.Resident.Terminating() {
				m.lead(w, w.found.Resident.UID)
				found = true
			}
		}
	}
	return found
}

// judge has the collector judge every reference, in the cluster as it will be.
func (m *maker) judge() {
	g := graph.New(m.future())
	judge := collector.NewJudge(g)
	for _, b := range m.bearers {
		n := g.Find(b.uid())
		judged := judge.Object(n)
		outlook := collector.Assess(g.Object(n), collector.Verdicts(judged))
		first := len(judged) - len(b.wants)
		for i, w := range b.wants {
			w.found = judged[first+i]
			w.comes = outlook.Of(w.found.Verdict)
		}
	}
}

func (b *referenceHolder) uid() types.UID {
	if b.now != nil {
		return b.now.UID
	}
	return b.object.UID
}

// future is the cluster as it will be: what is there and what is made, under its
// UID of then, each with the references that it is to have. Those that are put
// back come last.
func (m *maker) future() *snapshot.Snapshot {
	bearers := make(map[types.UID]*referenceHolder, len(m.bearers))
	for _, b := range m.bearers {
		bearers[b.uid()] = b
	}
	s := *m.seen
	s.Types = slices.Concat(m.seen.Types, m.types)
	s.Listed = slices.Clone(m.seen.Listed)
	for _, t := range m.types {
		s.Listed = append(s.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
	}
	s.Objects = make([]*object.Object, 0, len(m.seen.Objects)+len(m.making))
	for _, o := range m.seen.Objects {
		if b := bearers[o.UID]; b != nil {
			linked := *o
			linked.Owners = b.owners()
			o = &linked
		}
		s.Objects = append(s.Objects, o)
	}
	for _, made := range m.making {
		s.Objects = append(s.Objects, &object.Object{Identity: made.saved.Object, Owners: made.bearer.owners()})
	}
	// What was looked up and was not there may be made now; what was there, lists
	// show or a lookup still does.
	made := m.places()
	s.Lookups = slices.DeleteFunc(slices.Clone(m.seen.Lookups), func(l snapshot.Lookup) bool {
		mapped, ok := m.live.Map(l.APIVersion, l.Kind)
		return ok && l.Outcome == snapshot.Absent && made[place{mapped.Type.Group, mapped.Type.Resource, l.Namespace, l.Name}]
	})
	s.Sort()
	return &s
}

// places are where something is made.
func (m *maker) places() map[place]bool {
	out := map[place]bool{}
	for _, made := range m.making {
		if t, why := m.typeOf(made.saved.Object); why == nil {
			out[placeOf(t, made.saved.Object)] = true
		}
	}
	return out
}

// owners are the references that an object is to have: those that stay, then
// those that are put back.
func (b *referenceHolder) owners() []object.Reference {
	var out []object.Reference
	if b.now != nil {
		for i, r := range b.now.Owners {
			if !b.replaces(i) {
				out = append(out, r)
			}
		}
	}
	for _, w := range b.wants {
		out = append(out, w.ref)
	}
	return out
}

// settle decides which references are put back. One that the object has already,
// or wants twice, is not wanted any more. An object may have but one controller.
func (b *referenceHolder) settle(exact bool) {
	var wants []*want
	for _, w := range b.wants {
		same := func(r object.Reference) bool {
			return r.UID == w.ref.UID && r.Kind == w.ref.Kind && r.Name == w.ref.Name
		}
		twin := slices.IndexFunc(wants, func(x *want) bool { return same(x.ref) && x.ref.APIVersion == w.ref.APIVersion })
		if twin >= 0 {
			wants[twin].over = append(wants[twin].over, w.over...)
			continue
		}
		if b.now != nil && len(w.over) == 0 && slices.ContainsFunc(b.now.Owners, same) {
			continue
		}
		w.rival, w.stays = b.rival(w), b.stays(w)
		w.kept = w.rival == nil && !w.stays && (exact || w.found.Verdict == collector.Solid)
		wants = append(wants, w)
	}
	b.wants = wants
}

// stays says whether what became of a reference is what it would become again.
func (b *referenceHolder) stays(w *want) bool {
	made := w.owner == nil || w.owner.made() // else it gets another UID
	return made && len(w.over) > 0 && !slices.ContainsFunc(w.over, func(i int) bool {
		return !b.now.Owners[i].SameOwner(w.ref) || b.now.Owners[i].Blocks() != w.ref.Blocks()
	})
}

// rival is the controller that the object has already, other than the one that a
// reference would give it.
func (b *referenceHolder) rival(w *want) *object.Reference {
	if b.now == nil || !w.ref.Controls() {
		return nil
	}
	for i := range b.now.Owners {
		if r := &b.now.Owners[i]; r.Controls() && !b.replaces(i) {
			return r
		}
	}
	return nil
}
