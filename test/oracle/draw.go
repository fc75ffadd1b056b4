package oracle

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// scanned is the time of every scan.
var scanned = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// hold is a finalizer that nobody removes.
const hold = "example.com/hold"

// The types that scenarios are drawn from. A scenario serves only those that it needs.
var (
	configMap  = scenario.Type{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}
	secret     = scenario.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}
	pod        = scenario.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	coreEvent  = scenario.Type{Version: "v1", Resource: "events", Kind: "Event", Namespaced: true}
	namespace  = scenario.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
	deployment = scenario.Type{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
	replicaSet = scenario.Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true}
	job        = scenario.Type{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Namespaced: true}
	event      = scenario.Type{Group: "events.k8s.io", Version: "v1", Resource: "events", Kind: "Event", Namespaced: true}
	definition = scenario.Type{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition"}
	widget     = scenario.Type{Group: "example.com", Version: "v1", OtherVersions: []string{"v1beta1"}, Resource: "widgets", Kind: "Widget", Namespaced: true, Custom: true}
	gadget     = scenario.Type{Group: "example.com", Version: "v1", Resource: "gadgets", Kind: "Gadget", Custom: true}
	reading    = scenario.Type{Group: "metrics.example.com", Version: "v1", Resource: "readings", Kind: "Reading", Namespaced: true, Unwatchable: true}
	meter      = scenario.Type{Group: "metrics.example.com", Version: "v1", Resource: "meters", Kind: "Meter", Unwatchable: true}
)

var (
	builtIn       = []scenario.Type{configMap, configMap, secret, pod, deployment, replicaSet, job}
	ordinary      = []scenario.Type{configMap, configMap, secret, pod, deployment, replicaSet, job, widget, widget}
	clusterScoped = []scenario.Type{gadget, gadget, namespace}
	unmonitored   = []scenario.Type{coreEvent, event, event, reading, meter}
	served        = []scenario.Type{configMap, secret, pod, coreEvent, namespace, deployment, replicaSet, job, event, definition, widget, gadget, reading, meter}
)

// unreachable is an API group that discovery cannot reach.
const unreachable = "unreachable.example.com"

// maxObjects limits a scenario.
const maxObjects = 9

// drawer builds one random scenario.
type drawer struct {
	*rand.Rand
	objects      []*scenario.Object
	deletes      []scenario.Delete
	types        []scenario.Type // in addition to those of objects
	unreachable  []string
	refused      []scenario.Refusal
	namespaces   []string // of new objects
	contentsKept bool     // no Namespace is added, since the preview refuses to delete one
}

// Draw returns the scenario of a kind and a seed.
func Draw(k Kind, seed uint64) scenario.Scenario {
	name := fnv.New64a()
	_, _ = name.Write([]byte(k.Name))
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, name.Sum64())), namespaces: []string{"a"}}
	k.draw(d)
	for d.chance(35) {
		d.addDetail()
	}
	return d.scenario()
}

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

// between returns a number from low to high.
func (d *drawer) between(low, high int) int { return low + d.IntN(high-low+1) }

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

// full reports whether no more objects can be added.
func (d *drawer) full() bool { return len(d.objects) >= maxObjects }

// add adds an object of one of these types. Its references, finalizers and deletion are up to
// the caller, except that a Pod may be on a node.
func (d *drawer) add(from ...scenario.Type) *scenario.Object {
	t, n := pick(d, from...), len(d.objects)+1
	o := &scenario.Object{}
	o.APIVersion, o.Kind = apiVersion(t.Group, t.Version), t.Kind
	o.Name, o.UID = fmt.Sprintf("n%d", n), types.UID(fmt.Sprintf("u%d", n))
	o.CreationTimestamp = metav1.NewTime(scanned.Add(-24 * time.Hour))
	if t.Namespaced {
		o.Namespace = pick(d, d.namespaces...)
	}
	switch t.Kind {
	case namespace.Kind:
		o.SpecFinalizers = []string{"kubernetes"}
	case pod.Kind:
		o.Pod = &scenario.Pod{GraceSeconds: pick[int64](d, 30, 30, 0), Scheduled: d.chance(60), Finished: d.chance(15)}
	}
	d.objects = append(d.objects, o)
	return o
}

// addNamed adds an object under a certain name.
func (d *drawer) addNamed(t scenario.Type, name string) *scenario.Object {
	o := d.add(t)
	o.Name = name
	return o
}

// addDefinition adds the CustomResourceDefinition of a custom type.
func (d *drawer) addDefinition(t scenario.Type) *scenario.Object {
	d.serve(t)
	return d.addNamed(definition, t.Resource+"."+t.Group)
}

func (d *drawer) serve(t scenario.Type) { d.types = append(d.types, t) }

// pickObject returns one of the objects.
func (d *drawer) pickObject() *scenario.Object { return pick(d, d.objects...) }

// pickAlive returns an object that is not terminating, or nil.
func (d *drawer) pickAlive() *scenario.Object {
	alive := slices.DeleteFunc(slices.Clone(d.objects), func(o *scenario.Object) bool { return o.DeletionTimestamp != nil })
	if len(alive) == 0 {
		return nil
	}
	return pick(d, alive...)
}

func (d *drawer) flag() *bool { return pick(d, nil, nil, ptr(false), ptr(true)) }

func ptr[T any](v T) *T { return &v }

// reference returns a correct reference, with random flags.
func (d *drawer) reference(owner *scenario.Object) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
		BlockOwnerDeletion: pick(d, nil, ptr(false), ptr(true), ptr(true)),
	}
}

// own adds a reference of each dependent to an owner.
func (d *drawer) own(owner *scenario.Object, dependents ...*scenario.Object) {
	for _, o := range dependents {
		r := d.reference(owner)
		if d.chance(20) && !hasController(o) {
			r.Controller = ptr(true)
		}
		o.OwnerReferences = append(o.OwnerReferences, r)
	}
}

// ownBlocking adds a reference that blocks the owner's deletion, or not.
func (d *drawer) ownBlocking(owner, dependent *scenario.Object, blocks *bool) {
	r := d.reference(owner)
	r.BlockOwnerDeletion = blocks
	dependent.OwnerReferences = append(dependent.OwnerReferences, r)
}

func hasController(o *scenario.Object) bool {
	return slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller })
}

// addFinalizers appends the finalizers that an object does not have yet.
func addFinalizers(o *scenario.Object, finalizers ...string) {
	for _, f := range finalizers {
		if !slices.Contains(o.Finalizers, f) {
			o.Finalizers = append(o.Finalizers, f)
		}
	}
}

// terminate marks an object as terminating, with more finalizers. It must have one then,
// unless it is a Namespace.
func (d *drawer) terminate(o *scenario.Object, finalizers ...string) {
	addFinalizers(o, finalizers...)
	if o.Kind == event.Kind { // a DELETE of it removes the collector's finalizers
		o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool {
			return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
		})
		if len(o.Finalizers) == 0 {
			o.Finalizers = []string{hold}
		}
	}
	if o.Kind == definition.Kind {
		addFinalizers(o, cleanupFinalizer)
	}
	o.DeletionTimestamp = ptr(metav1.NewTime(scanned.Add(-pick(d, time.Minute, time.Minute, time.Hour))))
	o.DeletionGracePeriodSeconds = ptr[int64](0)
}

// cleanupFinalizer is on a CustomResourceDefinition that is being deleted, until its instances
// are gone.
const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// stop marks a Pod as stopping, within its grace period or, if its node is lost, past it.
func (d *drawer) stop(o *scenario.Object, lost bool) {
	o.Pod = &scenario.Pod{GraceSeconds: 30, Scheduled: true, NodeLost: lost}
	at := scanned.Add(10 * time.Second)
	if lost {
		at = scanned.Add(-time.Hour)
	}
	o.DeletionTimestamp, o.DeletionGracePeriodSeconds = ptr(metav1.NewTime(at)), ptr[int64](30)
}

// policies are those of DELETE requests.
var policies = []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, ""}

// delete adds a DELETE request with one of these policies, or with any. As with the command,
// all requests have the policy of the first one, no object is deleted twice, and nothing is
// requested for types that the collector does not monitor.
func (d *drawer) delete(o *scenario.Object, from ...metav1.DeletionPropagation) {
	if o == nil || !monitored(typeOf(served, o)) || slices.ContainsFunc(d.deletes, func(r scenario.Delete) bool { return r.UID == string(o.UID) }) {
		return
	}
	if len(from) == 0 {
		from = policies
	}
	policy := pick(d, from...)
	if len(d.deletes) > 0 {
		policy = d.deletes[0].Policy
	}
	d.deletes = append(d.deletes, scenario.Delete{UID: string(o.UID), Policy: policy})
}

// typeOf returns the type of an object, or the zero value.
func typeOf(from []scenario.Type, o *scenario.Object) scenario.Type {
	i := slices.IndexFunc(from, func(t scenario.Type) bool { return t.Kind == o.Kind && apiVersion(t.Group, t.Version) == o.APIVersion })
	if i < 0 {
		return scenario.Type{}
	}
	return from[i]
}

func monitored(t scenario.Type) bool { return t.Resource != "events" && !t.Unwatchable }

func apiVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// scenario returns what was drawn, with the types that it needs.
func (d *drawer) scenario() scenario.Scenario {
	out := scenario.Scenario{Deletes: d.deletes, UnreachableGroups: d.unreachable}
	for _, r := range d.refused { // the command does not ask whether it may delete what is terminating
		i := slices.IndexFunc(d.objects, func(o *scenario.Object) bool { return o.UID == r.UID })
		if r.Operation != "DELETE" || d.objects[i].DeletionTimestamp == nil {
			out.Refused = append(out.Refused, r)
		}
	}
	for i, r := range out.Refused {
		if slices.ContainsFunc(d.deletes, func(asked scenario.Delete) bool { return asked.UID == string(r.UID) }) {
			out.Refused[i].Doubt = "" // who asks is who deletes it
		}
	}
	need := slices.Clone(d.types)
	for _, o := range d.objects {
		out.Objects = append(out.Objects, *o)
		need = append(need, typeOf(served, o))
		for _, r := range o.OwnerReferences {
			for _, t := range served {
				if r.Kind == t.Kind && r.APIVersion == apiVersion(t.Group, t.Version) {
					need = append(need, t)
				}
			}
		}
	}
	for _, t := range served {
		if slices.ContainsFunc(need, func(n scenario.Type) bool { return n.Group == t.Group && n.Resource == t.Resource }) {
			out.Types = append(out.Types, t)
		}
	}
	return out
}
