package diagram_test

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// objectOf returns an object in namespace shop with the UID u-name.
func objectOf(apiVersion, kind, name string, owners ...object.Reference) object.Object {
	return object.Object{
		Identity: object.Identity{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: name, UID: types.UID("u-" + name)},
		Owners:   owners,
	}
}

// ownedBy returns a reference to the object that objectOf returns.
func ownedBy(apiVersion, kind, name string) object.Reference {
	return object.Reference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("u-" + name)}
}

func in(namespace string, o object.Object) object.Object {
	o.Namespace = namespace
	return o
}

func terminating(o object.Object, finalizers ...string) object.Object {
	now := time.Date(2026, 11, 20, 8, 31, 7, 0, time.UTC)
	o.Deleted, o.Finalizers = &now, finalizers
	return o
}

func graphOf(objects ...object.Object) *graph.Graph {
	s := &snapshot.Snapshot{}
	for _, o := range objects {
		s.Objects = append(s.Objects, &o)
	}
	return graph.New(s)
}

// everything returns the set of all nodes.
func everything(g *graph.Graph) graph.Set {
	all := graph.NewSet(g)
	for n := range g.Len() {
		all.Add(graph.Node(n))
	}
	return all
}

// component returns what is connected with those UIDs; unknown ones are ignored.
func component(uids ...types.UID) func(*graph.Graph) graph.Set {
	return func(g *graph.Graph) graph.Set {
		var start []graph.Node
		for _, uid := range uids {
			if n := g.Find(uid); n != graph.None {
				start = append(start, n)
			}
		}
		return st.Component(g, start...)
	}
}

// only returns the set of these UIDs.
func only(uids ...types.UID) func(*graph.Graph) graph.Set {
	return func(g *graph.Graph) graph.Set {
		set := graph.NewSet(g)
		for _, uid := range uids {
			set.Add(g.Find(uid))
		}
		return set
	}
}

// hostile returns names to seed fuzzing with.
func hostile() []string {
	return []string{
		"", "web", "é日本🐹", `"`, `\`, `\"];`, "a\nb", "end", "%%{init: {}}%%", "<script>alert(1)</script>", "`md`", "#quot;", "[x](y)",
		"click n0 callback", "\x1b[31m", "\u202e", "\xff", "n0 --> n1", "&lt;", ":::missing", strings.Repeat("x", 400),
	}
}
