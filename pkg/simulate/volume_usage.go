package simulate

import (
	"maps"
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

// volumeUsage records which Pods use which claims, and which volumes are bound to them.
type volumeUsage struct {
	claims  map[string]graph.Node       // by namespace/name
	users   map[graph.Node][]graph.Node // Pods by claim; former users are removed from the front
	unknown map[string][]graph.Node     // by namespace, Pods whose claims were not read; likewise
	waiting map[string][]graph.Node     // by namespace, claims that those Pods may use
	volumes map[string][]graph.Node     // by namespace/name of the claim
}

// volumeUsage builds the index on first use.
func (c *finalizerControllers) volumeUsage() *volumeUsage {
	if c.usage != nil {
		return c.usage
	}
	u := &volumeUsage{map[string]graph.Node{}, map[graph.Node][]graph.Node{}, map[string][]graph.Node{}, map[string][]graph.Node{}, map[string][]graph.Node{}}
	g := c.sim.model.graph
	for n := range g.Listed() {
		if o := g.Object(graph.Node(n)); o.GroupVersionKind().GroupKind() == claimKind {
			u.claims[o.Namespace+"/"+o.Name] = graph.Node(n)
		}
	}
	for n := range g.Listed() {
		node := graph.Node(n)
		o := g.Object(node)
		switch o.GroupVersionKind().GroupKind() {
		case podKind:
			if o.Claims == nil {
				u.unknown[o.Namespace] = append(u.unknown[o.Namespace], node)
			}
			for _, name := range o.Claims {
				if claim := u.claim(o.Namespace + "/" + name); claim != graph.None {
					u.users[claim] = append(u.users[claim], node)
				}
			}
		case volumeKind:
			for _, claim := range o.Claims {
				u.volumes[claim] = append(u.volumes[claim], node)
			}
		}
	}
	c.usage = u
	return u
}

func (u *volumeUsage) clone() *volumeUsage {
	return &volumeUsage{u.claims, maps.Clone(u.users), maps.Clone(u.unknown), clip(u.waiting), u.volumes}
}

// claim returns the claim with this namespace/name, or graph.None.
func (u *volumeUsage) claim(key string) graph.Node {
	if n, ok := u.claims[key]; ok {
		return n
	}
	return graph.None
}

// unused reports whether no Pod uses a claim: all Pods of its namespace were listed, and
// the remaining ones are known to use other claims.
func (u *volumeUsage) unused(c *finalizerControllers, claim graph.Node) bool {
	namespace := c.sim.model.graph.Object(claim).Namespace
	if !c.sim.model.graph.View().Listed(pods, namespace) {
		return false
	}
	for users := u.users[claim]; len(users) > 0; users = users[1:] {
		u.users[claim] = users
		if c.uses(users[0], claim) {
			c.enqueue(users[0]) // it may be stopping
			return false
		}
	}
	delete(u.users, claim)
	if !u.known(c, namespace) {
		u.waiting[namespace] = append(u.waiting[namespace], claim)
		return false
	}
	return true
}

// known reports whether the claims of every remaining Pod of a namespace were read.
func (u *volumeUsage) known(c *finalizerControllers, namespace string) bool {
	left := u.unknown[namespace]
	for len(left) > 0 && c.sim.model.now[left[0]] == nil {
		left = left[1:]
	}
	u.unknown[namespace] = left
	return len(left) == 0
}

// uses reports whether a Pod keeps a claim from being deleted. A Pod no longer keeps the
// claim of its own ephemeral volume once it has stopped.
func (c *finalizerControllers) uses(pod, claim graph.Node) bool {
	o := c.sim.model.now[pod]
	if o == nil {
		return false
	}
	stopped := o.Terminating() && !o.InGracePeriod()
	ephemeral := slices.ContainsFunc(c.sim.model.graph.Object(claim).Owners, func(r object.Reference) bool { return r.UID == o.UID && r.Controls() })
	return !ephemeral || !stopped
}

// onStateChange queues the claims and volumes that a change may release.
func (u *volumeUsage) onStateChange(c *finalizerControllers, n graph.Node, old *object.Object) {
	now := c.sim.model.now[n]
	switch old.GroupVersionKind().GroupKind() {
	case podKind:
		for _, name := range old.Claims {
			if claim := u.claim(old.Namespace + "/" + name); claim != graph.None {
				c.enqueue(claim)
			}
		}
		if now == nil && old.Claims == nil && len(u.waiting[old.Namespace]) > 0 && u.known(c, old.Namespace) {
			for _, claim := range u.waiting[old.Namespace] {
				c.enqueue(claim)
			}
			delete(u.waiting, old.Namespace)
		}
	case claimKind:
		if now == nil {
			for _, volume := range u.volumes[old.Namespace+"/"+old.Name] {
				c.enqueue(volume)
			}
		}
	}
}
