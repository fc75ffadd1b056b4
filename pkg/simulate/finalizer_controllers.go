package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// finalizerControllers models the controllers that run next to the collector: when
// something changes, they remove their finalizers where the condition is now met. It also
// stops Pods that were stopping before the simulation, and deletes Endpoints. Its cost is
// linear in what changes.
type finalizerControllers struct {
	sim    *simulation
	queue  []graph.Node
	queued graph.Set // the same nodes

	goneServices []graph.Node          // their Endpoints still have to be deleted
	endpoints    map[string]graph.Node // by namespace/name; nil until first used
}

func newFinalizerControllers(s *simulation) *finalizerControllers {
	return &finalizerControllers{sim: s, queued: graph.NewSet(s.model.graph)}
}

func (c *finalizerControllers) onStateChange(n graph.Node, old *object.Object) {
	c.enqueue(n)
	now := c.sim.model.now[n]
	if old != nil && (now == nil || now.Terminating() != old.Terminating()) {
		for _, e := range c.sim.model.graph.Dependents(n) {
			c.enqueue(e.Node)
		}
	}
	if now == nil && old != nil && old.GroupVersionKind().GroupKind() == serviceKind {
		c.goneServices = append(c.goneServices, n)
	}
	if old != nil && (old.Kind == object.Pod.Kind || old.Kind == object.VolumeClaim.Kind) {
		c.enqueueUsed(n, old)
	}
}

func (c *finalizerControllers) enqueue(n graph.Node) {
	o := c.sim.model.Object(n)
	if o == nil || int(n) >= c.sim.model.graph.Listed() || len(o.Finalizers) == 0 && !o.InGracePeriod() || !c.queued.Add(n) {
		return
	}
	c.queue = append(c.queue, n)
}

// processQueue processes the queue and reports whether anything changed.
func (c *finalizerControllers) processQueue() bool {
	changed := false
	for len(c.queue) > 0 {
		n := c.queue[0]
		c.queue = c.queue[1:]
		c.queued.Remove(n)
		changed = c.removeFinalizer(n) || changed
	}
	for len(c.goneServices) > 0 {
		service := c.goneServices[0]
		c.goneServices = c.goneServices[1:]
		changed = c.deleteEndpoints(service) || changed
	}
	return changed
}

// deleteEndpoints deletes the Endpoints of a Service that is gone. They have its name, but
// no owner reference to it (endpoints_controller.go, syncService).
func (c *finalizerControllers) deleteEndpoints(service graph.Node) bool {
	m := c.sim.model
	if c.endpoints == nil {
		c.endpoints = map[string]graph.Node{}
		for n := range m.graph.Listed() {
			if o := m.graph.Object(graph.Node(n)); o.GroupVersionKind().GroupKind() == endpointsKind {
				c.endpoints[o.Namespace+"/"+o.Name] = graph.Node(n)
			}
		}
	}
	at := m.graph.Object(service)
	n, ok := c.endpoints[at.Namespace+"/"+at.Name]
	if !ok || m.now[n] == nil || m.now[n].Terminating() {
		return false
	}
	if by := c.sim.last[service]; by >= 0 {
		c.sim.result.ContentsDeleted[n], c.sim.last[n] = int(by), by
	}
	c.sim.release.add(n, c.sim.release.causesOf(service))
	m.SetState(n, StateAfterDelete(m.now[n], "", nil, m.taken))
	return true
}

// removeFinalizer removes the first finalizer of an object whose controller removes it, or
// stops a Pod, and reports whether there was anything to do.
func (c *finalizerControllers) removeFinalizer(n graph.Node) bool {
	m := c.sim.model
	o := m.now[n]
	switch {
	case o == nil:
		return false
	case o.InGracePeriod():
		left := m.afterKubelet(o)
		if left == o {
			return false
		}
		c.sim.result.FinalizersRemoved.Add(n)
		m.SetState(n, left)
		return true
	}
	i := c.removable(n)
	if i < 0 || m.late(n, o.Finalizers[i]) {
		return false
	}
	c.sim.result.FinalizersRemoved.Add(n)
	c.sim.release.add(n, c.sim.release.causesOf(m.users().users[n]...))
	m.SetState(n, StateAfterPatch(o, object.Change{RemoveFinalizer: o.Finalizers[i]}))
	return true
}

// removable returns the index of the first finalizer that its controller removes now, or -1.
func (c *finalizerControllers) removable(n graph.Node) int {
	o := c.sim.model.now[n]
	return slices.IndexFunc(o.Finalizers, func(f string) bool {
		k := knownFinalizers[f]
		return k.removable != nil && k.kind == o.GroupVersionKind().GroupKind() && k.removable(c, n)
	})
}

// jobTrackingDone reports whether the Job controller removes its finalizer from a Pod: the
// Pod is being deleted, so it is counted; its Job is being deleted; or it no longer has a
// controller. A Pod whose Job is gone, or whose controller is of another kind, keeps it
// until the Pod is deleted (job_controller.go, syncOrphanPod, canRemoveFinalizer).
func (c *finalizerControllers) jobTrackingDone(n graph.Node) bool {
	m := c.sim.model
	o := m.now[n]
	i := slices.IndexFunc(o.Owners, object.Reference.Controls)
	if i < 0 {
		return true
	}
	r := o.Owners[i]
	if r.Kind != "Job" || r.APIVersion != "batch/v1" {
		return false
	}
	job := m.Object(m.graph.Find(r.UID))
	return o.Terminating() || job != nil && job.Terminating()
}
