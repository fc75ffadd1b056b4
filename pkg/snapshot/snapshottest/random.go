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

// apiKind is an apiVersion and kind as a reference may spell them.
type apiKind struct{ apiVersion, kind string }

// objectKinds are the kinds of random objects.
var objectKinds = []struct {
	apiKind
	resource   string
	namespaced bool
	names      []string
}{
	{apiKind{"v1", "Pod"}, "pods", true, names},
	{apiKind{"v1", "ConfigMap"}, "configmaps", true, names},
	{apiKind{"apps/v1", "Deployment"}, "deployments.apps", true, names},
	{apiKind{"rbac.authorization.k8s.io/v1", "Role"}, "roles.rbac.authorization.k8s.io", true, names},
	{apiKind{"example.com/v1", "Widget"}, "widgets.example.com", true, names},
	{apiKind{"v1", "Node"}, "nodes", false, names},
	{apiKind{"rbac.authorization.k8s.io/v1", "ClusterRole"}, "clusterroles.rbac.authorization.k8s.io", false, names},
	{apiKind{"v1", "Namespace"}, "namespaces", false, []string{"a", "b"}},
	{apiKind{"apiextensions.k8s.io/v1", "CustomResourceDefinition"}, "customresourcedefinitions.apiextensions.k8s.io", false, []string{"widgets.example.com"}},
}

// wrongKinds are the kinds that random references may have instead of their owner's.
var wrongKinds = []apiKind{
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

// Draw returns a random snapshot of Types and TypesWithContents: few objects with few names, so
// that they collide; references that are valid, stale, misspelled or wrong; deletions in
// every stage; Pods that a kubelet has to stop; types that were not read everywhere; lookups
// of the unverified owners.
func Draw(t *rapid.T) *snapshot.Snapshot {
	return New(Serving(TypesWithContents()...), Listing(drawObjects(t)...), func(s *snapshot.Snapshot) {
		for _, k := range objectKinds {
			drawGap(t, s, k.resource)
		}
		if rapid.IntRange(0, 9).Draw(t, "undiscovered") == 9 {
			Undiscovered(rapid.SampledFrom([]string{"extensions", "apps"}).Draw(t, "group"), snapshot.Unavailable)(s)
		}
		keepListed(s)
		drawLookups(t, s)
	})
}

// DrawBusy returns a random snapshot that is complete and has mostly valid references, so
// that it has many deletions, waiting owners and cycles.
func DrawBusy(t *rapid.T) *snapshot.Snapshot {
	objects := drawUnowned(t, 12)
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
			o.Owners, o.Deleted, o.NamespaceStatus = []object.Reference{To(Node("x", UID("ghost2")))}, nil, nil
		}
	}
	return New(Serving(TypesWithContents()...), Listing(objects...))
}

func drawObjects(t *rapid.T) []object.Object {
	out := drawUnowned(t, 10)
	owners := append(slices.Clone(out),
		Pod("a/x", UID("ghost1")), Node("x", UID("ghost2")), Role("b/y", UID("ghost3")),
		Object("v1", "ComponentStatus", "x", UID("ghost4")))
	reference := rapid.Custom(func(t *rapid.T) object.Reference { return drawReference(t, owners) })
	for i := range out {
		Owned(rapid.SliceOfN(reference, 0, 4).Draw(t, "references")...)(&out[i])
	}
	return out
}

// drawUnowned returns objects without owners, no two with the same kind, namespace and name.
func drawUnowned(t *rapid.T, limit int) []object.Object {
	var out []object.Object
	taken := map[types.UID]bool{}
	for i, o := range rapid.SliceOfN(rapid.Custom(drawObject), 0, limit).Draw(t, "objects") {
		if !taken[o.UID] {
			taken[o.UID] = true
			UID(types.UID(fmt.Sprintf("u%d", i)))(&o)
			out = append(out, o)
		}
	}
	return out
}

func drawObject(t *rapid.T) object.Object {
	k := rapid.SampledFrom(objectKinds).Draw(t, "kind")
	path := rapid.SampledFrom(k.names).Draw(t, "name")
	if k.namespaced {
		path = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace") + "/" + path
	}
	o := Object(k.apiVersion, k.kind, path, drawDeletion(t))
	if k.kind == "Widget" && rapid.Bool().Draw(t, "alias") {
		AlsoServedAs("legacy.example.com/v1", "Widget")(&o)
	}
	if k.kind == "Pod" {
		drawRunning(t, &o)
	}
	if k.kind == "Namespace" && o.Terminating() {
		unread := func(*object.Object) {}
		rapid.SampledFrom([]Option{unread, Reporting(), Reporting(object.FinalizersRemaining, "x/y in 1"), Reporting(object.ContentFailure, "denied")}).Draw(t, "status")(&o)
	}
	return o
}

// drawRunning may make a Pod one that a kubelet has to stop, or is stopping.
func drawRunning(t *rapid.T, o *object.Object) {
	if rapid.IntRange(0, 2).Draw(t, "kubelet") < 2 {
		return
	}
	Running()(o)
	if o.Terminating() && rapid.Bool().Draw(t, "stopping") {
		grace := int64(30)
		o.GraceSeconds = &grace
	}
}

// drawDeletion mostly returns no deletion. rapid draws the first values more often, and
// failing cases shrink to them.
func drawDeletion(t *rapid.T) Option {
	return rapid.SampledFrom([]Option{
		WithFinalizers(), WithFinalizers(), WithFinalizers(), WithFinalizers(), WithFinalizers(), WithFinalizers("x/y"), Foreground(), Terminating("x/y", object.ForegroundFinalizer),
		Terminating(), Terminating("x/y"), TerminatingFor(time.Hour, "x/y"), Terminating(object.OrphanFinalizer),
		Terminating("x/y", object.OrphanFinalizer), Terminating(object.OrphanFinalizer, object.ForegroundFinalizer),
		WithFinalizers(object.OrphanFinalizer), WithFinalizers("x/y", object.ForegroundFinalizer),
	}).Draw(t, "deletion")
}

func drawReference(t *rapid.T, owners []object.Object) object.Reference {
	r := To(rapid.SampledFrom(owners).Draw(t, "owner"))
	switch rapid.IntRange(0, 9).Draw(t, "edit") {
	case 4, 5, 6:
		k := rapid.SampledFrom(wrongKinds).Draw(t, "wrong kind")
		As(k.apiVersion, k.kind)(&r)
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

func drawGap(t *rapid.T, s *snapshot.Snapshot, resource string) {
	nothing := func(*snapshot.Snapshot) {}
	rapid.SampledFrom([]Part{
		nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing,
		Unreadable(resource, snapshot.Forbidden), Unlisted(resource), ListedIn(resource, "a"),
	}).Draw(t, "gap")(s)
}

// keepListed removes the objects whose types are not listed.
func keepListed(s *snapshot.Snapshot) {
	view := snapshot.NewView(s)
	s.Objects = slices.DeleteFunc(s.Objects, func(o *object.Object) bool {
		m, ok := view.Map(o.APIVersion, o.Kind)
		return !ok || !view.Listed(m.Type.GroupResource(), o.Namespace)
	})
}

func drawLookups(t *rapid.T, s *snapshot.Snapshot) {
	s.Normalize()
	view := snapshot.NewView(s)
	nothing := func(types.UID) *object.Object { return nil }
	for _, c := range view.UnverifiedOwners(s.Objects, nothing) {
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

// drawFound returns the object that a GET finds, in the preferred version, with a UID that a
// reference names or with a new one.
func drawFound(t *rapid.T, s *snapshot.Snapshot, view *snapshot.View, c snapshot.Coordinates) object.Object {
	m, _ := view.Map(c.APIVersion, c.Kind)
	preferred := view.Versions(m.Type.Group, m.Type.Kind)[0]
	uid := types.UID("successor of " + m.Type.Kind + "/" + c.Namespace + "/" + c.Name)
	if referenced := referencedUIDs(s, view, c); len(referenced) > 0 && rapid.Bool().Draw(t, "alive") {
		uid = rapid.SampledFrom(referenced).Draw(t, "uid")
	}
	o := Object(preferred.APIVersion(), preferred.Kind, c.Name, UID(uid), drawDeletion(t))
	o.Namespace = c.Namespace
	return o
}

// referencedUIDs returns the UIDs of references to the coordinates, without those of objects
// with another namespace or name.
func referencedUIDs(s *snapshot.Snapshot, view *snapshot.View, c snapshot.Coordinates) []types.UID {
	elsewhere := map[types.UID]bool{}
	add := func(o *object.Object) {
		elsewhere[o.UID] = elsewhere[o.UID] || o.Namespace != c.Namespace || o.Name != c.Name
	}
	for _, o := range s.Objects {
		add(o)
	}
	for _, l := range s.Lookups {
		if l.Object != nil {
			add(l.Object)
		}
	}
	var out []types.UID
	for _, o := range s.Objects {
		for _, r := range o.Owners {
			served, _ := view.WithServedVersion(r)
			if _, at, ok := view.CoordinatesOf(o.Namespace, served); ok && at == c && !elsewhere[r.UID] {
				out = append(out, r.UID)
			}
		}
	}
	return out
}
