package oracle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Kind is a kind of random scenario. Results are counted per kind.
type Kind struct {
	Name string
	draw func(*drawer)
}

// Kinds are all kinds of scenarios.
var Kinds = []Kind{
	{"chains", drawChains},
	{"cycles", drawCycles},
	{"foreground with held owners", drawHeldOwners},
	{"doubled references", drawDoubled},
	{"namespaces", drawNamespaces},
	{"custom resource definitions", drawDefinitions},
	{"unmonitored owners", drawUnmonitored},
	{"orphans and foreground together", drawOrphans},
	{"pods and lost nodes", drawPods},
	{"several deletions", drawSeveral},
	{"conflicting references", drawConflicting},
	{"unreachable groups", drawUnreachable},
	{"anything", drawAnything},
	{"refused writes", drawRefused},
}

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
	orphan     = metav1.DeletePropagationOrphan

	foregroundFinalizer = metav1.FinalizerDeleteDependents
	orphanFinalizer     = metav1.FinalizerOrphanDependents
)

// drawTree adds objects that each have one or two earlier ones as owners.
func (d *drawer) drawTree(n int, from ...scenario.Type) {
	for range n {
		o := d.add(from...)
		for i := range d.between(0, 2) {
			if owner := d.pickObject(); owner != o && (i == 0 || d.chance(50)) {
				d.own(owner, o)
			}
		}
		if d.chance(15) {
			addFinalizers(o, hold)
		}
	}
}

func drawChains(d *drawer) {
	last := d.add(ordinary...)
	d.delete(last)
	for range d.between(1, 5) {
		o := d.add(ordinary...)
		d.own(last, o)
		if d.chance(15) {
			addFinalizers(o, pick(d, hold, hold, orphanFinalizer, foregroundFinalizer))
		}
		if d.chance(70) {
			last = o
		}
	}
	if d.chance(30) { // a second owner
		d.own(d.add(ordinary...), last)
	}
}

// addCycle adds a cycle of n objects.
func (d *drawer) addCycle(n int, from ...scenario.Type) []*scenario.Object {
	members := make([]*scenario.Object, n)
	for i := range members {
		members[i] = d.add(from...)
	}
	for i, o := range members {
		d.ownBlocking(members[(i+1)%n], o, pick(d, nil, ptr(false), ptr(true), ptr(true), ptr(true)))
	}
	return members
}

func drawCycles(d *drawer) {
	from := pick(d, ordinary, builtIn, []scenario.Type{widget})
	members := d.addCycle(d.between(1, 4), from...)
	for range d.between(0, 3) {
		o := d.add(from...)
		d.own(pick(d, members...), o)
		if d.chance(30) {
			d.own(o, pick(d, members...))
		}
	}
	if d.chance(40) {
		addFinalizers(pick(d, members...), hold)
	}
	if d.chance(25) {
		d.terminate(pick(d, members...), foregroundFinalizer)
	}
	d.delete(pick(d, members...), foreground, foreground, foreground, background)
	if d.chance(30) {
		d.delete(pick(d, members...), foreground, background)
	}
}

func drawHeldOwners(d *drawer) {
	owner := d.add(ordinary...)
	if d.chance(70) {
		addFinalizers(owner, hold)
	}
	for range d.between(1, 4) {
		if d.full() {
			break
		}
		o := d.add(ordinary...)
		d.ownBlocking(owner, o, pick(d, nil, ptr(false), ptr(true)))
		if d.chance(40) {
			addFinalizers(o, hold)
		}
		for range d.between(0, 2) {
			if d.full() {
				break
			}
			dependent := d.add(ordinary...)
			d.ownBlocking(o, dependent, pick(d, nil, ptr(true), ptr(true)))
			if d.chance(25) {
				addFinalizers(dependent, hold)
			}
			if d.chance(20) {
				d.own(owner, dependent)
			}
		}
	}
	if d.chance(25) {
		d.terminate(owner, foregroundFinalizer)
		d.delete(d.pickAlive())
		return
	}
	d.delete(owner, foreground)
}

func drawDoubled(d *drawer) {
	owner, other := d.add(ordinary...), d.add(ordinary...)
	if d.chance(30) {
		d.own(pick(d, owner, other), pick(d, owner, other))
	}
	for range d.between(1, 3) {
		o := d.add(ordinary...)
		if d.chance(50) {
			d.own(other, o)
		}
		d.own(owner, o)
		d.double(o)
		if d.chance(30) {
			d.own(other, o)
		}
		if d.chance(25) {
			d.own(o, owner)
		}
		if d.chance(20) {
			addFinalizers(o, hold)
		}
	}
	d.delete(pick(d, owner, owner, other), foreground, foreground, background, orphan)
}

// double adds a second reference with the UID of one that the object has.
func (d *drawer) double(o *scenario.Object) {
	r := pick(d, o.OwnerReferences...) // its flags are replaced, never written through
	r.Controller = nil
	if d.chance(60) {
		r.BlockOwnerDeletion = d.flag()
	}
	if d.chance(50) {
		d.spoil(&r)
	}
	o.OwnerReferences = append(o.OwnerReferences, r)
}

// drawNamespaces has objects in two namespaces. At least one Namespace exists as an object.
func drawNamespaces(d *drawer) {
	ns := d.addNamed(namespace, "a")
	if d.chance(40) {
		d.addNamed(namespace, "b")
		d.namespaces = []string{"a", "b"}
	}
	d.drawTree(d.between(1, 4), pod, configMap, secret, widget, deployment, job)
	if d.chance(60) {
		p := d.add(pod)
		if d.chance(60) {
			addFinalizers(p, hold)
		}
		if d.chance(25) {
			d.stop(p, d.chance(50))
		}
	}
	if d.chance(30) {
		d.own(d.add(gadget), ns)
	}
	if d.chance(30) {
		d.own(ns, d.pickObject())
	}
	switch {
	case d.chance(20):
		d.terminate(ns)
	case d.chance(15):
		ns.OwnerReferences = append(ns.OwnerReferences, d.missing(gadget))
	}
	d.delete(pick(d, ns, ns, ns, d.pickObject()), background, background, background, foreground, orphan)
}

func drawDefinitions(d *drawer) {
	defined := pick(d, widget, widget, gadget)
	crd := d.addDefinition(defined)
	var instances []*scenario.Object
	for range d.between(1, 3) {
		o := d.add(defined)
		if d.chance(25) {
			addFinalizers(o, pick(d, hold, orphanFinalizer, foregroundFinalizer))
		}
		instances = append(instances, o)
	}
	for range d.between(1, 4) {
		o := d.add(configMap, secret, pod, widget)
		d.own(pick(d, instances...), o)
		if d.chance(30) {
			d.own(d.pickObject(), o)
		}
	}
	switch {
	case d.chance(15):
		d.terminate(crd)
	case d.chance(15):
		crd.OwnerReferences = append(crd.OwnerReferences, d.missing(gadget))
	}
	d.delete(pick(d, crd, crd, pick(d, instances...)), background, background, foreground, orphan)
}

func drawUnmonitored(d *drawer) {
	d.contentsKept = true
	d.drawTree(d.between(1, 3), configMap, secret, gadget, widget)
	for range d.between(1, 2) {
		o := d.add(unmonitored...)
		switch {
		case d.chance(35):
			o.OwnerReferences = append(o.OwnerReferences, d.missing(configMap, pod))
		case d.chance(50):
			d.own(d.pickObject(), o)
		}
		switch {
		case d.chance(25):
			addFinalizers(o, hold)
		case d.chance(25):
			d.terminate(o, pick(d, foregroundFinalizer, hold, orphanFinalizer))
		}
		for range d.between(1, 2) {
			dependent := d.add(configMap, secret, pod, widget)
			d.own(o, dependent)
			if d.chance(25) {
				d.own(d.pickObject(), dependent)
			}
		}
	}
	d.delete(d.pickAlive())
}

func drawOrphans(d *drawer) {
	owners := []*scenario.Object{d.add(ordinary...), d.add(ordinary...)}
	for range d.between(1, 4) {
		o := d.add(ordinary...)
		d.own(owners[0], o)
		if d.chance(60) {
			d.own(owners[1], o)
		}
		if d.chance(20) {
			d.own(o, pick(d, owners...))
		}
		if d.chance(20) {
			addFinalizers(o, pick(d, hold, orphanFinalizer))
		}
	}
	for _, owner := range owners {
		switch d.IntN(6) {
		case 0:
			d.terminate(owner, orphanFinalizer)
		case 1:
			d.terminate(owner, foregroundFinalizer)
		case 2:
			d.terminate(owner, orphanFinalizer, foregroundFinalizer)
		case 3:
			addFinalizers(owner, pick(d, orphanFinalizer, foregroundFinalizer))
		}
		if d.chance(25) {
			addFinalizers(owner, hold)
		}
		d.delete(owner, orphan, orphan, foreground, background, "")
	}
}

func drawPods(d *drawer) {
	owner := d.add(replicaSet, job, configMap, widget)
	for range d.between(1, 4) {
		p := d.add(pod)
		d.own(owner, p)
		switch {
		case d.chance(20):
			d.stop(p, true)
		case d.chance(20):
			d.stop(p, false)
		}
		if d.chance(20) {
			addFinalizers(p, hold)
		}
		if d.chance(40) {
			d.own(p, d.add(configMap, secret))
		}
		if d.full() {
			break
		}
	}
	if d.chance(25) {
		d.terminate(owner, foregroundFinalizer)
	}
	if d.chance(20) && !d.full() {
		d.addNamed(namespace, "a")
	}
	d.delete(pick(d, owner, d.pickObject()))
}

func drawSeveral(d *drawer) {
	d.drawTree(d.between(3, 7), ordinary...)
	if d.chance(30) {
		d.own(d.objects[len(d.objects)-1], d.objects[0])
	}
	for range d.between(2, 4) {
		d.delete(d.pickObject())
	}
}

func drawConflicting(d *drawer) {
	d.namespaces = []string{"a", "a", "b"}
	owners := []*scenario.Object{d.add(ordinary...), d.add(append(ordinary, clusterScoped...)...)}
	for range d.between(2, 5) {
		o := d.add(append(ordinary, gadget)...)
		for range d.between(1, 3) {
			d.own(pick(d, owners...), o)
			if d.chance(45) {
				d.spoil(&o.OwnerReferences[len(o.OwnerReferences)-1])
			}
		}
		if d.chance(20) {
			d.own(o, pick(d, owners...))
		}
	}
	d.delete(d.pickObject())
}

func drawUnreachable(d *drawer) {
	d.unreachable = []string{unreachable}
	d.drawTree(d.between(2, 5), append(ordinary, gadget)...)
	if d.chance(50) {
		r := metav1.OwnerReference{APIVersion: unreachable + "/v1", Kind: "Remote", Name: "r", UID: "r"}
		o := d.pickObject()
		o.OwnerReferences = append(o.OwnerReferences, r)
	}
	if d.chance(60) && !d.full() {
		ns := d.addNamed(namespace, "a")
		if d.chance(50) {
			d.terminate(ns)
		}
	}
	d.delete(d.pickAlive())
}

func drawAnything(d *drawer) {
	d.namespaces = []string{"a", "a", "a", "b"}
	for range d.between(2, maxObjects) {
		o := d.add(append(append(ordinary, ordinary...), gadget, namespace, event, meter)...)
		for range d.between(0, 3) {
			d.own(d.pickObject(), o)
		}
	}
	for range d.between(0, 4) {
		d.addDetail()
	}
	for range d.between(1, 3) {
		d.delete(d.pickObject())
	}
}

// addDetail changes one random thing.
func (d *drawer) addDetail() {
	o := d.pickObject()
	switch d.IntN(12) {
	case 0:
		addFinalizers(o, hold)
	case 1:
		if o.DeletionTimestamp == nil {
			addFinalizers(o, pick(d, orphanFinalizer, foregroundFinalizer))
		}
	case 2:
		if o.DeletionTimestamp == nil {
			d.terminate(o, pick(d, foregroundFinalizer, foregroundFinalizer, orphanFinalizer, hold))
		}
	case 3:
		o.OwnerReferences = append(o.OwnerReferences, d.missing(ordinary...))
	case 4:
		if len(o.OwnerReferences) > 0 {
			d.spoil(&o.OwnerReferences[d.IntN(len(o.OwnerReferences))])
		}
	case 5:
		if len(o.OwnerReferences) > 0 {
			d.double(o)
		}
	case 6: // perhaps itself
		d.own(d.pickObject(), o)
	case 7:
		for i := range o.OwnerReferences {
			o.OwnerReferences[i].Controller = d.flag()
		}
	case 8:
		if !d.full() {
			d.own(o, d.add(ordinary...))
		}
	case 9:
		if !d.full() && !d.contentsKept {
			d.own(d.add(gadget), o)
		}
	case 10:
		if o.DeletionTimestamp == nil && d.chance(30) {
			d.terminate(o, orphanFinalizer, foregroundFinalizer)
		}
	case 11:
		d.delete(d.pickAlive())
	}
}

// missing returns a reference to an object that does not exist.
func (d *drawer) missing(from ...scenario.Type) metav1.OwnerReference {
	t := pick(d, from...)
	d.serve(t)
	name := pick(d, "gone", "gone", "away")
	return metav1.OwnerReference{APIVersion: apiVersion(t.Group, t.Version), Kind: t.Kind, Name: name, UID: types.UID(name + "-" + t.Resource), BlockOwnerDeletion: d.flag()}
}

// spoil makes a reference unusual or wrong.
func (d *drawer) spoil(r *metav1.OwnerReference) {
	switch d.IntN(9) {
	case 0:
		r.Name = pick(d, "other", d.pickObject().Name)
	case 1:
		wrong := pick(d, ordinary...)
		d.serve(wrong)
		r.APIVersion, r.Kind = apiVersion(wrong.Group, wrong.Version), wrong.Kind
	case 2:
		r.UID = pick(d, types.UID("other"), d.pickObject().UID)
	case 3:
		if r.Kind == widget.Kind {
			r.APIVersion = "example.com/v1beta1"
		}
	case 4:
		r.APIVersion = pick(d, "example.com/v2", "apps/v1beta1", "v2")
	case 5:
		r.APIVersion, r.Kind = pick(d, "example.com/v1", "nowhere.example.com/v1"), "Gizmo"
		d.serve(widget)
	case 6:
		d.serve(gadget)
		r.APIVersion, r.Kind = "example.com/v1", gadget.Kind
	case 7:
		r.BlockOwnerDeletion = d.flag()
	case 8:
		if d.chance(50) {
			r.Kind = pick(d, "configmap", "PodList")
			r.APIVersion = "v1"
			d.serve(configMap)
			d.serve(pod)
		}
	}
}

// drawRefused has admission that refuses writes of a scenario of another kind.
func drawRefused(d *drawer) {
	pick(d, drawChains, drawCycles, drawHeldOwners, drawNamespaces, drawDefinitions, drawOrphans, drawPods, drawSeveral, drawAnything)(d)
	for range d.between(1, 2) {
		r := scenario.Refusal{
			Operation: pick(d, "DELETE", "DELETE", "UPDATE"), UID: d.pickObject().UID,
			Doubt: string(pick(d, "", "", reason.RefusedForYou, reason.AcceptedForYou)),
		}
		if slices.ContainsFunc(d.refused, func(other scenario.Refusal) bool { return other.UID == r.UID && other.Operation == r.Operation }) {
			continue
		}
		d.refused = append(d.refused, r)
	}
}
