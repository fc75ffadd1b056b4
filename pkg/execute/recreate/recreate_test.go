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

func (e classified) Error() string                { return "refused: " + string(e.class) }
func (e classified) Refusal() snapshot.ErrorClass { return e.class }

// fakeServer is an API server in memory and a Recorder. It fails the test if a reference
// is written to an owner that does not exist.
type fakeServer struct {
	*testing.T
	mu             sync.Mutex
	objects        map[types.UID]object.Object
	made           map[types.UID]types.UID
	version        int
	calls          []string
	dry            bool
	controllersRun bool
	// before is called before every request, unlocked, and returns its error. It may be nil.
	before func(call string) error
}

func newFakeServer(t *testing.T, there ...object.Object) *fakeServer {
	m := &fakeServer{T: t, objects: map[types.UID]object.Object{}, made: map[types.UID]types.UID{}}
	for _, o := range there {
		m.store(o)
	}
	return m
}

func (m *fakeServer) store(o object.Object) object.Object {
	m.version++
	o.ResourceVersion = strconv.Itoa(m.version)
	m.objects[o.UID] = o
	return o
}

func (m *fakeServer) begin(verb string, o object.Identity) error {
	m.mu.Lock()
	call := strings.TrimSuffix(verb+" "+o.Name, " ")
	m.calls = append(m.calls, call)
	before := m.before
	m.mu.Unlock()
	if before != nil {
		return before(call)
	}
	return nil
}

func (m *fakeServer) checkOwners(o object.Object) {
	for _, r := range o.Owners {
		if _, there := m.objects[r.UID]; !there && r.UID != o.UID {
			m.Errorf("%s refers to %s, which does not exist", o.String(), r)
		}
	}
}

func (m *fakeServer) Create(ctx context.Context, at object.Identity, body json.RawMessage) (*object.Object, error) {
	if err := cmp.Or(m.begin("create", at), ctx.Err()); err != nil {
		return nil, err
	}
	var meta metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &meta); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.objects {
		if o.Kind == at.Kind && o.Namespace == at.Namespace && o.Name == at.Name {
			return nil, classified{snapshot.Exists}
		}
	}
	o := object.FromMeta(at.APIVersion, at.Kind, &meta, false)
	o.UID = types.UID(fmt.Sprintf("new-%d", m.version))
	m.checkOwners(o)
	if !m.dry {
		o = m.store(o)
	}
	return &o, nil
}

func (m *fakeServer) Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	if err := cmp.Or(m.begin("patch", o.Identity), ctx.Err()); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, there := m.objects[o.UID]
	switch {
	case !there:
		return nil, classified{snapshot.Gone}
	case now.ResourceVersion != o.ResourceVersion:
		return nil, classified{snapshot.Conflict}
	case m.dry:
		return o, nil
	}
	now = c.Apply(now)
	m.checkOwners(now)
	now = m.store(now)
	return &now, nil
}

func (m *fakeServer) Read(_ context.Context, at object.Identity) (*object.Object, error) {
	if err := m.begin("read", at); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, there := m.objects[at.UID]; there {
		return &o, nil
	}
	return nil, nil
}

func (m *fakeServer) ServedType(context.Context, []snapshot.Type) error {
	return m.begin("serve", object.Identity{})
}

func (m *fakeServer) VerifyCreated(ctx context.Context) error {
	return cmp.Or(m.begin("settle", object.Identity{}), ctx.Err())
}

func (m *fakeServer) Adopted(ctx context.Context, at object.Identity, owner types.UID) (*object.Object, error) {
	if m.controllersRun {
		m.edit(at.UID, func(o *object.Object) { o.Owners = append(o.Owners, To(m.objects[owner], Controlling, Blocking)) })
	}
	return m.Read(ctx, at)
}

func (m *fakeServer) Made(of object.Identity, uid types.UID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made[of.UID] = uid
	return nil
}

// edit writes as another client; nil deletes.
func (m *fakeServer) edit(uid types.UID, change func(*object.Object)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if change == nil {
		delete(m.objects, uid)
		return
	}
	o := m.objects[uid]
	o.Owners = slices.Clone(o.Owners)
	change(&o)
	m.store(o)
}

// plan makes the plan from the present state and the records of earlier runs.
func (m *fakeServer) plan(gone ...object.Object) *restore.Restoration {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := restore.Backup{Made: maps.Clone(m.made)}
	manifests := map[types.UID]json.RawMessage{}
	for _, o := range gone {
		raw, err := json.Marshal(map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": map[string]any{
			"namespace": o.Namespace, "name": o.Name, "uid": o.UID, "ownerReferences": o.Owners,
		}})
		if err != nil {
			m.Fatal(err)
		}
		b.Saved = append(b.Saved, restore.Saved{Object: o.Identity})
		manifests[o.UID] = raw
	}
	slices.SortFunc(b.Saved, func(x, y restore.Saved) int { return x.Object.Compare(y.Object) })
	b.Manifest = func(s restore.Saved) (json.RawMessage, error) { return manifests[s.Object.UID], nil }
	there := slices.Collect(maps.Values(m.objects))
	sets := snapshot.Type{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Namespaced: true, Preferred: true, Verbs: Types()[0].Verbs}
	parts := []Part{Serving(Containers()...), Listing(Namespace("shop")), Listing(there...)}
	if !slices.ContainsFunc(Types(), func(t snapshot.Type) bool { return t.Kind == "ReplicaSet" }) {
		parts = append([]Part{Serving(sets)}, parts...)
	}
	return restore.New(b, New(parts...), restore.Options{})
}

type outcome struct {
	Status event.Status
	Reason reason.Reason
}

var (
	done      = outcome{Status: event.Done}
	forbidden = outcome{event.Failed, reason.WriteFailed{Failure: reason.Failure{ErrorClass: "forbidden", Detail: "refused: forbidden"}}}
)

func skipped(why reason.Reason) outcome { return outcome{event.Skipped, why} }

// outcomes returns how the steps of a run ended, by action and object.
func outcomes(r *restore.Restoration, report *execute.Report) map[string]outcome {
	out := map[string]outcome{}
	for i, s := range r.Plan.Steps {
		out[fmt.Sprintf("%s %s", s.Action, s.Object)] = outcome{report.Results[i].Status, report.Results[i].Reason}
	}
	return out
}

// ownerNames returns the names of the owners, by name of the object.
func (m *fakeServer) ownerNames() map[string][]string {
	out := map[string][]string{}
	for _, o := range m.objects {
		names := []string{}
		for _, r := range o.Owners {
			owner := m.objects[r.UID]
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
			m := newFakeServer(t)
			m.controllersRun = adopts
			r := m.plan(gonePod, goneSet, goneWeb)
			recreate.Run(t.Context(), r, m, m, execute.Options{})
			var order []string
			for _, c := range m.calls {
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
			if d := diff.Diff(want2, m.ownerNames()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestRunContinuesAfterAnInterruptAtAnyRequest(t *testing.T) {
	whole := newFakeServer(t, survivor)
	recreate.Run(t.Context(), whole.plan(all...), whole, whole, execute.Options{})
	want := whole.ownerNames()
	if len(want) != len(all)+1 || len(want["ConfigMap/survivor"]) != 1 {
		t.Fatalf("not everything was created: %v", want)
	}
	for cut := range len(whole.calls) {
		m := newFakeServer(t, survivor)
		ctx, cancel := context.WithCancel(t.Context())
		var n atomic.Int64
		m.before = func(string) error {
			if n.Add(1) > int64(cut) {
				cancel()
			}
			return nil
		}
		first := recreate.Run(ctx, m.plan(all...), m, m, execute.Options{})
		if last := len(whole.calls) - 1; !first.Interrupted && cut < last { // writes in flight are completed
			t.Errorf("interrupted after %d requests, not reported", cut)
		}
		m.before = nil
		recreate.Run(t.Context(), m.plan(all...), m, m, execute.Options{Concurrency: 4})
		if d := diff.Diff(want, m.ownerNames()); d != "" {
			t.Errorf("interrupted after %d requests (-want +got)\n%s", cut, d)
		}
		if again := m.plan(all...); len(again.Plan.Steps) > 0 {
			t.Errorf("interrupted after %d requests, steps remain: %+v", cut, again.Plan.Steps)
		}
		cancel()
	}
}

func TestRunAdaptsToChanges(t *testing.T) {
	owner := Role("shop/plain")
	tests := map[string]struct {
		there, gone []object.Object
		before      func(m *fakeServer, call string) error
		want        map[string]outcome
	}{
		"keeps an object that somebody else created, and skips its dependents": {
			gone: []object.Object{goneRole, goneDependent},
			before: func(m *fakeServer, call string) error {
				if call == "create plain" {
					m.edit("theirs", func(o *object.Object) { *o = Role("shop/plain", UID("theirs")) })
				}
				return nil
			},
			want: map[string]outcome{
				"create Role/plain": skipped(reason.AlreadyExists{}), "create Secret/below": skipped(reason.OwnerNotCreated{Owner: To(goneRole)}),
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
				"create Role/plain": forbidden, "create Secret/below": skipped(reason.OwnerNotCreated{Owner: To(goneRole)}),
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
				"link Pod/web-1-a": skipped(reason.OwnerNotCreated{Owner: To(goneSet, Controlling, Blocking)}),
			},
		},
		"skips a dependent whose owner is gone": {
			there: []object.Object{owner}, gone: []object.Object{goneDependent},
			before: func(m *fakeServer, call string) error {
				if call == "read plain" {
					m.edit(owner.UID, nil)
				}
				return nil
			},
			want: map[string]outcome{"create Secret/below": skipped(reason.OwnerGone{Owner: To(goneRole)})},
		},
		"skips a dependent whose owner waits for its dependents": {
			there: []object.Object{owner}, gone: []object.Object{goneDependent},
			before: func(m *fakeServer, call string) error {
				if call == "read plain" {
					m.edit(owner.UID, func(o *object.Object) { Foreground()(o) })
				}
				return nil
			},
			want: map[string]outcome{"create Secret/below": skipped(reason.OwnerGone{Owner: To(goneRole)})},
		},
		"links an object that keeps changing": {
			there: []object.Object{survivor}, gone: []object.Object{goneRole},
			before: func(m *fakeServer, call string) error {
				if call == "patch survivor" && len(m.calls) < 8 {
					m.edit(survivor.UID, func(o *object.Object) { Labeled("changed", "again")(o) })
				}
				return nil
			},
			want: map[string]outcome{"create Role/plain": done, "link ConfigMap/survivor": done},
		},
		"skips an object that is gone": {
			there: []object.Object{survivor}, gone: []object.Object{goneRole},
			before: func(m *fakeServer, call string) error {
				if call == "patch survivor" {
					m.edit(survivor.UID, nil)
				}
				return nil
			},
			want: map[string]outcome{"create Role/plain": done, "link ConfigMap/survivor": skipped(reason.ObjectGone{})},
		},
		"skips an object with another controller": {
			gone: []object.Object{goneSet, gonePod},
			before: func(m *fakeServer, call string) error {
				if call == "create web-1" {
					m.edit(m.made[gonePod.UID], func(o *object.Object) {
						m.objects[rival.UID] = rival
						o.Owners = append(o.Owners, To(rival, Controlling))
					})
				}
				return nil
			},
			want: map[string]outcome{
				"create Pod/web-1-a": done, "create ReplicaSet/web-1": done, "link Pod/web-1-a": skipped(reason.ConflictingController{Owner: To(rival, Controlling)}),
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newFakeServer(t, test.there...)
			r := m.plan(test.gone...)
			m.before = func(call string) error { return test.before(m, call) }
			if d := diff.Diff(test.want, outcomes(r, recreate.Run(t.Context(), r, m, m, execute.Options{}))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestDryRunCreatesNothing(t *testing.T) {
	m := newFakeServer(t, survivor)
	m.dry = true
	elsewhere := ConfigMap("new/a")
	r := m.plan(append([]object.Object{Namespace("new"), elsewhere}, all...)...)
	got := outcomes(r, recreate.Run(t.Context(), r, m, m, execute.Options{DryRun: true}))
	for what, want := range map[string]outcome{
		"create ConfigMap/flags": done, "create Pod/web-1-a": done, "create Namespace/new": done, "link ConfigMap/survivor": done,
		"create ConfigMap/a": skipped(reason.DryRunImpossible{Missing: reason.ItsNamespace}), "link Pod/web-1-a": skipped(reason.DryRunImpossible{Missing: reason.Itself}),
	} {
		if got[what] != want {
			t.Errorf("%s: %q, want %q", what, got[what], want)
		}
	}
	if len(m.objects) != 1 || len(m.made) > 0 || slices.Contains(m.calls, "settle") {
		t.Errorf("created %v, recorded %v, requested %v", m.objects, m.made, m.calls)
	}
}
