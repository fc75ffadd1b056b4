package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	subject "github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/test/plane"
)

// inhabited is a scene in a world where all controllers are at work, the real
// collector among them.
func inhabited(t *testing.T) *scene {
	t.Helper()
	s := opposite(t)
	s.custom() // first: a collector looks for new types but every 30 seconds
	s.switched(plane.On)
	t.Cleanup(func() { s.switched(plane.Absent) })
	return s
}

// loses saves what the objects take along, as a run of the program does, deletes
// them, and answers the folder once everything is gone.
func (s *scene) loses(policy metav1.DeletionPropagation, roots ...object) (folder string) {
	s.Helper()
	look := s.sees(cluster.Scope{})
	g := graph.New(look.seen)
	below := graph.NewSet(g)
	for _, root := range roots {
		n := g.Find(root.GetUID())
		g.Below(below, graph.Unlimited, n)
		for at := range g.Listed() { // what lives in a namespace, or is of a type that is defined
			if o := g.Object(graph.Node(at)); root.GetKind() == "Namespace" && o.Namespace == root.GetName() ||
				root.GetKind() == "CustomResourceDefinition" && strings.HasSuffix(root.GetName(), "."+o.GroupVersionKind().Group) {
				g.Below(below, graph.Unlimited, graph.Node(at))
			}
		}
	}
	var wanted []subject.Identity
	for _, n := range below.Nodes() {
		if g.Object(n) != nil {
			wanted = append(wanted, g.Object(n).Identity)
		}
	}
	saved := s.saves(look, wanted)
	for _, root := range roots {
		s.remove(root, policy)
	}
	s.await("everything to go", func(ctx context.Context) (bool, error) {
		now := s.sees(cluster.Scope{}).seen
		return !slices.ContainsFunc(now.Objects, func(o subject.Object) bool {
			return slices.ContainsFunc(wanted, func(w subject.Identity) bool { return w.UID == o.UID })
		}), nil
	})
	return saved
}

// saves makes a backup of objects.
func (s *scene) saves(look sight, wanted []subject.Identity) (folder string) {
	s.Helper()
	f, err := backup.Create(s.TempDir(), "backup", backup.Header{
		Tool: "e2e", Server: s.plane.Server, Command: "delete", Digest: "0123456789abcdef", Started: time.Now().UTC(),
	})
	s.must(err)
	failed, err := look.cluster.Manifests(s.Context(), look.seen, wanted, func(o subject.Object, manifest json.RawMessage) error {
		return f.Save(o, manifest)
	})
	s.must(err)
	if len(failed) > 0 {
		s.Fatalf("not saved: %v", failed)
	}
	s.must(f.Finish(time.Now().UTC()))
	s.must(f.Close())
	return f.Path()
}

// names are what tree shows of a namespace, sorted: owners, dependents and how
// they belong together.
func (s *scene) names(ns string) []string {
	s.Helper()
	lines := strings.Split(strings.TrimSpace(s.gc("tree", "-n", ns, "-o", "name").exits(s, 0).Stdout), "\n")
	slices.Sort(lines)
	return lines
}

// links are the owner references in a namespace, by the names of both ends.
func (s *scene) links(ns string) []string {
	s.Helper()
	look := s.sees(in(ns))
	known := map[types.UID]string{}
	for i := range look.seen.Objects {
		known[look.seen.Objects[i].UID] = look.seen.Objects[i].String()
	}
	for _, l := range look.seen.Lookups {
		if l.Object != nil {
			known[l.Object.UID] = l.Object.String()
		}
	}
	var out []string
	for i := range look.seen.Objects {
		o := &look.seen.Objects[i]
		for _, r := range o.Owners {
			owner, found := known[r.UID]
			if !found {
				owner = "nobody, but says " + r.String()
			}
			out = append(out, fmt.Sprintf("%s of %s (controller %t, blocks %t)", o, owner, r.Controls(), r.Blocks()))
		}
	}
	slices.Sort(out)
	return out
}

// sound demands that audit finds nothing wrong with a namespace.
func (s *scene) sound(ns string) {
	s.Helper()
	if r := s.tool().audit("-n", ns); len(r.Findings) > 0 {
		s.Errorf("audit finds %+v", r.Findings)
	}
}

// field waits until a controller has written something.
func (s *scene) field(o object, want any, path ...string) {
	s.Helper()
	s.await(fmt.Sprintf("%v of %s to be %v", path, o.GetName(), want), func(ctx context.Context) (bool, error) {
		live, err := s.at(o).Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, nil
		}
		var at any = live.Object
		for _, step := range path {
			fields, _ := at.(map[string]any)
			at = fields[step]
		}
		return fmt.Sprint(at) == fmt.Sprint(want), nil
	})
}

// noted are the lines of a backup's file.
func (s *scene) noted(folder string) []backup.Restored {
	s.Helper()
	b, err := backup.Open(folder)
	s.must(err)
	defer b.Close()
	return b.Restored
}

var _ = bytes.MinRead
var _ = filepath.Join
