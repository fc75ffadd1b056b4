package simulate

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

var (
	endpointsKind = schema.GroupKind{Kind: "Endpoints"}

	resourceClaimKind = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}
	podGroupKind      = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}

	pods   = schema.GroupResource{Resource: "pods"}
	claims = schema.GroupResource{Resource: "persistentvolumeclaims"}
)

// usersIndex finds what uses the objects that Kubernetes protects until nothing does. It never
// changes.
type usersIndex struct {
	users, uses map[graph.Node][]graph.Node // of a protected object, and the reverse
	pods        map[string][]graph.Node     // by namespace
	guarded     map[graph.Node]bool         // any of these may use it: the scan does not show which do
	storage     map[graph.Node][]graph.Node // the VolumeAttachments of a volume, and the snapshots of a claim that are not ready
}

func newUsersIndex(g *graph.Graph) *usersIndex {
	u := &usersIndex{map[graph.Node][]graph.Node{}, map[graph.Node][]graph.Node{}, map[string][]graph.Node{}, map[graph.Node]bool{}, map[graph.Node][]graph.Node{}}
	byName, unread := map[string]graph.Node{}, map[string]bool{}
	for i := range g.Listed() {
		switch n, o := graph.Node(i), g.Object(graph.Node(i)); o.GroupVersionKind().GroupKind() {
		case object.VolumeClaim, object.Volume:
			byName[o.Namespace+"/"+o.Name] = n
		case object.Pod:
			u.pods[o.Namespace] = append(u.pods[o.Namespace], n)
			unread[o.Namespace] = unread[o.Namespace] || o.Claims == nil
		}
	}
	use := func(user, used graph.Node) {
		u.users[used], u.uses[user] = append(u.users[used], user), append(u.uses[user], used)
	}
	for i := range g.Listed() {
		switch n, o := graph.Node(i), g.Object(graph.Node(i)); o.GroupVersionKind().GroupKind() {
		case object.VolumeClaim:
			u.guarded[n] = unread[o.Namespace]
		case object.Pod:
			for _, name := range o.Claims {
				if claim, ok := byName[o.Namespace+"/"+name]; ok {
					use(n, claim)
				}
			}
		case object.Volume:
			for _, name := range o.Claims {
				if claim, ok := byName[name]; ok {
					use(claim, n)
				}
			}
		case object.VolumeAttachment:
			for _, name := range o.Claims {
				if volume, ok := byName["/"+name]; ok {
					u.storage[volume] = append(u.storage[volume], n)
				}
			}
		case object.VolumeSnapshot:
			if o.Storage == nil || o.Storage.ReadyToUse {
				continue
			}
			if claim, ok := byName[o.Namespace+"/"+o.Storage.Claim]; ok {
				u.storage[claim] = append(u.storage[claim], n)
			}
		case resourceClaimKind, podGroupKind: // its Pod owns the former, and the latter owns its Pods
			known := slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.Kind == object.Pod.Kind })
			related, dependents := slices.Clone(g.Owners(n)), slices.Clone(g.Dependents(n))
			for k, r := range o.Owners {
				if o.Kind == podGroupKind.Kind && r.Kind == "Job" && r.Controls() { // its Pods need not name the group as an owner
					dependents = append(dependents, g.Dependents(g.Owners(n)[k])...)
				}
			}
			for _, e := range dependents {
				related = append(related, e.Node)
			}
			slices.Sort(related)
			for _, pod := range slices.Compact(related) {
				if at := g.Object(pod); at != nil && at.IsPod() {
					use(pod, n)
					known = true
				}
			}
			u.guarded[n] = !known
		}
	}
	return u
}

// UsersOf returns what uses an object that Kubernetes protects until nothing does: the Pods that
// mount a claim, the claim that is bound to a volume, and the Pods of a ResourceClaim or PodGroup.
// certain reports whether the scan shows all of them.
func (m *Model) UsersOf(n graph.Node) (users []graph.Node, certain bool) {
	o, index := m.graph.Object(n), m.users()
	for _, user := range index.users[n] {
		if m.uses(user, n) {
			users = append(users, user)
		}
	}
	if o.GroupVersionKind().GroupKind() != object.Volume {
		return users, m.graph.View().Listed(pods, o.Namespace) && !(index.guarded[n] && m.anyLeft(index.pods[o.Namespace]))
	}
	certain = o.Claims != nil
	for _, claim := range o.Claims {
		namespace, _, _ := strings.Cut(claim, "/")
		certain = certain && m.graph.View().Listed(claims, namespace)
	}
	return users, certain
}

// uses reports whether a user still keeps the object. A Pod no longer keeps the claim of its own
// ephemeral volume once it has stopped.
func (m *Model) uses(user, n graph.Node) bool {
	o := m.now[user]
	stopped := o != nil && o.Terminating() && !o.InGracePeriod()
	return o != nil && !(stopped && slices.ContainsFunc(m.graph.Object(n).Owners, func(r object.Reference) bool { return r.UID == o.UID && r.Controls() }))
}

// anyLeft reports whether one of the objects exists. Those in front are the first to go.
func (m *Model) anyLeft(nodes []graph.Node) bool {
	for _, n := range slices.Backward(nodes) {
		if m.now[n] != nil {
			return true
		}
	}
	return false
}

// unused reports whether nothing uses a protected object that is being deleted
// (pvc_protection_controller.go, podUsesPVCForDeletion; pv_protection_controller.go, isBeingUsed;
// resourceclaim/controller.go, syncClaim; podgroup_protection_controller.go, hasActivePods).
func (c *finalizerControllers) unused(n graph.Node) bool {
	users, certain := c.sim.model.UsersOf(n)
	if len(users) > 0 {
		c.enqueue(users[0]) // it may be stopping
	}
	return c.sim.model.now[n].Terminating() && len(users) == 0 && certain
}

// enqueueUsed queues what a change of an object from the state old may release.
func (c *finalizerControllers) enqueueUsed(n graph.Node, old *object.Object) {
	m := c.sim.model
	index := m.users()
	for _, used := range index.uses[n] {
		c.enqueue(used)
	}
	if m.now[n] == nil && old.IsPod() && !m.anyLeft(index.pods[old.Namespace]) {
		for _, used := range m.contents().byNamespace[old.Namespace] {
			c.enqueue(used) // it may be guarded
		}
	}
}
