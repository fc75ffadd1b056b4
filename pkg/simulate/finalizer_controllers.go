package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// finalizerControllers models the controllers that run next to the collector: when
// something changes, they remove their finalizers where the condition is now met. It also
// stops Pods that were stopping before the simulation, and deletes followers. Its cost is
// linear in what changes.
type finalizerControllers struct {
	sim    *simulation
	queue  []graph.Node
	queued graph.Set // the same nodes

	gone      []graph.Node                     // their followers still have to be deleted
	followers map[object.Identity][]graph.Node // by what they follow; nil until first used
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
	if now == nil && old != nil && (old.IsService() || old.IsServiceAccount()) {
		c.gone = append(c.gone, n)
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
	for len(c.gone) > 0 {
		n := c.gone[0]
		c.gone = c.gone[1:]
		changed = c.deleteFollowers(n) || changed
	}
	return changed
}

// Leader returns what an object is deleted with, by another controller and though it has no owner reference
// to it. The UID is empty if the object names none.
func Leader(o *object.Object) (leader object.Identity, ok bool) {
	switch {
	case o.GroupVersionKind().GroupKind() == endpointsKind: // they have the name of their Service
		return object.Identity{APIVersion: "v1", Kind: "Service", Namespace: o.Namespace, Name: o.Name}, true
	case o.Lifecycle != nil:
		return o.Lifecycle.With, o.Lifecycle.With.Name != ""
	}
	return leader, false
}

// deleteFollowers deletes what goes as soon as this Service or ServiceAccount is gone: its Endpoints
// (endpoints_controller.go, syncService), or its tokens (tokens_controller.go, syncServiceAccount).
func (c *finalizerControllers) deleteFollowers(n graph.Node) bool {
	m, changed := c.sim.model, false
	if c.followers == nil {
		c.followers = map[object.Identity][]graph.Node{}
		for follower := range m.graph.Listed() {
			if leader, ok := Leader(m.graph.Object(graph.Node(follower))); ok {
				c.followers[leader] = append(c.followers[leader], graph.Node(follower))
			}
		}
	}
	leader := m.graph.Object(n).Identity
	unnamed := leader
	unnamed.UID = ""
	for _, follower := range slices.Concat(c.followers[leader], c.followers[unnamed]) {
		now := m.now[follower]
		if now == nil || now.Terminating() || now.Contested || m.deletionRefused(follower) {
			continue
		}
		if by := c.sim.last[n]; by >= 0 {
			c.sim.result.ContentsDeleted[follower], c.sim.last[follower] = int(by), by
		}
		c.sim.release.add(follower, c.sim.release.causesOf(n))
		m.SetState(follower, StateAfterDelete(now, "", nil, m.taken))
		changed = true
	}
	return changed
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
	if i < 0 || m.late(n, o.Finalizers[i]) || m.Admission(n, "UPDATE").Refused {
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
