package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Need is a right that a run of a plan cannot do without: a verb on objects of one
// kind in one namespace.
type Need struct {
	Verb    string            // as in kubectl auth can-i
	Objects []object.Identity // once each, in the order of the plan; never empty
}

// Needs are the rights without which steps of a run would be refused, in the order in
// which the plan comes to them. With asked, the run does only the steps that were asked
// for. It first reads one by one what is in read, to save it.
//
// What a restoration makes in a namespace that it makes, too, or to which it binds a
// role, is left out: whoever it is may have other rights there by then.
func (p *Plan) Needs(asked bool, read []object.Identity) []Need {
	g := gathering{places: map[place]int{}, known: map[held]bool{}}
	for _, o := range read {
		g.add("get", o)
	}
	entitled := p.entitled()
	for i := range p.Steps {
		s := &p.Steps[i]
		if asked && !s.Requested || entitled("") || s.Object.Namespace != "" && entitled(s.Object.Namespace) {
			continue
		}
		if s.Action == Link { // it is read before, and its controller may adopt it by itself
			g.add("get", s.Object.Identity)
		}
		if s.Action != Link || !slices.ContainsFunc(s.References, func(r Reference) bool { return r.Controller }) {
			g.add(verb(s.Action), s.Object.Identity)
		}
	}
	return g.needs
}

func verb(action collector.Act) string {
	switch action {
	case collector.Remove:
		return "delete"
	case Create:
		return "create"
	}
	return "patch"
}

// entitled says in which namespaces the plan may give rights to whoever carries it out;
// the empty one is everywhere.
func (p *Plan) entitled() func(namespace string) bool {
	in := map[string]bool{}
	for i := range p.Steps {
		if p.Steps[i].Action != Create {
			continue
		}
		o := p.Steps[i].Object.Identity
		switch group := o.GroupVersionKind().Group; {
		case o.IsNamespace():
			in[o.Name] = true
		case group == "rbac.authorization.k8s.io":
			in[o.Namespace] = true
		}
	}
	return func(namespace string) bool { return in[namespace] }
}

// gathering puts what is needed together by verb, kind and namespace.
type gathering struct {
	needs  []Need
	places map[place]int
	known  map[held]bool
}

type place struct{ verb, apiVersion, kind, namespace string }

type held struct {
	verb string
	of   object.Identity
}

func (g *gathering) add(verb string, o object.Identity) {
	if g.known[held{verb, o}] {
		return
	}
	g.known[held{verb, o}] = true
	at := place{verb, o.APIVersion, o.Kind, o.Namespace}
	i, ok := g.places[at]
	if !ok {
		i = len(g.needs)
		g.places[at] = i
		g.needs = append(g.needs, Need{Verb: verb})
	}
	g.needs[i].Objects = append(g.needs[i].Objects, o)
}

// Saved are the objects that a run of the plan saves before it does anything: those that
// go by it, whoever deletes them, and those that it mends. Once each.
func (p *Plan) Saved() []object.Identity {
	var out []object.Identity
	known := map[object.Identity]bool{}
	add := func(o object.Identity) {
		if !known[o] {
			known[o] = true
			out = append(out, o)
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.BacksUp() {
			add(s.Object.Identity)
		}
	}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.Follows != "" {
			add(o.Object)
		}
	}
	return out
}

// BacksUp reports whether a step's object is backed up before its write: what is deleted,
// and what a repair changes. What the collector would change as well is not.
func (s *Step) BacksUp() bool { return s.Action == collector.Remove || len(s.Mends) > 0 }
