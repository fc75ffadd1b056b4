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
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// world is a cluster in which a restoration is carried out.
type world struct {
	look    snapshot.Snapshot // save for its objects
	objects map[types.UID]object.Object
	made    map[types.UID]types.UID
}

// lost takes some objects out of a snapshot, as a run does that saves them before.
func lost(t *rapid.T, s *snapshot.Snapshot) (world, restore.Backup) {
	w := world{look: *s, objects: map[types.UID]object.Object{}, made: map[types.UID]types.UID{}}
	var b restore.Backup
	manifests := map[types.UID]json.RawMessage{}
	for _, o := range s.Objects {
		if o.Terminating() || rapid.Bool().Draw(t, "survives "+o.String()) {
			w.objects[o.UID] = *o
			continue
		}
		b.Saved = append(b.Saved, saved(t, bare(t, o), manifests))
	}
	w.look.Lookups = nil
	b.Made = w.made
	b.Manifest = func(of restore.Saved) (json.RawMessage, error) { return manifests[of.Object.UID], nil }
	return w, b
}

func (w *world) seen() *snapshot.Snapshot {
	s := w.look
	s.Objects = Pointers(slices.Collect(maps.Values(w.objects)))
	s.Sort()
	return &s
}

// uid is that of an object now.
func (w *world) uid(then types.UID) types.UID {
	if now, made := w.made[then]; made {
		return now
	}
	return then
}

// do carries out the i-th step, and fails where the object would have to refer to
// what is not there.
func (w *world) do(t *rapid.T, r *restore.Restoration, i int) {
	step := &r.Plan.Steps[i]
	var refs []object.Reference
	over := map[object.Reference]bool{}
	for _, a := range r.Work(i).Add {
		a.UID = w.uid(a.UID)
		if _, there := w.objects[a.UID]; !there && (step.Action == plan.Create || a.UID != w.uid(step.Object.UID)) {
			t.Fatalf("step %s: %s %s to %s, which is not there", step.ID, step.Action, step.Object, a)
		}
		refs = append(refs, a.Reference)
		for _, x := range a.Over {
			over[x] = true
		}
	}
	if step.Action == plan.Create {
		made := object.Object{Identity: step.Object.Identity, Owners: refs}
		made.UID = types.UID(fmt.Sprintf("made-%d-%s", i, step.Object.UID))
		w.made[step.Object.UID], w.objects[made.UID] = made.UID, made
		return
	}
	o, there := w.objects[w.uid(step.Object.UID)]
	if !there {
		t.Fatalf("step %s: link %s, which is not there", step.ID, step.Object)
	}
	o.Owners = append(slices.DeleteFunc(slices.Clone(o.Owners), func(r object.Reference) bool { return over[r] }), refs...)
	w.objects[o.UID] = o
}

// verdicts are those on an object's references as it is now.
func (w *world) verdicts(uid types.UID) []collector.Verdict {
	g := graph.New(w.seen())
	return collector.Verdicts(collector.NewJudge(g).Object(g.Find(uid)))
}

func TestARestorationIsSoundAndComesToAnEnd(t *testing.T) {
	for what, draw := range map[string]func(*rapid.T) *snapshot.Snapshot{"any": Draw, "busy": DrawBusy} {
		t.Run(what, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w, b := lost(t, draw(t))
				before := w.seen()
				r := restore.New(b, before, restore.Options{})
				place := map[string]int{}
				for i := range r.Plan.Steps {
					step := &r.Plan.Steps[i]
					for _, id := range step.After {
						if at, met := place[id]; !met || at >= i {
							t.Fatalf("step %s comes after %s, which is behind it", step.ID, id)
						}
					}
					place[step.ID] = i
					w.do(t, r, i)
				}
				for _, made := range w.made {
					for i, v := range w.verdicts(made) {
						if v != collector.Solid {
							t.Fatalf("%s is made with a reference to %s, which is %s", name(w, made), w.objects[made].Owners[i], v)
						}
					}
				}
				everyOwnerThatHoldsIsBack(t, &w, b)
				again := restore.New(b, w.seen(), restore.Options{})
				if len(again.Plan.Steps) > 0 {
					t.Fatalf("what is restored is not: %s", told(again.Plan))
				}
			})
		})
	}
}

// everyOwnerThatHoldsIsBack says it with nothing but names: if what lives under the
// name of an owner may be an owner, it is one.
func everyOwnerThatHoldsIsBack(t *rapid.T, w *world, b restore.Backup) {
	for _, s := range b.Saved {
		now, made := w.objects[w.made[s.Object.UID]]
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
			owner, there := w.objects[w.uid(r.UID)]
			holds := there && !owner.DeletingDependents() && owner.MatchesIdentity(r, now.Namespace)
			if holds && !slices.ContainsFunc(now.Owners, func(x object.Reference) bool { return x.UID == owner.UID && x.Name == r.Name }) {
				t.Fatalf("%s has lost its owner %s", now.String(), owner.String())
			}
		}
	}
}

func TestARestorationThatIsCutOffAnywhereIsContinued(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, b := lost(t, DrawBusy(t))
		whole := world{look: w.look, objects: maps.Clone(w.objects), made: map[types.UID]types.UID{}}
		r := restore.New(b, w.seen(), restore.Options{})
		for i := range r.Plan.Steps {
			whole.do(t, r, i)
		}
		cut := rapid.IntRange(0, len(r.Plan.Steps)).Draw(t, "cut")
		for i := range cut {
			w.do(t, r, i)
		}
		rest := restore.New(b, w.seen(), restore.Options{})
		for i := range rest.Plan.Steps {
			w.do(t, rest, i)
		}
		for _, s := range b.Saved {
			if got, want := w.owned(s.Object.UID), whole.owned(s.Object.UID); !slices.Equal(got, want) {
				t.Fatalf("cut off after %d steps, %s is owned by %q, else by %q", cut, s.Object, got, want)
			}
		}
	})
}

// owned are the names of the owners of what was made of an object, nil where
// nothing was.
func (w *world) owned(then types.UID) []string {
	now, made := w.objects[w.made[then]]
	if !made {
		return nil
	}
	out := []string{""}
	for _, r := range now.Owners {
		out = append(out, name(*w, r.UID))
	}
	slices.Sort(out)
	return out
}

func name(w world, uid types.UID) string {
	o := w.objects[uid]
	return o.String()
}
