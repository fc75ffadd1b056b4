package snapshottest

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// claim is an apiVersion and kind as a reference may spell them.
type claim struct{ apiVersion, kind string }

// residents are the kinds that random objects have.
var residents = []struct {
	claim
	resource   string
	namespaced bool
	names      []string
}{
	{claim{"v1", "Pod"}, "pods", true, names},
	{claim{"v1", "ConfigMap"}, "configmaps", true, names},
	{claim{"apps/v1", "Deployment"}, "deployments.apps", true, names},
	{claim{"rbac.authorization.k8s.io/v1", "Role"}, "roles.rbac.authorization.k8s.io", true, names},
	{claim{"example.com/v1", "Widget"}, "widgets.example.com", true, names},
	{claim{"v1", "Node"}, "nodes", false, names},
	{claim{"rbac.authorization.k8s.io/v1", "ClusterRole"}, "clusterroles.rbac.authorization.k8s.io", false, names},
	{claim{"v1", "Namespace"}, "namespaces", false, []string{"a", "b"}},
	{claim{"apiextensions.k8s.io/v1", "CustomResourceDefinition"}, "customresourcedefinitions.apiextensions.k8s.io", false, []string{"widgets.example.com"}},
}

// claims are what random references say besides the truth.
var claims = []claim{
	{"rbac.authorization.k8s.io/v1beta1", "Role"},
	{"rbac.authorization.k8s.io/v1beta1", "ClusterRole"},
	{"rbac.authorization.k8s.io/v2", "ClusterRole"},
	{"legacy.example.com/v1", "Widget"},
	{"apps/v1beta1", "Deployment"},
	{"apps/", "Deployment"},
	{"extensions/v1beta1", "Deployment"},
	{"v1", "pod"},
	{"v1", "POD"},
	{"v1", "PodList"},
	{"v1", "NodeList"},
	{"v1", "List"},
	{"v1", "Foo"},
	{"v1", "ConfigMap"},
	{"v9", "Node"},
	{"", "Pod"},
	{"", "node"},
	{"a/b/c", "Pod"},
	{"v1", "Event"},
	{"v1", "ComponentStatus"},
}

var names = []string{"x", "y", "z"}

var oddNames = []string{"", ".", "..", "../x", "a%2fb", "ns/x"}

// Draw is a random snapshot of Types and Containers: few objects in few places,
// so that they collide; references that are right, stale, misspelt or led astray;
// deletions in every stage; Pods that a kubelet has to stop; types that were not
// read everywhere; lookups of what that left unproven.
func Draw(t *rapid.T) *snapshot.Snapshot {
	return New(Serving(Containers()...), Listing(drawObjects(t)...), func(s *snapshot.Snapshot) {
		for _, r := range residents {
			drawObstacle(t, s, r.resource)
		}
		if rapid.IntRange(0, 9).Draw(t, "undiscovered") == 9 {
			Undiscovered(rapid.SampledFrom([]string{"extensions", "apps"}).Draw(t, "group"), snapshot.Unavailable)(s)
		}
		keepListed(s)
		drawLookups(t, s)
	})
}

// DrawBusy is a random snapshot like Draw's, but one that saw everything, and in
// which references are mostly right: much goes, much waits, and circles are many.
func DrawBusy(t *rapid.T) *snapshot.Snapshot {
	objects := drawPlaces(t, 12)
	owners := append(slices.Clone(objects), ConfigMap("a/x", UID("ghost1")), Node("x", UID("ghost2")))
	reference := rapid.Custom(func(t *rapid.T) object.Reference {
		if rapid.IntRange(0, 9).Draw(t, "odd") == 9 {
			return drawReference(t, owners)
		}
		r := To(rapid.SampledFrom(owners).Draw(t, "owner"))
		if rapid.Bool().Draw(t, "blocking") {
			Blocking(&r)
		}
		return r
	})
	for i := range objects {
		o := &objects[i]
		Owned(rapid.SliceOfN(reference, 0, 3).Draw(t, "references")...)(o)
		if (o.Kind == "Namespace" || o.Kind == "CustomResourceDefinition") && rapid.Bool().Draw(t, "lost") {
			o.Owners, o.Deleted = []object.Reference{To(Node("x", UID("ghost2")))}, nil
		}
	}
	return New(Serving(Containers()...), Listing(objects...))
}

func drawObjects(t *rapid.T) []object.Object {
	out := drawPlaces(t, 10)
	owners := append(slices.Clone(out),
		Pod("a/x", UID("ghost1")), Node("x", UID("ghost2")), Role("b/y", UID("ghost3")),
		Object("v1", "ComponentStatus", "x", UID("ghost4")))
	reference := rapid.Custom(func(t *rapid.T) object.Reference { return drawReference(t, owners) })
	for i := range out {
		Owned(rapid.SliceOfN(reference, 0, 4).Draw(t, "references")...)(&out[i])
	}
	return out
}

// drawPlaces are objects without owners, no two at one place.
func drawPlaces(t *rapid.T, most int) []object.Object {
	var out []object.Object
	taken := map[string]bool{}
	for i, o := range rapid.SliceOfN(rapid.Custom(drawObject), 0, most).Draw(t, "objects") {
		if place := string(o.UID); !taken[place] {
			taken[place] = true
			UID(types.UID(fmt.Sprintf("u%d", i)))(&o)
			out = append(out, o)
		}
	}
	return out
}

func drawObject(t *rapid.T) object.Object {
	r := rapid.SampledFrom(residents).Draw(t, "kind")
	at := rapid.SampledFrom(r.names).Draw(t, "name")
	if r.namespaced {
		at = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace") + "/" + at
	}
	o := Object(r.apiVersion, r.kind, at, drawDeletion(t))
	if r.kind == "Widget" && rapid.Bool().Draw(t, "alias") {
		AlsoServedAs("legacy.example.com/v1", "Widget")(&o)
	}
	if r.kind == "Pod" {
		drawKubelet(t, &o)
	}
	return o
}

// drawKubelet lets a Pod be one that a kubelet has to stop, or is about to.
func drawKubelet(t *rapid.T, o *object.Object) {
	if rapid.IntRange(0, 2).Draw(t, "kubelet") < 2 {
		return
	}
	Running()(o)
	if o.Terminating() && rapid.Bool().Draw(t, "stopping") {
		grace := int64(30)
		o.GraceSeconds = &grace
	}
}

// drawDeletion is none as a rule. As in the other choices here, what comes first
// is drawn more often, and is what a failing case shrinks to.
func drawDeletion(t *rapid.T) Option {
	return rapid.SampledFrom([]Option{
		Held(), Held(), Held(), Held(), Held(), Held("x/y"), Foreground(), Terminating("x/y", object.ForegroundFinalizer),
		Terminating(), Terminating("x/y"), TerminatingFor(time.Hour, "x/y"), Terminating(object.OrphanFinalizer),
		Terminating("x/y", object.OrphanFinalizer), Terminating(object.OrphanFinalizer, object.ForegroundFinalizer),
		Held(object.OrphanFinalizer), Held("x/y", object.ForegroundFinalizer),
	}).Draw(t, "deletion")
}

func drawReference(t *rapid.T, owners []object.Object) object.Reference {
	r := To(rapid.SampledFrom(owners).Draw(t, "owner"))
	switch rapid.IntRange(0, 9).Draw(t, "edit") {
	case 4, 5, 6:
		c := rapid.SampledFrom(claims).Draw(t, "claim")
		As(c.apiVersion, c.kind)(&r)
	case 7:
		Named(rapid.SampledFrom(names).Draw(t, "other name"))(&r)
	case 8:
		WithUID(rapid.SampledFrom(owners).Draw(t, "other owner").UID)(&r)
	case 9:
		Named(rapid.SampledFrom(oddNames).Draw(t, "odd name"))(&r)
	}
	if rapid.IntRange(0, 3).Draw(t, "controller") == 3 {
		Controlling(&r)
	}
	if rapid.Bool().Draw(t, "blocking") {
		Blocking(&r)
	}
	return r
}

func drawObstacle(t *rapid.T, s *snapshot.Snapshot, resource string) {
	nothing := func(*snapshot.Snapshot) {}
	rapid.SampledFrom([]Part{
		nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing,
		Unreadable(resource, snapshot.Forbidden), Unlisted(resource), ListedIn(resource, "a"),
	}).Draw(t, "obstacle")(s)
}

// keepListed drops the objects that the lists could not have shown.
func keepListed(s *snapshot.Snapshot) {
	view := snapshot.NewView(s)
	s.Objects = slices.DeleteFunc(s.Objects, func(o *object.Object) bool {
		m, ok := view.Map(o.APIVersion, o.Kind)
		return !ok || !view.Listed(m.Type.GroupResource(), o.Namespace)
	})
}

func drawLookups(t *rapid.T, s *snapshot.Snapshot) {
	s.Sort()
	view := snapshot.NewView(s)
	nothing := func(types.UID) *object.Object { return nil }
	for _, c := range view.Unverified(s.Objects, nothing) {
		l := snapshot.Lookup{Coordinates: c}
		switch rapid.IntRange(0, 5).Draw(t, "lookup") {
		case 3:
			l.Outcome = snapshot.Absent
		case 4:
			l.Outcome, l.Reason = snapshot.Failed, snapshot.TimedOut
		case 2, 5:
			o := drawFound(t, s, view, c)
			l.Outcome, l.Object = snapshot.Found, &o
		default:
			continue
		}
		s.Lookups = append(s.Lookups, l)
	}
}

// drawFound is what a GET answers: as a list would show it, in the preferred
// version, and with a UID that a reference claims or with one of its own.
func drawFound(t *rapid.T, s *snapshot.Snapshot, view *snapshot.View, c snapshot.Coordinates) object.Object {
	m, _ := view.Map(c.APIVersion, c.Kind)
	preferred := view.Versions(m.Type.Group, m.Type.Kind)[0]
	uid := types.UID("successor of " + m.Type.Kind + "/" + c.Namespace + "/" + c.Name)
	if claimed := claimedUIDs(s, view, c); len(claimed) > 0 && rapid.Bool().Draw(t, "alive") {
		uid = rapid.SampledFrom(claimed).Draw(t, "uid")
	}
	o := Object(preferred.APIVersion(), preferred.Kind, c.Name, UID(uid), drawDeletion(t))
	o.Namespace = c.Namespace
	return o
}

// claimedUIDs returns the UIDs of references that lead to the coordinates, save those
// that an object in another place has.
func claimedUIDs(s *snapshot.Snapshot, view *snapshot.View, c snapshot.Coordinates) []types.UID {
	elsewhere := map[types.UID]bool{}
	see := func(o *object.Object) {
		elsewhere[o.UID] = elsewhere[o.UID] || o.Namespace != c.Namespace || o.Name != c.Name
	}
	for _, o := range s.Objects {
		see(o)
	}
	for _, l := range s.Lookups {
		if l.Object != nil {
			see(l.Object)
		}
	}
	var out []types.UID
	for _, o := range s.Objects {
		for _, r := range o.Owners {
			as, _ := view.WithServedVersion(r)
			if _, at, ok := view.CoordinatesOf(o.Namespace, as); ok && at == c && !elsewhere[r.UID] {
				out = append(out, r.UID)
			}
		}
	}
	return out
}
