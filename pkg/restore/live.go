package restore

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// live is what is there now, by UID and by place.
type live struct {
	*snapshot.View
	byUID map[types.UID]*object.Object
	at    map[place]*object.Object
}

// place is where an object is, whatever the version in which it is named.
type place struct{ group, resource, namespace, name string }

func index(s *snapshot.Snapshot) *live {
	l := &live{View: snapshot.NewView(s), byUID: map[types.UID]*object.Object{}, at: map[place]*object.Object{}}
	settle := func(i object.Identity, o *object.Object) {
		if m, ok := l.Map(i.APIVersion, i.Kind); ok {
			l.at[placeOf(m.Type, i)] = o
		}
	}
	see := func(o *object.Object) {
		l.byUID[o.UID] = o
		settle(o.Identity, o)
		for _, alias := range o.Aliases {
			settle(alias, o)
		}
	}
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil {
			see(o)
		}
	}
	for _, o := range s.Objects {
		see(o)
	}
	return l
}

func placeOf(t snapshot.Type, i object.Identity) place {
	return place{t.Group, t.Resource, i.Namespace, i.Name}
}

// namespace is that of its name, nil where none was seen. Proven says that there
// is none.
func (l *live) namespace(name string) (o *object.Object, absent bool) {
	if o = l.at[place{resource: "namespaces", name: name}]; o != nil {
		return o, false
	}
	m, ok := l.Map("v1", "Namespace")
	if !ok {
		return nil, false
	}
	found := l.Lookup(snapshot.Coordinates{APIVersion: "v1", Kind: "Namespace", Name: name})
	return nil, l.Listed(m.Type.GroupResource(), "") || found != nil && found.Outcome == snapshot.Absent
}
