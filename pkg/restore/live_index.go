package restore

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// liveIndex finds the objects of a snapshot by UID and by location.
type liveIndex struct {
	view       *snapshot.View
	byUID      map[types.UID]*object.Object
	byLocation map[location]*object.Object
}

// location identifies an object independently of the API version used for it.
type location struct{ group, resource, namespace, name string }

func locationOf(t snapshot.Type, i object.Identity) location {
	return location{t.Group, t.Resource, i.Namespace, i.Name}
}

func newLiveIndex(s *snapshot.Snapshot) *liveIndex {
	l := &liveIndex{view: snapshot.NewView(s), byUID: map[types.UID]*object.Object{}, byLocation: map[location]*object.Object{}}
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil {
			l.add(o)
		}
	}
	for _, o := range s.Objects {
		l.add(o)
	}
	return l
}

func (l *liveIndex) add(o *object.Object) {
	l.byUID[o.UID] = o
	for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
		if m, ok := l.view.Map(i.APIVersion, i.Kind); ok {
			l.byLocation[locationOf(m.Type, i)] = o
		}
	}
}

// find returns a Namespace or PersistentVolume, or nil if it was not seen, and reports
// whether it is proven not to exist.
func (l *liveIndex) find(kind, name string) (o *object.Object, absent bool) {
	m, ok := l.view.Map("v1", kind)
	if !ok {
		return nil, false
	}
	if o = l.byLocation[location{resource: m.Type.Resource, name: name}]; o != nil {
		return o, false
	}
	found := l.view.Lookup(snapshot.Coordinates{APIVersion: "v1", Kind: kind, Name: name})
	return nil, l.view.Listed(m.Type.GroupResource(), "") || found != nil && found.Outcome == snapshot.Absent
}
