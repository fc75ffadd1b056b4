package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// builtGraph is a graph built from a blueprint. The n-th part has the role n, whatever its name
// and UID are, so that graphs of one blueprint can be compared.
type builtGraph struct {
	*blueprint
	*scene
	copy       int
	namespaces []string
	objects    []object // by part
	successors []object // by part: the object that replaced it
	roles      map[string]string
	members    map[types.UID]string
}

// build builds several graphs of the blueprint concurrently.
func (b *blueprint) build(s *scene, copies ...int) []*builtGraph {
	s.Helper()
	s.defineTestKinds()
	out := make([]*builtGraph, len(copies))
	var group errgroup.Group
	for i, copy := range copies {
		out[i] = &builtGraph{
			blueprint: b, scene: s, copy: copy, objects: make([]object, len(b.parts)), successors: make([]object, len(b.parts)),
			roles: map[string]string{}, members: map[types.UID]string{},
		}
		for space := range namespacesPerGraph {
			out[i].namespaces = append(out[i].namespaces, s.namespace(fmt.Sprintf("%s-%c", out[i].prefix(), 'a'+space)))
		}
		group.Go(out[i].createAll)
	}
	err := group.Wait()
	for _, g := range out {
		for i := range g.objects {
			for _, o := range []object{g.objects[i], g.successors[i]} {
				if o.Unstructured != nil {
					s.created = append(s.created, o)
				}
			}
		}
	}
	s.must(err)
	return out
}

func (g *builtGraph) prefix() string { return fmt.Sprintf("d%d-%d", g.seed%1_000_000, g.copy) }

// name returns the name of a part, or a name that does not exist. The names in every copy have another order: before
// 1.35 the real collector receives the objects of a type in the order of their names, and in its nondeterministic cases
// the order decides. Since then it receives them in a random order.
func (g *builtGraph) name(n int) string {
	if n < 0 {
		return fmt.Sprintf("%s-none-%d", g.prefix(), -n)
	}
	place := rand.New(rand.NewPCG(uint64(g.copy), uint64(n))).IntN(1000)
	return fmt.Sprintf("%s-%03d-%d", g.prefix(), place, n)
}

func (g *builtGraph) uid(n int) types.UID {
	if n < 0 {
		return types.UID(fmt.Sprintf("%08x-%04x-4000-8000-%012x", uint32(g.seed), g.copy, -n))
	}
	return g.objects[n].GetUID()
}

func (g *builtGraph) reference(c partRef) metav1.OwnerReference {
	r := reference(c.apiVersion, c.kind, g.name(c.name), g.uid(c.uid))
	if c.blocks {
		blocking(&r)
	}
	if c.controls {
		controlling(&r)
	}
	return r
}

// createAll creates all objects, then sets their owner references, and then applies the changes of
// their parts.
func (g *builtGraph) createAll() error {
	for _, do := range []func(i int, p part) error{g.createPart, g.setReferences, g.applyChange} {
		if err := g.each(do); err != nil {
			return err
		}
	}
	for n := -g.nonexistentCount; n < len(g.parts); n++ {
		g.roles[g.name(n)] = roleOf(n)
		g.roles[string(g.uid(n))] = roleOf(n)
		if n < 0 {
			continue
		}
		g.members[g.uid(n)] = roleOf(n)
		if g.successors[n].Unstructured != nil {
			g.members[g.successors[n].GetUID()] = roleOf(n) + "'"
			g.roles[string(g.successors[n].GetUID())] = roleOf(n) + "'"
		}
	}
	return nil
}

func (g *builtGraph) each(do func(i int, p part) error) error {
	var group errgroup.Group
	group.SetLimit(8)
	for i, p := range g.parts {
		group.Go(func() error {
			if err := do(i, p); err != nil {
				return fmt.Errorf("%s (%s %d): %w", g.name(i), p.kind, i, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// roleOf returns the role of a part, which is the same in all graphs of a blueprint.
func roleOf(n int) string { return fmt.Sprintf("#%d", n) }

func (g *builtGraph) createObject(i int, more ...func(object)) (object, error) {
	p := g.parts[i]
	namespace := ""
	if p.namespace != clusterScoped {
		namespace = g.namespaces[p.namespace]
	}
	o := p.make(namespace, g.name(i), more...)
	client, err := g.resource(o)
	if err != nil {
		return object{}, err
	}
	live, err := client.Create(g.Context(), o.Unstructured, metav1.CreateOptions{})
	if err != nil {
		return object{}, err
	}
	live.SetAPIVersion(p.apiVersion)
	return object{live}, nil
}

func (g *builtGraph) resource(o object) (dynamic.ResourceInterface, error) {
	m, err := g.mapping(o)
	if err != nil {
		return nil, err
	}
	if m.Scope.Name() == meta.RESTScopeNameRoot {
		return g.dynamic.Resource(m.Resource), nil
	}
	return g.dynamic.Resource(m.Resource).Namespace(o.GetNamespace()), nil
}

func (g *builtGraph) createPart(i int, p part) (err error) {
	g.objects[i], err = g.createObject(i, heldBy(p.finalizers...))
	return err
}

func (g *builtGraph) setReferences(i int, p part) error {
	if len(p.refs) == 0 {
		return nil
	}
	var refs []metav1.OwnerReference
	for _, c := range p.refs {
		refs = append(refs, g.reference(c))
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
	if err != nil {
		return err
	}
	client, err := g.resource(g.objects[i])
	if err != nil {
		return err
	}
	_, err = client.Patch(g.Context(), g.name(i), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (g *builtGraph) applyChange(i int, p part) error {
	if p.change == lives {
		return nil
	}
	client, err := g.resource(g.objects[i])
	if err != nil {
		return err
	}
	policy := p.change.policy()
	if err := client.Delete(g.Context(), g.name(i), metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		return err
	}
	if p.change == wasReplaced {
		g.successors[i], err = g.createObject(i)
	}
	return err
}

// graphState is the state of a graph, by role.
type graphState map[string]partState

// partState is the state of a part, as far as it is compared.
type partState struct {
	Gone, Terminating bool
	Finalizers        []string
	Owners            []roleRef
}

// roleRef is an owner reference in terms of roles.
type roleRef struct {
	line, uid string
	blocks    bool
}

func (c partState) String() string {
	if c.Gone {
		return "gone"
	}
	out := "there"
	if c.Terminating {
		out = "terminating"
	}
	if len(c.Finalizers) > 0 {
		out += fmt.Sprintf(", held by %s", strings.Join(c.Finalizers, " "))
	}
	for _, o := range c.Owners {
		out += "; owned by " + o.line
	}
	return out
}

// relevant returns the state without references that have no effect any more: the collector does
// not judge a terminating object, so it makes no difference how many of its owners are gone.
func (c partState) relevant(e graphState) partState {
	if c.Terminating {
		c.Owners = slices.DeleteFunc(slices.Clone(c.Owners), func(o roleRef) bool {
			owner, known := e[o.uid]
			return !known || owner.Gone
		})
	}
	return c
}

// roleRef returns an owner reference in terms of roles.
func (g *builtGraph) roleRef(r metav1.OwnerReference) roleRef {
	line := fmt.Sprintf("%s/%s %s", r.APIVersion, r.Kind, g.roleOrValue(r.Name))
	if g.roleOrValue(r.Name) != g.roleOrValue(string(r.UID)) {
		line += fmt.Sprintf(" with the UID of %s", g.roleOrValue(string(r.UID)))
	}
	if isTrue(r.Controller) {
		line += ", controlling"
	}
	if isTrue(r.BlockOwnerDeletion) {
		line += ", blocking"
	}
	return roleRef{line, g.roleOrValue(string(r.UID)), isTrue(r.BlockOwnerDeletion)}
}

func isTrue(b *bool) bool { return b != nil && *b }

func (g *builtGraph) roleOrValue(nameOrUID string) string {
	if role, ok := g.roles[nameOrUID]; ok {
		return role
	}
	return nameOrUID
}

// observe returns the states of graphs in one environment.
func observe(ctx context.Context, gs ...*builtGraph) ([]graphState, error) {
	types := map[schema.GroupVersionResource]bool{}
	for _, o := range gs[0].objects {
		m, err := gs[0].mapping(o)
		if err != nil {
			return nil, err
		}
		types[m.Resource] = true
	}
	out := make([]graphState, len(gs))
	for i, g := range gs {
		out[i] = graphState{}
		for _, role := range g.members {
			out[i][role] = partState{Gone: true}
		}
	}
	for resource := range types {
		list, err := gs[0].metadata.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			for i, g := range gs {
				if role, ok := g.members[item.UID]; ok {
					out[i][role] = g.condition(item.ObjectMeta)
				}
			}
		}
	}
	return out, nil
}

func (g *builtGraph) condition(m metav1.ObjectMeta) partState {
	c := partState{Terminating: m.DeletionTimestamp != nil, Finalizers: slices.Clone(m.Finalizers)}
	for _, r := range m.OwnerReferences {
		c.Owners = append(c.Owners, g.roleRef(r))
	}
	return c
}

// state returns the state of one graph.
func (g *builtGraph) state() graphState {
	g.Helper()
	now, err := observe(g.Context(), g)
	g.must(err)
	return now[0]
}
