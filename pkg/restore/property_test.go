package restore_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// cluster is a simulated cluster in which a restoration is executed.
type cluster struct {
	snapshot snapshot.Snapshot // without its objects
	objects  map[types.UID]object.Object
	made     map[types.UID]types.UID // new UIDs by old ones
}

// deleteSome removes some objects from a snapshot, as a run does that backs them up.
func deleteSome(t *rapid.T, s *snapshot.Snapshot) (cluster, restore.SavedRun) {
	c := cluster{snapshot: *s, objects: map[types.UID]object.Object{}, made: map[types.UID]types.UID{}}
	var b restore.SavedRun
	manifests := map[types.UID]json.RawMessage{}
	for _, o := range s.Objects {
		if o.Terminating() || rapid.Bool().Draw(t, "survives "+o.String()) {
			c.objects[o.UID] = *o
			continue
		}
		b.Saved = append(b.Saved, savedOf(t, metadataManifest(t, o), manifests))
	}
	c.snapshot.Lookups = nil
	b.Recreated = c.made
	b.Manifest = func(s event.Saved) (json.RawMessage, error) { return manifests[s.Object.UID], nil }
	return c, b
}

func (c *cluster) scan() *snapshot.Snapshot {
	s := c.snapshot
	s.Objects = Pointers(slices.Collect(maps.Values(c.objects)))
	s.Normalize()
	return &s
}

// uid returns the current UID of an object.
func (c *cluster) uid(old types.UID) types.UID {
	if now, ok := c.made[old]; ok {
		return now
	}
	return old
}

// execute executes the i-th step, and fails if an owner that it refers to does not exist.
func (c *cluster) execute(t *rapid.T, r *restore.Restoration, i int) {
	step := &r.Plan.Steps[i]
	var refs []object.Reference
	replaced := map[object.Reference]bool{}
	for _, a := range step.Creation.Add {
		a.UID = c.uid(a.UID)
		if _, exists := c.objects[a.UID]; !exists && (step.Action == plan.ActionCreate || a.UID != c.uid(step.Object.UID)) {
			t.Fatalf("step %s: %s %s to %s, which does not exist", step.ID, step.Action, step.Object, a)
		}
		refs = append(refs, a.Reference)
		for _, x := range a.Replaces {
			replaced[x] = true
		}
	}
	if step.Action == plan.ActionCreate {
		made := object.Object{Identity: step.Object.Identity, Owners: refs}
		made.UID = types.UID(fmt.Sprintf("made-%d-%s", i, step.Object.UID))
		c.made[step.Object.UID], c.objects[made.UID] = made.UID, made
		return
	}
	o, exists := c.objects[c.uid(step.Object.UID)]
	if !exists {
		t.Fatalf("step %s: link %s, which does not exist", step.ID, step.Object)
	}
	o.Owners = append(slices.DeleteFunc(slices.Clone(o.Owners), func(r object.Reference) bool { return replaced[r] }), refs...)
	c.objects[o.UID] = o
}

// verdicts returns the verdicts on the current references of an object.
func (c *cluster) verdicts(uid types.UID) []collector.Verdict {
	g := graph.New(c.scan())
	return collector.Verdicts(collector.NewJudge(g).Object(g.Find(uid)))
}

func TestRestorationIsSoundAndIdempotent(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) *snapshot.Snapshot{"any": Draw, "busy": DrawBusy} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c, b := deleteSome(t, draw(t))
				r := restore.New(b, c.scan(), restore.Options{})
				position := map[string]int{}
				for i := range r.Plan.Steps {
					step := &r.Plan.Steps[i]
					for _, id := range step.After {
						if at, ok := position[id]; !ok || at >= i {
							t.Fatalf("step %s waits for %s, which comes later", step.ID, id)
						}
					}
					position[step.ID] = i
					c.execute(t, r, i)
				}
				for _, made := range c.made {
					for i, v := range c.verdicts(made) {
						if v != collector.VerdictSolid {
							t.Fatalf("%s is created with a reference to %s, which is %s", c.name(made), c.objects[made].Owners[i], v)
						}
					}
				}
				checkOwnersRestored(t, &c, b)
				again := restore.New(b, c.scan(), restore.Options{})
				if len(again.Plan.Steps) > 0 {
					t.Fatalf("a second restoration has steps: %s", lines(again.Plan))
				}
			})
		})
	}
}

// checkOwnersRestored checks that a recreated object has every owner that exists and
// matches the reference.
func checkOwnersRestored(t *rapid.T, c *cluster, b restore.SavedRun) {
	for _, s := range b.Saved {
		now, made := c.objects[c.made[s.Object.UID]]
		if !made {
			continue
		}
		var m struct {
			Metadata struct{ OwnerReferences []object.Reference }
		}
		raw, _ := b.Manifest(s)
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Metadata.OwnerReferences {
			owner, exists := c.objects[c.uid(r.UID)]
			holds := exists && !owner.DeletingDependents() && owner.MatchesIdentity(r, now.Namespace)
			if holds && !slices.ContainsFunc(now.Owners, func(x object.Reference) bool { return x.UID == owner.UID && x.Name == r.Name }) {
				t.Fatalf("%s has lost its owner %s", now.String(), owner.String())
			}
		}
	}
}

func TestInterruptedRestorationContinues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, b := deleteSome(t, DrawBusy(t))
		whole := cluster{snapshot: c.snapshot, objects: maps.Clone(c.objects), made: map[types.UID]types.UID{}}
		r := restore.New(b, c.scan(), restore.Options{})
		for i := range r.Plan.Steps {
			whole.execute(t, r, i)
		}
		cut := rapid.IntRange(0, len(r.Plan.Steps)).Draw(t, "cut")
		for i := range cut {
			c.execute(t, r, i)
		}
		rest := restore.New(b, c.scan(), restore.Options{})
		for i := range rest.Plan.Steps {
			c.execute(t, rest, i)
		}
		for _, s := range b.Saved {
			if got, want := c.owned(s.Object.UID), whole.owned(s.Object.UID); !slices.Equal(got, want) {
				t.Fatalf("interrupted after %d steps, %s is owned by %q, otherwise by %q", cut, s.Object, got, want)
			}
		}
	})
}

// owned returns the names of the owners of a recreated object, nil if it was not
// recreated.
func (c *cluster) owned(old types.UID) []string {
	now, ok := c.objects[c.made[old]]
	if !ok {
		return nil
	}
	out := []string{""}
	for _, r := range now.Owners {
		out = append(out, c.name(r.UID))
	}
	slices.Sort(out)
	return out
}

func (c *cluster) name(uid types.UID) string {
	o := c.objects[uid]
	return o.String()
}
