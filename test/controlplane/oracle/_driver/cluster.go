package garbagecollector

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/apiserver"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/scenario"
)

func init() {
	utilruntime.ErrorHandlers = nil // refused requests are part of every run
	retry.DefaultBackoff.Duration = 1
}

var errUnreachable = errors.New("the API service is unavailable")

// cluster is an API server in memory, upstream's garbage collector and the controllers
// beside it. Nothing happens by itself: step does one thing at a time.
type cluster struct {
	scenario scenario.Scenario
	random   *rand.Rand
	weights  [categories]int // how often each category of steps is chosen, relative to the others

	server  *apiserver.Server
	types   map[schema.GroupVersionResource]*apiserver.Type
	implied map[types.UID]bool // Namespaces that the scenario leaves out
	served  []scenario.Type    // those whose CustomResourceDefinition is still there
	deletes []scenario.Delete

	graph    *GraphBuilder
	deletion *queue[*node]
	orphan   *queue[*node]
	changes  *queue[*event]
	watches  []*watchStream
	handled  int // changes that the graph builder has processed

	running    []*routine
	namespaces map[string]int  // per terminating Namespace, what changed() was at its controller's last round
	cleanups   map[string]int  // likewise per CustomResourceDefinition
	removed    []scenario.Type // no longer served, but the REST mapper does not know yet

	refused map[scenario.Refusal]bool // without doubts; what admission refuses in this order of events
	earlier map[types.UID]bool        // what was terminating before the user's requests; nil until other controllers remove their finalizers
}

// watchStream has the watch events of one resource that the informer has not delivered yet.
type watchStream struct {
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	store    cache.Store
	events   []apiserver.Event
}

func newCluster(s scenario.Scenario, m mapper, random *rand.Rand) *cluster {
	s.Deletes = slices.DeleteFunc(slices.Clone(s.Deletes), func(d scenario.Delete) bool { // the command does not send what is refused
		return slices.Contains(s.Refused, scenario.Refusal{Operation: "DELETE", UID: types.UID(d.UID)})
	})
	c := &cluster{
		scenario: s, random: random, served: slices.Clone(s.Types), deletes: slices.Clone(s.Deletes),
		types: map[schema.GroupVersionResource]*apiserver.Type{}, implied: map[types.UID]bool{}, namespaces: map[string]int{}, cleanups: map[string]int{},
	}
	for i := range c.weights {
		c.weights[i] = []int{1, 8, 64}[random.IntN(3)]
	}
	var all []*apiserver.Type
	for _, t := range s.Types {
		stored := &apiserver.Type{
			GroupVersionResource: schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource},
			OtherVersions:        t.OtherVersions, Kind: t.Kind, Namespaced: t.Namespaced, Custom: t.Custom,
			OrphansByDefault: t.Group == "batch" && t.Kind == "Job" || t.Group == "" && t.Kind == "ReplicationController",
			IgnoresPolicy:    t.Resource == "events",
		}
		c.types[stored.GroupVersionResource] = stored
		all = append(all, stored)
	}
	c.server = apiserver.New(all)
	for _, o := range s.Objects {
		c.server.Add(c.stored(o))
	}
	c.addNamespaces()
	c.refused = map[scenario.Refusal]bool{}
	for _, r := range s.Refused {
		certain := r.Doubt == ""
		r.Doubt = ""
		c.refused[r] = certain || random.IntN(2) == 0
	}
	c.server.Admit = c.admit
	c.startCollector(m)
	return c
}

// admit returns an error if admission refuses a write.
func (c *cluster) admit(operation string, o *apiserver.Object) error {
	if c.refused[scenario.Refusal{Operation: operation, UID: o.UID}] {
		return apierrors.NewForbidden(o.Type.GroupResource(), o.Name, errors.New("admission refuses it"))
	}
	return nil
}

// withoutAdmission does what the API server does itself, or what admission lets a kubelet do.
func (c *cluster) withoutAdmission(do func()) {
	c.server.Admit = nil
	do()
	c.server.Admit = c.admit
}

// addNamespaces adds the Namespaces that a scenario leaves out: the API server refuses patches in
// a namespace that does not exist.
func (c *cluster) addNamespaces() {
	t := c.types[namespaceResource]
	if t == nil {
		return
	}
	for _, o := range c.scenario.Objects {
		if _, err := c.server.Get(namespaceResource, "", o.Namespace); o.Namespace == "" || err == nil {
			continue
		}
		added := &apiserver.Object{Type: t, SpecFinalizers: []string{namespaceFinalizer}}
		added.Name, added.UID = o.Namespace, types.UID("namespace "+o.Namespace)
		c.server.Add(added)
		c.implied[added.UID] = true
	}
}

// changed counts everything that may give a retry another result.
func (c *cluster) changed() int { return c.server.Revision() + c.handled }

func (c *cluster) startCollector(m mapper) {
	c.deletion, c.orphan, c.changes = newQueue[*node](c.changed), newQueue[*node](c.changed), newQueue[*event](c.changed)
	monitored := monitors{}
	for _, t := range c.scenario.Types {
		gvr := schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}
		if _, ignored := DefaultIgnoredResources()[gvr.GroupResource()]; ignored || t.Unwatchable || slices.Contains(c.scenario.Faults.Unlisted, gvr.GroupResource().String()) {
			continue
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		monitored[gvr] = &monitor{store: store}
		c.watches = append(c.watches, &watchStream{resource: gvr, kind: gvr.GroupVersion().WithKind(t.Kind), store: store})
	}
	c.graph = &GraphBuilder{
		restMapper: m, monitors: monitored, eventRecorder: &record.FakeRecorder{}, metadataClient: &pausingClient{c.server, func() {}, nil},
		graphChanges: c.changes, uidToNode: &concurrentUIDToNode{uidToNode: map[types.UID]*node{}},
		attemptToDelete: c.deletion, attemptToOrphan: c.orphan,
		absentOwnerCache: NewReferenceCache(500), ignoredResources: DefaultIgnoredResources(),
	}
	c.readEvents()
}

// collector returns a collector whose requests go through a client of its own.
func (c *cluster) collector(client *pausingClient) *GarbageCollector {
	return &GarbageCollector{
		restMapper: c.graph.restMapper.(mapper), metadataClient: client,
		attemptToDelete: c.deletion, attemptToOrphan: c.orphan,
		dependencyGraphBuilder: c.graph, absentOwnerCache: c.graph.absentOwnerCache,
	}
}

// readEvents hands the events of the API server to the watches.
func (c *cluster) readEvents() {
	for _, e := range c.server.TakeEvents() {
		for _, w := range c.watches {
			if w.resource == e.Object.Type.GroupVersionResource {
				w.events = append(w.events, e)
			}
		}
	}
}

// deliver passes the next event of a watch on to the graph builder's queue.
func (c *cluster) deliver(w *watchStream) {
	e := w.events[0]
	w.events = w.events[1:]
	o := &e.Object.PartialObjectMetadata
	old, exists, _ := w.store.Get(o)
	change := &event{gvk: w.kind, obj: o}
	switch {
	case e.Type == watch.Deleted:
		_ = w.store.Delete(o)
		change.eventType = deleteEvent
	case exists:
		_ = w.store.Update(o)
		change.eventType, change.oldObj = updateEvent, old
	default:
		_ = w.store.Add(o)
		change.eventType = addEvent
	}
	c.changes.Add(change)
}

// stored returns an object as the API server stores it.
func (c *cluster) stored(o scenario.Object) *apiserver.Object {
	out := &apiserver.Object{PartialObjectMetadata: *o.PartialObjectMetadata.DeepCopy(), SpecFinalizers: slices.Clone(o.SpecFinalizers)}
	gvk := o.GroupVersionKind()
	for _, t := range c.types {
		if t.GroupVersionResource.GroupVersion() == gvk.GroupVersion() && t.Kind == gvk.Kind {
			out.Type = t
		}
	}
	if out.Type == nil {
		panic("no type for " + gvk.String())
	}
	if o.Pod != nil {
		out.GraceSeconds, out.Scheduled, out.Finished = o.Pod.GraceSeconds, o.Pod.Scheduled, o.Pod.Finished
	}
	return out
}

// objects returns what exists, without what differs from run to run.
func (c *cluster) objects() []scenario.Object {
	pods := map[types.UID]*scenario.Pod{}
	for _, o := range c.scenario.Objects {
		pods[o.UID] = o.Pod
	}
	out := []scenario.Object{}
	for _, o := range c.server.Objects() {
		if c.implied[o.UID] {
			continue
		}
		gvk := o.Type.GroupVersionResource.GroupVersion().WithKind(o.Type.Kind)
		left := scenario.Object{PartialObjectMetadata: *o.PartialObjectMetadata.DeepCopy(), Pod: pods[o.UID], SpecFinalizers: o.SpecFinalizers}
		left.SetGroupVersionKind(gvk)
		left.ResourceVersion, left.Generation = "", 0
		out = append(out, left)
	}
	return out
}

// find returns the object with a UID.
func (c *cluster) find(uid string) (apiserver.Object, bool) {
	for _, o := range c.server.Objects() {
		if string(o.UID) == uid {
			return o, true
		}
	}
	return apiserver.Object{}, false
}

// The categories of steps.
const (
	watchSteps = iota
	graphSteps
	deleteSteps
	orphanSteps
	requestSteps // requests of workers that have begun
	controllerSteps
	userSteps
	categories
)

// possibleSteps are what can be done next, by category.
type possibleSteps [categories][]func()

func (p *possibleSteps) add(category int, do func()) { p[category] = append(p[category], do) }

// graphSteps returns what the collector's informers and its graph builder can do.
func (c *cluster) graphSteps() *possibleSteps {
	out := &possibleSteps{}
	for _, w := range c.watches {
		if len(w.events) > 0 {
			out.add(watchSteps, func() { c.deliver(w) })
		}
	}
	c.changes.wake()
	if c.changes.Len() > 0 {
		out.add(graphSteps, func() {
			c.changes.take(c.changes.ready[0])
			c.graph.processGraphChanges(klog.Background())
			c.handled++
		})
	}
	return out
}

// step does one thing, and reports whether there was anything to do. The user's requests
// come only if withUser.
func (c *cluster) step(withUser bool) bool {
	possible := c.graphSteps()
	add := possible.add
	c.deletion.wake()
	if c.workers() < maxWorkers {
		for _, n := range sorted(c.deletion.ready) {
			add(deleteSteps, func() { c.deletion.take(n); c.startDeleteWorker() })
		}
	}
	c.orphan.wake()
	if c.workers() < maxWorkers {
		for _, n := range sorted(c.orphan.ready) {
			add(orphanSteps, func() { c.orphan.take(n); c.startOrphanWorker() })
		}
	}
	for _, r := range c.running {
		add(requestSteps, func() { c.resume(r) })
	}
	c.addControllerSteps(func(do func()) { add(controllerSteps, do) })
	if withUser && len(c.deletes) > 0 {
		add(userSteps, c.deleteAsUser)
	}
	return c.stepOf(possible)
}

// stepOf does one of these things, and reports whether there was any.
func (c *cluster) stepOf(possible *possibleSteps) bool {
	total := 0
	for category, steps := range possible {
		if len(steps) > 0 {
			total += c.weights[category]
		}
	}
	if total == 0 {
		return false
	}
	at := c.random.IntN(total)
	for category, steps := range possible {
		if len(steps) == 0 {
			continue
		}
		if at -= c.weights[category]; at < 0 {
			steps[c.random.IntN(len(steps))]()
			break
		}
	}
	c.readEvents()
	return true
}

// sorted returns nodes in an order that is the same in every run.
func sorted(nodes []*node) []*node {
	out := slices.Clone(nodes)
	slices.SortStableFunc(out, func(a, b *node) int { return strings.Compare(a.identity.String(), b.identity.String()) })
	return out
}

// deleteAsUser sends the user's next request, and creates what follows the last one. A request for
// what is gone fails, and changes nothing.
func (c *cluster) deleteAsUser() {
	d := c.deletes[0]
	c.deletes = c.deletes[1:]
	if o, ok := c.find(d.UID); ok {
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID}}
		if d.Policy != "" {
			options.PropagationPolicy = &d.Policy
		}
		_, _ = c.server.Delete(o.Type.GroupVersionResource, o.Namespace, o.Name, options)
	}
	if len(c.deletes) == 0 {
		for _, o := range c.scenario.Creates {
			c.server.Add(c.stored(o))
		}
	}
	c.handled++
}
