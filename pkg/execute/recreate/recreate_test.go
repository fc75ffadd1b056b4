package recreate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/recreate"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// classified is an execute.ClassifiedError.
type classified struct{ class snapshot.ErrorClass }

func (e classified) Error() string              { return "refused: " + string(e.class) }
func (e classified) Class() snapshot.ErrorClass { return e.class }

// fakeServer is an API server in memory and a Recorder. It fails the test if a reference
// is written to an owner that does not exist.
type fakeServer struct {
	t              *testing.T
	mu             sync.Mutex
	objects        map[types.UID]object.Object
	created        map[types.UID]types.UID
	version        int
	calls          []string
	dry            bool
	controllersRun bool
	// before is called before every request, unlocked, and returns its error. It may be nil.
	before func(call string) error
}

func newFakeServer(t *testing.T, there ...object.Object) *fakeServer {
	f := &fakeServer{t: t, objects: map[types.UID]object.Object{}, created: map[types.UID]types.UID{}}
	for _, o := range there {
		f.store(o)
	}
	return f
}

func (f *fakeServer) store(o object.Object) object.Object {
	f.version++
	o.ResourceVersion = strconv.Itoa(f.version)
	f.objects[o.UID] = o
	return o
}

func (f *fakeServer) begin(verb string, o object.Identity) error {
	f.mu.Lock()
	call := strings.TrimSuffix(verb+" "+o.Name, " ")
	f.calls = append(f.calls, call)
	before := f.before
	f.mu.Unlock()
	if before != nil {
		return before(call)
	}
	return nil
}

func (f *fakeServer) checkOwners(o object.Object) {
	for _, r := range o.Owners {
		if _, there := f.objects[r.UID]; !there && r.UID != o.UID {
			f.t.Errorf("%s refers to %s, which does not exist", o.String(), r)
		}
	}
}

func (f *fakeServer) Create(ctx context.Context, at object.Identity, body json.RawMessage) (*object.Object, error) {
	if err := cmp.Or(f.begin("create", at), ctx.Err()); err != nil {
		return nil, err
	}
	var meta metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &meta); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.Kind == at.Kind && o.Namespace == at.Namespace && o.Name == at.Name {
			return nil, classified{snapshot.Exists}
		}
	}
	o := object.FromMeta(at.APIVersion, at.Kind, &meta, false)
	o.UID = types.UID(fmt.Sprintf("new-%d", f.version))
	f.checkOwners(o)
	if !f.dry {
		o = f.store(o)
	}
	return &o, nil
}

func (f *fakeServer) Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	if err := cmp.Or(f.begin("patch", o.Identity), ctx.Err()); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now, there := f.objects[o.UID]
	switch {
	case !there:
		return nil, classified{snapshot.Gone}
	case now.ResourceVersion != o.ResourceVersion:
		return nil, classified{snapshot.Conflict}
	case f.dry:
		return o, nil
	}
	now = c.Apply(now)
	f.checkOwners(now)
	now = f.store(now)
	return &now, nil
}

func (f *fakeServer) Read(_ context.Context, at object.Identity) (*object.Object, error) {
	if err := f.begin("read", at); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if o, there := f.objects[at.UID]; there {
		return &o, nil
	}
	return nil, nil
}

func (f *fakeServer) WaitForServed(context.Context, []snapshot.Type) error {
	return f.begin("serve", object.Identity{})
}

func (f *fakeServer) WaitForWatches(ctx context.Context) error {
	return cmp.Or(f.begin("settle", object.Identity{}), ctx.Err())
}

func (f *fakeServer) WaitForAdoption(ctx context.Context, at object.Identity, owner types.UID) (*object.Object, error) {
	if f.controllersRun {
		f.edit(at.UID, func(o *object.Object) { o.Owners = append(o.Owners, To(f.objects[owner], Controlling, Blocking)) })
	}
	return f.Read(ctx, at)
}

func (f *fakeServer) RecordCreated(of object.Identity, uid types.UID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.created[of.UID] = uid
	return nil
}

// edit writes as another client; nil deletes.
func (f *fakeServer) edit(uid types.UID, change func(*object.Object)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if change == nil {
		delete(f.objects, uid)
		return
	}
	o := f.objects[uid]
	o.Owners = slices.Clone(o.Owners)
	change(&o)
	f.store(o)
}

// plan makes the plan from the present state and the records of earlier runs.
func (f *fakeServer) plan(gone ...object.Object) *restore.Restoration {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := restore.SavedRun{Recreated: maps.Clone(f.created)}
	manifests := map[types.UID]json.RawMessage{}
	for _, o := range gone {
		raw, err := json.Marshal(map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": map[string]any{
			"namespace": o.Namespace, "name": o.Name, "uid": o.UID, "ownerReferences": o.Owners,
		}})
		if err != nil {
			f.t.Fatal(err)
		}
		b.Saved = append(b.Saved, event.Saved{Object: o.Identity})
		manifests[o.UID] = raw
	}
	slices.SortFunc(b.Saved, func(x, y event.Saved) int { return x.Object.Compare(y.Object) })
	b.Manifest = func(s event.Saved) (json.RawMessage, error) { return manifests[s.Object.UID], nil }
	there := slices.Collect(maps.Values(f.objects))
	sets := snapshot.Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true, Preferred: true, Verbs: Types()[0].Verbs}
	parts := []Part{Serving(TypesWithContents()...), Listing(Namespace("shop")), Listing(there...)}
	if !slices.ContainsFunc(Types(), func(t snapshot.Type) bool { return t.Kind == "ReplicaSet" }) {
		parts = append([]Part{Serving(sets)}, parts...)
	}
	return restore.New(b, New(parts...), restore.Options{})
}

type outcome struct {
	Status event.Status
	Reason *reason.Reason
}

var (
	done      = outcome{Status: event.Done}
	forbidden = outcome{event.Failed, reason.WriteFailed(reason.Failure{ErrorClass: "forbidden", Detail: "refused: forbidden"})}
)

func skipped(why *reason.Reason) outcome { return outcome{event.Skipped, why} }

// outcomes returns how the steps of a run ended, by action and object.
func outcomes(r *restore.Restoration, report *execute.RunResult) map[string]outcome {
	out := map[string]outcome{}
	for i, s := range r.Plan.Steps {
		out[fmt.Sprintf("%s %s", s.Action, s.Object)] = outcome{report.Results[i].Status, report.Results[i].Reason}
	}
	return out
}

// ownerNames returns the names of the owners, by name of the object.
func (f *fakeServer) ownerNames() map[string][]string {
	out := map[string][]string{}
	for _, o := range f.objects {
		names := []string{}
		for _, r := range o.Owners {
			owner := f.objects[r.UID]
			names = append(names, owner.String())
		}
		slices.Sort(names)
		out[o.String()] = names
	}
	return out
}

var (
	goneWeb       = Deployment("shop/web")
	goneSet       = Object("apps/v1", "ReplicaSet", "shop/web-1", Owned(To(goneWeb, Controlling, Blocking)))
	gonePod       = Pod("shop/web-1-a", Owned(To(goneSet, Controlling, Blocking)))
	goneMap       = ConfigMap("shop/flags", OwnedBy(goneWeb))
	goneRole      = Role("shop/plain")
	goneDependent = Secret("shop/below", OwnedBy(goneRole))
	cycle         = []object.Object{Secret("shop/cycle-a", OwnedBy(Secret("shop/cycle-b"))), Secret("shop/cycle-b", OwnedBy(Secret("shop/cycle-a")))}
	rival         = Deployment("shop/rival", UID("rival"))
	survivor      = ConfigMap("shop/survivor", OwnedBy(goneRole))
	all           = append([]object.Object{goneWeb, goneSet, gonePod, goneMap, goneRole, goneDependent}, cycle...)
)

func TestRunCreatesDependentsBeforeTheirController(t *testing.T) {
	for _, adopts := range []bool{true, false} {
		t.Run(fmt.Sprintf("controllers run: %t", adopts), func(t *testing.T) {
			f := newFakeServer(t)
			f.controllersRun = adopts
			r := f.plan(gonePod, goneSet, goneWeb)
			recreate.Run(t.Context(), r, f, f, execute.Tuning{})
			var order []string
			for _, c := range f.calls {
				if !strings.HasPrefix(c, "read") {
					order = append(order, c)
				}
			}
			want := []string{"create web-1-a", "settle", "create web-1", "settle", "create web"}
			if d := diff.Diff(want, order[:5]); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if patched := len(order) > 5; patched == adopts {
				t.Errorf("more requests: %q", order[5:])
			}
			want2 := map[string][]string{"Deployment/web": {}, "ReplicaSet/web-1": {"Deployment/web"}, "Pod/web-1-a": {"ReplicaSet/web-1"}}
			if d := diff.Diff(want2, f.ownerNames()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestEveryWriteWaitsForItsTurn(t *testing.T) {
	for _, dry := range []bool{false, true} {
		f := newFakeServer(t)
		f.dry = dry
		turn := func(context.Context) error { return f.begin("turn", object.Identity{}) }
		recreate.Run(t.Context(), f.plan(gonePod, goneSet, goneWeb), f, f, execute.Tuning{Pace: turn, DryRun: dry})
		turns, writes := 0, 0
		for _, c := range f.calls {
			switch verb, _, _ := strings.Cut(c, " "); verb {
			case "turn":
				turns++
			case "create", "patch":
				if writes++; writes > turns {
					t.Errorf("dry run %t: %s did not wait: %q", dry, c, f.calls)
				}
			}
		}
		if writes < 2 || turns != writes {
			t.Errorf("dry run %t: %d turns for %d writes", dry, turns, writes)
		}
	}
}

func TestInterruptEndsTheWaitForATurn(t *testing.T) {
	f := newFakeServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	turn := func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	report := recreate.Run(ctx, f.plan(goneRole), f, f, execute.Tuning{Pace: turn})
	if !report.Interrupted || len(f.objects) > 0 {
		t.Errorf("%+v, and %d objects were created", report, len(f.objects))
	}
}

func TestRunContinuesAfterAnInterruptAtAnyRequest(t *testing.T) {
	complete := newFakeServer(t, survivor)
	recreate.Run(t.Context(), complete.plan(all...), complete, complete, execute.Tuning{})
	want := complete.ownerNames()
	if len(want) != len(all)+1 || len(want["ConfigMap/survivor"]) != 1 {
		t.Fatalf("not everything was created: %v", want)
	}
	for cut := range len(complete.calls) {
		f := newFakeServer(t, survivor)
		ctx, cancel := context.WithCancel(t.Context())
		var n atomic.Int64
		f.before = func(string) error {
			if n.Add(1) > int64(cut) {
				cancel()
			}
			return nil
		}
		first := recreate.Run(ctx, f.plan(all...), f, f, execute.Tuning{})
		if last := len(complete.calls) - 1; !first.Interrupted && cut < last { // writes in flight are completed
			t.Errorf("interrupted after %d requests, not reported", cut)
		}
		f.before = nil
		recreate.Run(t.Context(), f.plan(all...), f, f, execute.Tuning{Concurrency: 4})
		if d := diff.Diff(want, f.ownerNames()); d != "" {
			t.Errorf("interrupted after %d requests (-want +got)\n%s", cut, d)
		}
		if again := f.plan(all...); len(again.Plan.Steps) > 0 {
			t.Errorf("interrupted after %d requests, steps remain: %+v", cut, again.Plan.Steps)
		}
		cancel()
	}
}

func TestRunAdaptsToChanges(t *testing.T) {
	owner := Role("shop/plain")
	tests := map[string]struct {
		there, gone []object.Object
		before      func(f *fakeServer, call string) error
		want        map[string]outcome
	}{
		"keeps an object that somebody else created, and skips its dependents": {
			gone: []object.Object{goneRole, goneDependent},
			before: func(f *fakeServer, call string) error {
				if call == "create plain" {
					f.edit("theirs", func(o *object.Object) { *o = Role("shop/plain", UID("theirs")) })
				}
				return nil
			},
			want: map[string]outcome{
				"create Role/plain": skipped(reason.AlreadyExists), "create Secret/below": skipped(reason.OwnerNotCreated(To(goneRole))),
			},
		},
		"skips the dependents of an object that the server refuses": {
			gone: []object.Object{goneRole, goneDependent},
			before: func(_ *fakeServer, call string) error {
				if call == "create plain" {
					return classified{snapshot.Forbidden}
				}
				return nil
			},
			want: map[string]outcome{
				"create Role/plain": forbidden, "create Secret/below": skipped(reason.OwnerNotCreated(To(goneRole))),
			},
		},
		"does not link to a controller that was not created": {
			gone: []object.Object{goneSet, gonePod},
			before: func(_ *fakeServer, call string) error {
				if call == "create web-1" {
					return classified{snapshot.Forbidden}
				}
				return nil
			},
			want: map[string]outcome{
				"create Pod/web-1-a": done, "create ReplicaSet/web-1": forbidden,
				"link Pod/web-1-a": skipped(reason.OwnerNotCreated(To(goneSet, Controlling, Blocking))),
			},
		},
		"skips a dependent whose owner is gone": {
			there: []object.Object{owner}, gone: []object.Object{goneDependent},
			before: func(f *fakeServer, call string) error {
				if call == "read plain" {
					f.edit(owner.UID, nil)
				}
				return nil
			},
			want: map[string]outcome{"create Secret/below": skipped(reason.OwnerGone(To(goneRole)))},
		},
		"skips a dependent whose owner waits for its dependents": {
			there: []object.Object{owner}, gone: []object.Object{goneDependent},
			before: func(f *fakeServer, call string) error {
				if call == "read plain" {
					f.edit(owner.UID, func(o *object.Object) { Foreground()(o) })
				}
				return nil
			},
			want: map[string]outcome{"create Secret/below": skipped(reason.OwnerGone(To(goneRole)))},
		},
		"links an object that keeps changing": {
			there: []object.Object{survivor}, gone: []object.Object{goneRole},
			before: func(f *fakeServer, call string) error {
				if call == "patch survivor" && len(f.calls) < 8 {
					f.edit(survivor.UID, func(o *object.Object) { Labeled("changed", "again")(o) })
				}
				return nil
			},
			want: map[string]outcome{"create Role/plain": done, "link ConfigMap/survivor": done},
		},
		"skips an object that is gone": {
			there: []object.Object{survivor}, gone: []object.Object{goneRole},
			before: func(f *fakeServer, call string) error {
				if call == "patch survivor" {
					f.edit(survivor.UID, nil)
				}
				return nil
			},
			want: map[string]outcome{"create Role/plain": done, "link ConfigMap/survivor": skipped(reason.ObjectGone)},
		},
		"skips an object with another controller": {
			gone: []object.Object{goneSet, gonePod},
			before: func(f *fakeServer, call string) error {
				if call == "create web-1" {
					f.edit(f.created[gonePod.UID], func(o *object.Object) {
						f.objects[rival.UID] = rival
						o.Owners = append(o.Owners, To(rival, Controlling))
					})
				}
				return nil
			},
			want: map[string]outcome{
				"create Pod/web-1-a": done, "create ReplicaSet/web-1": done, "link Pod/web-1-a": skipped(reason.ConflictingController(To(rival, Controlling))),
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeServer(t, test.there...)
			r := f.plan(test.gone...)
			f.before = func(call string) error { return test.before(f, call) }
			if d := diff.Diff(test.want, outcomes(r, recreate.Run(t.Context(), r, f, f, execute.Tuning{}))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestDryRunCreatesNothing(t *testing.T) {
	f := newFakeServer(t, survivor)
	f.dry = true
	elsewhere := ConfigMap("new/a")
	r := f.plan(append([]object.Object{Namespace("new"), elsewhere}, all...)...)
	got := outcomes(r, recreate.Run(t.Context(), r, f, f, execute.Tuning{DryRun: true}))
	for what, want := range map[string]outcome{
		"create ConfigMap/flags": done, "create Pod/web-1-a": done, "create Namespace/new": done, "link ConfigMap/survivor": done,
		"create ConfigMap/a": skipped(reason.DryRunImpossible(reason.ItsNamespace)), "link Pod/web-1-a": skipped(reason.DryRunImpossible(reason.Itself)),
	} {
		if got := got[what]; got.Status != want.Status || !got.Reason.Equal(want.Reason) {
			t.Errorf("%s: %s: %s, want %s: %s", what, got.Status, got.Reason.Message(), want.Status, want.Reason.Message())
		}
	}
	if len(f.objects) != 1 || len(f.created) > 0 || slices.Contains(f.calls, "settle") {
		t.Errorf("created %v, recorded %v, requested %v", f.objects, f.created, f.calls)
	}
}
