package simulate

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// finalizerControllers lets the controllers beside the collector do their part: each looks at
// what changed, and takes its finalizer off where its condition holds by now. A
// Pod that was stopping before is stopped. It is linear in what changes.
type finalizerControllers struct {
	sim    *simulation
	due    []graph.Node
	queued graph.Set
	mounts *volumeUsage // nil until a claim or a volume is looked at

	ended     []graph.Node          // Services that have gone, whose Endpoints have not
	endpoints map[string]graph.Node // by namespace/name; nil until a Service has gone
}

func newFinalizerControllers(s *simulation) *finalizerControllers {
	return &finalizerControllers{sim: s, queued: graph.NewSet(s.model.graph)}
}

// onStateChange is told of every node whose state is another.
func (s *simulation) onStateChange(n graph.Node, old *object.Object) {
	s.open.heed(n, s.model.now[n] == nil)
	if s.afterward != nil {
		s.afterward.follow(s, n, old)
	}
	if s.custody != nil {
		s.custody.heed(n, old)
	}
}

func (c *finalizerControllers) heed(n graph.Node, old *object.Object) {
	c.look(n)
	now := c.sim.model.now[n]
	if old != nil && (now == nil || now.Terminating() != old.Terminating()) {
		for _, e := range c.sim.model.graph.Dependents(n) {
			c.look(e.Node)
		}
	}
	if now == nil && old != nil && old.GroupVersionKind().GroupKind() == serviceKind {
		c.ended = append(c.ended, n)
	}
	if c.mounts != nil && old != nil {
		c.mounts.heed(c, n, old)
	}
}

// look queues an object that a custodian may let go of.
func (c *finalizerControllers) look(n graph.Node) {
	o := c.sim.model.Object(n)
	if o == nil || int(n) >= c.sim.model.graph.Listed() || len(o.Finalizers) == 0 && !o.Stopping() || !c.queued.Add(n) {
		return
	}
	c.due = append(c.due, n)
}

// act lets every custodian act, and says whether any did.
func (c *finalizerControllers) act() bool {
	did := false
	for len(c.due) > 0 {
		n := c.due[0]
		c.due = c.due[1:]
		c.queued.Remove(n)
		did = c.lift(n) || did
	}
	for len(c.ended) > 0 {
		service := c.ended[0]
		c.ended = c.ended[1:]
		did = c.forget(service) || did
	}
	return did
}

// forget deletes the Endpoints of a Service that has gone: they bear its name, and
// no reference (endpoints_controller.go, syncService).
func (c *finalizerControllers) forget(service graph.Node) bool {
	if c.endpoints == nil {
		c.endpoints = map[string]graph.Node{}
		for n := range c.sim.model.graph.Listed() {
			if o := c.sim.model.graph.Object(graph.Node(n)); o.GroupVersionKind().GroupKind() == endpointsKind {
				c.endpoints[o.Namespace+"/"+o.Name] = graph.Node(n)
			}
		}
	}
	at := c.sim.model.graph.Object(service)
	n, ok := c.endpoints[at.Namespace+"/"+at.Name]
	if !ok || c.sim.model.now[n] == nil || c.sim.model.now[n].Terminating() {
		return false
	}
	if by := c.sim.last[service]; by >= 0 {
		c.sim.course.ContentsDeleted[n], c.sim.last[n] = int(by), by
	}
	c.sim.owe(n, service)
	c.sim.model.SetState(n, Deleted(c.sim.model.now[n], "", c.sim.model.taken))
	return true
}

func (c *finalizerControllers) lift(n graph.Node) bool {
	o := c.sim.model.now[n]
	switch {
	case o == nil:
		return false
	case o.Stopping():
		if overdue := c.sim.model.taken.After(*o.Deleted); overdue { // of a Pod this is the time at which it is to have stopped
			return false
		}
		c.sim.course.FinalizersRemoved.Add(n)
		c.sim.model.SetState(n, settled(o))
		return true
	}
	i := slices.IndexFunc(o.Finalizers, func(f string) bool {
		k := custodians[f]
		return k.lifts != nil && k.of == o.GroupVersionKind().GroupKind() && k.lifts(c, n)
	})
	if i < 0 {
		return false
	}
	c.sim.course.FinalizersRemoved.Add(n)
	c.sim.model.SetState(n, Patched(o, object.Change{Release: o.Finalizers[i]}))
	return true
}

// tracked says whether the Job controller takes its finalizer off a Pod: off one
// that is being deleted, since it is counted then; off one whose Job is being
// deleted; and off one that has no controller any more. The Pod of a Job that is
// gone has to wait for its own deletion, and that of another kind of controller
// for that one (job_controller.go, syncOrphanPod, canRemoveFinalizer).
func (c *finalizerControllers) tracked(n graph.Node) bool {
	o := c.sim.model.now[n]
	i := slices.IndexFunc(o.Owners, object.Reference.Controls)
	if i < 0 {
		return true
	}
	r := o.Owners[i]
	if r.Kind != "Job" || r.APIVersion != "batch/v1" {
		return false
	}
	job := c.sim.model.Object(c.sim.model.graph.Find(r.UID))
	return o.Terminating() || job != nil && job.Terminating()
}

// unmounted says whether no Pod uses a claim that is being deleted
// (pvc_protection_controller.go, podUsesPVCForDeletion).
func (c *finalizerControllers) unmounted(n graph.Node) bool {
	return c.sim.model.now[n].Terminating() && c.mounted().free(c, n)
}

// unbound says whether no claim is bound to a volume that is being deleted
// (pv_protection_controller.go, isBeingUsed).
func (c *finalizerControllers) unbound(n graph.Node) bool {
	o := c.sim.model.now[n]
	if !o.Terminating() || o.Claims == nil {
		return false
	}
	if len(o.Claims) == 0 {
		return true
	}
	namespace, _, _ := strings.Cut(o.Claims[0], "/")
	return c.sim.model.graph.View().Listed(claims, namespace) && c.sim.model.Object(c.mounted().at(o.Claims[0])) == nil
}
