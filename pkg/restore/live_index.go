package restore

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// liveIndex finds the objects of a snapshot by UID and by address.
type liveIndex struct {
	view      *snapshot.View
	byUID     map[types.UID]*object.Object
	byAddress map[object.Address]*object.Object
}

func newLiveIndex(s *snapshot.Snapshot) *liveIndex {
	l := &liveIndex{view: snapshot.NewView(s), byUID: map[types.UID]*object.Object{}, byAddress: map[object.Address]*object.Object{}}
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
			l.byAddress[m.Type.Address(i.Namespace, i.Name)] = o
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
	if o = l.byAddress[m.Type.Address("", name)]; o != nil {
		return o, false
	}
	found := l.view.Lookup(snapshot.Coordinates{APIVersion: "v1", Kind: kind, Name: name})
	return nil, l.view.Listed(m.Type.GroupResource(), "") || found != nil && found.Outcome == snapshot.Absent
}
