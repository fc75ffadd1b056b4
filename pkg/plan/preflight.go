package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Needs returns the permissions that a run requires, in the order in which it uses them, each with its
// objects once in the order of the plan. If
// requestedOnly is set, the run does only requested steps. backedUp are the objects that it
// reads one by one first.
//
// Objects that a restoration creates in a namespace that it also creates, or where it binds
// a role, are left out: the user may have other permissions there by then.
func (p *Plan) Needs(requestedOnly bool, backedUp []object.Identity) []object.Right {
	n := needs{known: map[needKey]int{}}
	for _, o := range backedUp {
		n.add("get", o)
	}
	entitled := p.entitled()
	for i := range p.Steps {
		s := &p.Steps[i]
		o := s.Object.Identity
		if requestedOnly && !s.Requested || entitled[""] || o.Namespace != "" && entitled[o.Namespace] {
			continue
		}
		if s.Action == ActionLink { // it is read first, and its controller may adopt it before
			n.add("get", o)
			if slices.ContainsFunc(s.References, func(r StepReference) bool { return r.Controls() }) {
				continue
			}
		}
		n.add(cmp.Or(verbs[s.Action], "patch"), o)
	}
	return n.all
}

// verbs are those of the actions that do not patch an object.
var verbs = map[Action]string{ActionDelete: "delete", ActionCreate: "create"}

// entitled returns the namespaces in which the run may gain permissions; the empty one stands
// for all.
func (p *Plan) entitled() map[string]bool {
	in := map[string]bool{}
	for i := range p.Steps {
		o := p.Steps[i].Object.Identity
		switch {
		case p.Steps[i].Action != ActionCreate:
		case o.IsNamespace():
			in[o.Name] = true
		case o.GroupVersionKind().Group == "rbac.authorization.k8s.io":
			in[o.Namespace] = true
		}
	}
	return in
}

// RightsToUndo returns the rights to create again what the plan deletes, but for what controllers create.
func (p *Plan) RightsToUndo() []object.Right {
	n := needs{known: map[needKey]int{}}
	for _, lost := range p.LostObjects {
		if !slices.Contains([]string{"Endpoints", "EndpointSlice", "Lease"}, lost.Object.Kind) {
			n.add("create", lost.Object)
		}
	}
	return n.all
}

// needs groups permissions by verb, kind and namespace.
type needs struct {
	all   []object.Right
	known map[needKey]int // the right of an object, and that of its kind and namespace
}

type needKey struct {
	verb   string
	object object.Identity // without name and UID: all objects of the kind in the namespace
}

func (n *needs) add(verb string, o object.Identity) {
	if _, known := n.known[needKey{verb, o}]; known {
		return
	}
	group := needKey{verb, object.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace}}
	i, known := n.known[group]
	if !known {
		i = len(n.all)
		n.known[group] = i
		n.all = append(n.all, object.Right{Verb: verb})
	}
	n.known[needKey{verb, o}] = i
	n.all[i].Objects = append(n.all[i].Objects, o)
}

// PreflightSamples returns, for each kind and namespace, the first step that changes owner
// references of an object in the state of the scan. An API server may have rules about such
// changes that no permission list shows
// (docs/gc-semantics.md#permission-to-change-references).
func (p *Plan) PreflightSamples() []*Step {
	var out []*Step
	changed, sampled := map[object.Identity]bool{}, map[object.Identity]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		o := s.Object.Identity
		first := !changed[o]
		changed[o] = true
		o.Name, o.UID = "", ""
		if first && s.Patch != nil && s.Finalizer() == "" && !sampled[o] {
			sampled[o] = true
			out = append(out, s)
		}
	}
	return out
}
