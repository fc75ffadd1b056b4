package simulate

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

var (
	podKind       = schema.GroupKind{Kind: "Pod"}
	claimKind     = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	volumeKind    = schema.GroupKind{Kind: "PersistentVolume"}
	serviceKind   = schema.GroupKind{Kind: "Service"}
	endpointsKind = schema.GroupKind{Kind: "Endpoints"}

	pods   = schema.GroupResource{Resource: "pods"}
	claims = schema.GroupResource{Resource: "persistentvolumeclaims"}
)

// volumeUsage is which Pods use which claim, and which volumes are bound to it.
type volumeUsage struct {
	claims  map[string]graph.Node       // by namespace/name
	users   map[graph.Node][]graph.Node // Pods by claim; who uses it no more is dropped from the front
	unasked map[string][]graph.Node     // by namespace, Pods of which nobody asked what they use; likewise
	waiting map[string][]graph.Node     // by namespace, claims that those may use
	volumes map[string][]graph.Node     // by namespace/name of the claim
}

// mounted is built when the first claim or volume is looked at.
func (c *finalizerControllers) mounted() *volumeUsage {
	if c.mounts != nil {
		return c.mounts
	}
	m := &volumeUsage{map[string]graph.Node{}, map[graph.Node][]graph.Node{}, map[string][]graph.Node{}, map[string][]graph.Node{}, map[string][]graph.Node{}}
	for n := range c.sim.model.graph.Listed() {
		if o := c.sim.model.graph.Object(graph.Node(n)); o.GroupVersionKind().GroupKind() == claimKind {
			m.claims[o.Namespace+"/"+o.Name] = graph.Node(n)
		}
	}
	for n := range c.sim.model.graph.Listed() {
		node := graph.Node(n)
		o := c.sim.model.graph.Object(node)
		switch o.GroupVersionKind().GroupKind() {
		case podKind:
			if o.Claims == nil {
				m.unasked[o.Namespace] = append(m.unasked[o.Namespace], node)
			}
			for _, name := range o.Claims {
				if claim := m.at(o.Namespace + "/" + name); claim != graph.None {
					m.users[claim] = append(m.users[claim], node)
				}
			}
		case volumeKind:
			for _, at := range o.Claims {
				m.volumes[at] = append(m.volumes[at], node)
			}
		}
	}
	c.mounts = m
	return m
}

// at is the claim at namespace/name, or None.
func (m *volumeUsage) at(place string) graph.Node {
	if n, ok := m.claims[place]; ok {
		return n
	}
	return graph.None
}

// free says whether no Pod uses a claim: all Pods of its namespace were seen, and
// those that are left are known to use others.
func (m *volumeUsage) free(c *finalizerControllers, claim graph.Node) bool {
	at := c.sim.model.graph.Object(claim)
	if !c.sim.model.graph.View().Listed(pods, at.Namespace) {
		return false
	}
	for users := m.users[claim]; len(users) > 0; users = users[1:] {
		m.users[claim] = users
		if c.uses(users[0], claim) {
			c.look(users[0]) // it may be stopping
			return false
		}
	}
	delete(m.users, claim)
	if !m.asked(c, at.Namespace) {
		m.waiting[at.Namespace] = append(m.waiting[at.Namespace], claim)
		return false
	}
	return true
}

// asked says whether it is known of every Pod left in a namespace what it uses.
func (m *volumeUsage) asked(c *finalizerControllers, namespace string) bool {
	left := m.unasked[namespace]
	for len(left) > 0 && c.sim.model.now[left[0]] == nil {
		left = left[1:]
	}
	m.unasked[namespace] = left
	return len(left) == 0
}

// uses says whether a Pod keeps a claim. The claim of an ephemeral volume is the
// Pod's own, and is let go when the kubelet is done with the Pod.
func (c *finalizerControllers) uses(pod, claim graph.Node) bool {
	o := c.sim.model.now[pod]
	if o == nil {
		return false
	}
	shut := o.Terminating() && !o.Stopping()
	own := slices.ContainsFunc(c.sim.model.graph.Object(claim).Owners, func(r object.Reference) bool { return r.UID == o.UID && r.Controls() })
	return !own || !shut
}

// heed looks again at what a change of state may have set free.
func (m *volumeUsage) heed(c *finalizerControllers, n graph.Node, old *object.Object) {
	now := c.sim.model.now[n]
	switch old.GroupVersionKind().GroupKind() {
	case podKind:
		for _, name := range old.Claims {
			if claim := m.at(old.Namespace + "/" + name); claim != graph.None {
				c.look(claim)
			}
		}
		if now == nil && old.Claims == nil && len(m.waiting[old.Namespace]) > 0 && m.asked(c, old.Namespace) {
			for _, claim := range m.waiting[old.Namespace] {
				c.look(claim)
			}
			delete(m.waiting, old.Namespace)
		}
	case claimKind:
		if now == nil {
			for _, volume := range m.volumes[old.Namespace+"/"+old.Name] {
				c.look(volume)
			}
		}
	}
}
