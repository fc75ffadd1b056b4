package simulate

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var endpointsKind = schema.GroupKind{Kind: "Endpoints"}

// userTypes are the types of what uses others.
var userTypes = map[schema.GroupKind]schema.GroupResource{
	object.Pod:              {Resource: "pods"},
	object.VolumeClaim:      {Resource: "persistentvolumeclaims"},
	object.VolumeAttachment: {Group: object.VolumeAttachment.Group, Resource: "volumeattachments"},
	object.VolumeSnapshot:   {Group: object.VolumeSnapshot.Group, Resource: "volumesnapshots"},
	object.SnapshotContent:  {Group: object.SnapshotContent.Group, Resource: "volumesnapshotcontents"},
}

// usersIndex finds what uses the objects that Kubernetes protects until nothing does. It never
// changes.
type usersIndex struct {
	users, uses map[graph.Node][]graph.Node // of a protected object, and the reverse
	pods        map[string][]graph.Node     // by namespace
	byName      map[objectName]graph.Node
	unread      map[objectName]bool // without a name: it is not known of one of this kind what it uses
	owned       map[graph.Node]bool // its owner references show which Pods use it
}

type objectName struct{ kind, namespace, name string }

func newUsersIndex(g *graph.Graph) *usersIndex {
	u := &usersIndex{map[graph.Node][]graph.Node{}, map[graph.Node][]graph.Node{}, map[string][]graph.Node{}, map[objectName]graph.Node{}, map[objectName]bool{}, map[graph.Node]bool{}}
	for i := range g.Listed() {
		n, o := graph.Node(i), g.Object(graph.Node(i))
		if _, uses := userTypes[o.GroupVersionKind().GroupKind()]; !uses && !o.MayBeInUse() {
			continue
		}
		u.byName[objectName{o.Kind, o.Namespace, o.Name}] = n
		if o.IsPod() {
			u.pods[o.Namespace] = append(u.pods[o.Namespace], n)
		}
		if o.Claims == nil && o.Storage == nil { // Claims are not for a snapshot
			u.unread[objectName{o.Kind, o.Namespace, ""}] = true
		}
	}
	for i := range g.Listed() {
		n, o := graph.Node(i), g.Object(graph.Node(i))
		for _, name := range namesOf(o) {
			other, ok := u.byName[name]
			if !ok || !reserved(g.Object(other), o) {
				continue
			}
			if !namesItsUser(o) || o.Kind == object.SnapshotContent.Kind {
				u.add(n, other)
			}
			if namesItsUser(o) {
				u.add(other, n)
			}
		}
		switch o.GroupVersionKind().GroupKind() {
		case object.ResourceClaim, object.PodGroup: // its Pod owns the former, and the latter owns its Pods
			u.owned[n] = o.Claims != nil && len(o.Claims) == 0 || slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.Kind == object.Pod.Kind })
			related, dependents := slices.Clone(g.Owners(n)), slices.Clone(g.Dependents(n))
			for k, r := range o.Owners {
				if o.Kind == object.PodGroup.Kind && r.Kind == "Job" && r.Controls() { // its Pods need not name the group as an owner
					dependents = append(dependents, g.Dependents(g.Owners(n)[k])...)
				}
			}
			for _, e := range dependents {
				related = append(related, e.Node)
			}
			slices.Sort(related)
			for _, pod := range slices.Compact(related) {
				if at := g.Object(pod); at != nil && at.IsPod() && reserved(o, at) {
					u.add(pod, n)
					u.owned[n] = true
				}
			}
		}
	}
	return u
}

// reserved reports whether an object is not a ResourceClaim, or reserved for that Pod, as far as was read
// (resourceclaim/controller.go, syncClaim).
func reserved(o, pod *object.Object) bool {
	isClaim := o.GroupVersionKind().GroupKind() == object.ResourceClaim
	return !isClaim || o.Claims == nil || slices.Contains(o.Claims, pod.Name)
}

func (u *usersIndex) add(user, used graph.Node) {
	if !slices.Contains(u.uses[user], used) {
		u.users[used], u.uses[user] = append(u.users[used], user), append(u.uses[user], used)
	}
}

// namesItsUser reports whether an object says what is bound to it, and not the other way round.
func namesItsUser(o *object.Object) bool {
	kind := o.GroupVersionKind().GroupKind()
	return kind == object.Volume || kind == object.SnapshotContent
}

// namesOf returns the objects that are meant by the Claims of an object, or by a snapshot that is not ready.
func namesOf(o *object.Object) []objectName {
	if o.GroupVersionKind().GroupKind() == object.VolumeSnapshot && o.Storage != nil && !o.Storage.ReadyToUse {
		return []objectName{{object.VolumeClaim.Kind, o.Namespace, o.Storage.Claim}}
	}
	if o.GroupVersionKind().GroupKind() == object.ResourceClaim {
		return nil
	}
	out := make([]objectName, len(o.Claims))
	for i, claim := range o.Claims {
		before, after, qualified := strings.Cut(claim, "/")
		switch {
		case o.IsAttachment():
			out[i] = objectName{object.Volume.Kind, "", claim}
		case o.Kind == object.Volume.Kind:
			out[i] = objectName{object.VolumeClaim.Kind, before, after}
		case o.Kind == object.SnapshotContent.Kind:
			out[i] = objectName{object.VolumeSnapshot.Kind, before, after}
		case qualified:
			out[i] = objectName{before, o.Namespace, after}
		default:
			out[i] = objectName{object.VolumeClaim.Kind, o.Namespace, claim}
		}
	}
	return out
}

// InUse returns what uses an object that these finalizers protect until nothing does: the Pods that mount a claim or
// are in a group, what is bound to a volume or a snapshot, and what is being created from a snapshot or a claim.
func (m *Model) InUse(n graph.Node, finalizers ...string) reason.InUse {
	var out reason.InUse
	for _, f := range finalizers {
		by := protectionBy(f, m.graph.Object(n).GroupVersionKind().GroupKind())
		if by == nil {
			continue
		}
		users, unlisted, certain := m.usersOf(n, by.by)
		for _, user := range users {
			unlisted = append(unlisted, m.graph.Object(user).Identity)
		}
		for _, user := range unlisted {
			out.UsedBy = append(out.UsedBy, reason.User{Identity: user, Use: by.use})
		}
		out.UsersUnknown = out.UsersUnknown || !certain
	}
	return out
}

// usersOf returns the users of that kind, and those which the object names and the scan may lack. certain reports
// whether the scan shows all of them.
func (m *Model) usersOf(n graph.Node, by schema.GroupKind) (users []graph.Node, unlisted []object.Identity, certain bool) {
	o, index := m.graph.Object(n), m.users()
	for _, user := range index.users[n] {
		if m.graph.Object(user).GroupVersionKind().GroupKind() == by && m.uses(user, n) {
			users = append(users, user)
		}
	}
	if namesItsUser(o) && by != object.VolumeAttachment {
		for _, user := range namesOf(o) {
			if _, seen := index.byName[user]; !seen && !m.graph.View().Listed(userTypes[by], user.namespace) {
				unlisted = append(unlisted, object.Identity{APIVersion: by.WithVersion("v1").GroupVersion().String(), Kind: by.Kind, Namespace: user.namespace, Name: user.name})
			}
		}
		return users, unlisted, o.Claims != nil && len(unlisted) == 0
	}
	namespace := o.Namespace
	if by == object.SnapshotContent {
		namespace = ""
	}
	unread := index.unread[objectName{by.Kind, namespace, ""}] && !index.owned[n] && (by != object.Pod || m.anyLeft(index.pods[namespace]))
	return users, nil, !by.Empty() && m.graph.View().Listed(userTypes[by], namespace) && !unread
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
	by := object.Pod
	if c.sim.model.graph.Object(n).GroupVersionKind().GroupKind() == object.Volume {
		by = object.VolumeClaim
	}
	users, _, certain := c.sim.model.usersOf(n, by)
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
