package planrun_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// fakeServer is an API server in memory. Every state of every object has its own
// resourceVersion. A write with another UID or resourceVersion than the present ones is a
// Conflict, or Gone if there is no object. simulate.Deleted and simulate.Patched tell what
// a write leaves, so finalizers and grace periods work. A dry run changes nothing.
//
// It has no admission but the webhook of a test, and no types but those of the snapshot
// that it serves; what that could not list, it cannot list either. If prompt is set,
// kubelets and the controllers of namespaces and CustomResourceDefinitions finish their
// work before the DELETE returns.
type fakeServer struct {
	mu            sync.Mutex
	base          *snapshot.Snapshot
	view          *snapshot.View
	objects       map[types.UID]*object.Object // listed ones, and those that only a lookup found
	listed        map[types.UID]bool
	initial       map[types.UID]string // resourceVersions at the start
	version       int
	dry           bool
	prompt        bool
	complete      bool
	deleted       map[types.UID]bool // objects with an accepted DELETE
	deletedInside map[types.UID]bool // objects that were deleted with the Namespace or CustomResourceDefinition that they are in
	patchedFrom   map[string]string  // by the resourceVersion that a patch left, the one before

	calls                 []call
	inFlight, maxInFlight int // requests, now and at most

	// before is called before every request, unlocked, and returns its error. It may
	// write. It may be nil.
	before func(call) error
	// webhook changes what a patch stores. It may be nil.
	webhook func(*object.Object)
	// wait implements WaitForGone. If it is nil, the object must be gone.
	wait func(context.Context, object.Identity) error
}

// call is one request.
type call struct {
	verb   string // delete, patch, read, verify, relist, contents, wait or backup
	at     object.Identity
	rv     string
	policy metav1.DeletionPropagation
	grace  *int64
	change object.Change
}

func (c call) String() string { return c.verb + " " + c.at.Name }

// classified is an execute.ClassifiedError.
type classified struct{ class snapshot.ErrorClass }

func (e classified) Error() string              { return "refused: " + string(e.class) }
func (e classified) Class() snapshot.ErrorClass { return e.class }

var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// newFakeServer returns a server of the objects in s. It sets their resourceVersions.
func newFakeServer(s *snapshot.Snapshot) *fakeServer {
	f := &fakeServer{
		base: s, prompt: true, deleted: map[types.UID]bool{}, deletedInside: map[types.UID]bool{}, patchedFrom: map[string]string{}, objects: map[types.UID]*object.Object{}, listed: map[types.UID]bool{}, initial: map[types.UID]string{},
	}
	see := func(o *object.Object) {
		if known := f.objects[o.UID]; known != nil { // looked up in two versions
			return
		}
		o.ResourceVersion = f.next()
		copied := *o
		f.objects[o.UID], f.initial[o.UID] = &copied, o.ResourceVersion
	}
	for _, o := range s.Objects {
		see(o)
		f.listed[o.UID] = true
	}
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil {
			see(o)
		}
	}
	f.view = snapshot.NewView(s)
	g := graph.New(s)
	f.complete = simulate.NewModel(collector.NewJudge(g), simulate.Own).Complete("")
	return f
}

func (f *fakeServer) next() string {
	f.version++
	return strconv.Itoa(f.version)
}

// edit writes as another client; nil deletes at once.
func (f *fakeServer) edit(uid types.UID, change func(*object.Object)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[uid]
	switch {
	case o == nil:
	case change == nil:
		delete(f.objects, uid)
	default:
		left := *o
		change(&left)
		f.store(uid, &left)
	}
}

func (f *fakeServer) store(uid types.UID, left *object.Object) *object.Object {
	if left == nil {
		delete(f.objects, uid)
		return nil
	}
	stored := *left
	stored.ResourceVersion = f.next()
	f.objects[uid] = &stored
	answer := stored
	return &answer
}

// begin records a request and lets the test interfere.
func (f *fakeServer) begin(c call) error {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.inFlight++
	f.maxInFlight = max(f.maxInFlight, f.inFlight)
	before := f.before
	f.mu.Unlock()
	if before != nil {
		return before(c)
	}
	return nil
}

func (f *fakeServer) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight--
}

// write completes even if the context has ended, as the contract of Server says.
func (f *fakeServer) write(c call, o *object.Object, make func(*object.Object) *object.Object) (*object.Object, error) {
	c.at, c.rv = o.Identity, o.ResourceVersion
	defer f.finish()
	if err := f.begin(c); err != nil {
		return nil, err
	}
	f.mu.Lock()
	there := f.objects[o.UID]
	switch {
	case there == nil:
		f.mu.Unlock()
		return nil, classified{snapshot.Gone}
	case o.ResourceVersion != there.ResourceVersion:
		f.mu.Unlock()
		return nil, classified{snapshot.Conflict}
	}
	left := make(there)
	if c.verb == "patch" && left != nil && f.webhook != nil {
		f.webhook(left)
	}
	if !f.dry {
		left = f.store(o.UID, left)
		if c.verb == "delete" {
			f.deleted[o.UID] = true
			f.deleteContents(there)
		} else if left != nil {
			f.patchedFrom[left.ResourceVersion] = there.ResourceVersion
		}
		for f.prompt && f.actAsController() {
		}
	}
	f.mu.Unlock()
	return left, nil
}

func (f *fakeServer) Delete(_ context.Context, o *object.Object, policy metav1.DeletionPropagation, grace *int64) (*object.Object, error) {
	return f.write(call{verb: "delete", policy: policy, grace: grace}, o, func(there *object.Object) *object.Object {
		return simulate.StateAfterDelete(there, policy, grace, now)
	})
}

func (f *fakeServer) Patch(_ context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	return f.write(call{verb: "patch", change: c}, o, func(there *object.Object) *object.Object {
		return simulate.StateAfterPatch(there, c)
	})
}

func (f *fakeServer) Read(_ context.Context, at object.Identity) (*object.Object, error) {
	defer f.finish()
	if err := f.begin(call{verb: "read", at: at}); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.copy(at.UID), nil
}

func (f *fakeServer) copy(uid types.UID) *object.Object {
	there := f.objects[uid]
	if there == nil {
		return nil
	}
	o := *there
	return &o
}

func (f *fakeServer) Verify(_ context.Context, at object.Identity) (*snapshot.Snapshot, error) {
	defer f.finish()
	if err := f.begin(call{verb: "verify", at: at}); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &snapshot.Snapshot{Taken: now, Types: f.base.Types, Gaps: f.base.Gaps}
	if o := f.copy(at.UID); o != nil {
		s.Objects = []*object.Object{o}
		s.Lookups = f.lookups(s.Objects)
	}
	return s, nil
}

func (f *fakeServer) Relist(ctx context.Context) (*snapshot.Snapshot, error) {
	defer f.finish()
	if err := f.begin(call{verb: "relist"}); err != nil {
		return nil, err
	}
	return f.scan(), ctx.Err()
}

func (f *fakeServer) Contents(ctx context.Context, of object.Identity) (*snapshot.Snapshot, error) {
	defer f.finish()
	if err := f.begin(call{verb: "contents", at: of}); err != nil {
		return nil, err
	}
	s := f.scan()
	s.Objects = slices.DeleteFunc(s.Objects, func(o *object.Object) bool { return !f.inside(&object.Object{Identity: of}, o) })
	return s, ctx.Err()
}

func (f *fakeServer) WaitForGone(ctx context.Context, at object.Identity) error {
	defer f.finish()
	if err := f.begin(call{verb: "wait", at: at}); err != nil {
		return err
	}
	if f.wait != nil {
		return f.wait(ctx, at)
	}
	if f.state(at.UID) != nil {
		return errors.New("the object is not gone")
	}
	return nil
}

// inside reports whether the deletion of container deletes o too.
func (f *fakeServer) inside(container, o *object.Object) bool {
	switch container.Kind {
	case "Namespace":
		return o.Namespace == container.Name
	case "CustomResourceDefinition":
		m, ok := f.view.Map(o.APIVersion, o.Kind)
		return ok && m.Type.String() == container.Name
	}
	return false
}

// deleteContents deletes the contents of an object, those of a Namespace Pods first, and the others
// once no Pod is left. It reports whether it deleted anything.
func (f *fakeServer) deleteContents(container *object.Object) bool {
	isPod := func(o *object.Object) bool { return o.Kind == "Pod" }
	switch container.Kind {
	case "Namespace":
		background := metav1.DeletePropagationBackground
		return f.deleteInside(container, background, isPod) || !f.has(container, isPod) && f.deleteInside(container, background, anyObject)
	case "CustomResourceDefinition":
		return f.deleteInside(container, "", anyObject)
	}
	return false
}

func anyObject(*object.Object) bool { return true }

// has reports whether container has such an object in it.
func (f *fakeServer) has(container *object.Object, such func(*object.Object) bool) bool {
	for uid := range f.listed {
		if o := f.objects[uid]; o != nil && f.inside(container, o) && such(o) {
			return true
		}
	}
	return false
}

// deleteInside deletes such objects in container, each once, and reports whether there were any.
func (f *fakeServer) deleteInside(container *object.Object, policy metav1.DeletionPropagation, such func(*object.Object) bool) (did bool) {
	for uid := range f.listed {
		o := f.objects[uid]
		if o == nil || f.deletedInside[uid] || !f.inside(container, o) || !such(o) {
			continue
		}
		did, f.deletedInside[uid], f.deleted[uid] = true, true, true
		if o = f.stopped(o); o != nil {
			o = f.stopped(simulate.StateAfterDelete(o, policy, nil, now))
		}
		f.store(uid, o)
	}
	return did
}

// actAsController does one thing that a kubelet or controller has to do, and reports
// whether there was one.
func (f *fakeServer) actAsController() bool {
	for uid := range f.deleted {
		o := f.objects[uid]
		if o == nil {
			delete(f.deleted, uid)
			continue
		}
		if o.Kind == "Namespace" && f.deleteContents(o) {
			return true
		}
		// Emptied, it is gone after an update, which the API server may reject (docs/gc-semantics.md#metadata-validation).
		stays := !f.complete || f.has(o, anyObject) || collector.UpdateRejected(&object.Object{Owners: o.Owners})
		left := o
		switch {
		case o.InGracePeriod():
			left = f.stopped(o)
		case o.Kind == "Namespace" && !stays && len(o.Finalizers) == 0:
			left = nil
		case o.Kind == "CustomResourceDefinition" && !stays && slices.Contains(o.Finalizers, cleanup):
			left = simulate.StateAfterPatch(o, object.Change{RemoveFinalizer: cleanup})
		}
		if left != o {
			f.store(uid, left)
			return true
		}
	}
	return false
}

const cleanup = "customresourcecleanup.apiextensions.k8s.io"

// stopped returns the state of an object after its kubelet, if it waits for one, has stopped it. A
// kubelet that let the grace period of a Pod pass does not respond.
func (f *fakeServer) stopped(o *object.Object) *object.Object {
	if o == nil || !o.InGracePeriod() || f.base.Taken.After(*o.Deleted) {
		return o
	}
	left := *o
	left.GraceSeconds, left.Running = nil, false
	if len(left.Finalizers) == 0 {
		return nil
	}
	return &left
}

// scan returns a snapshot of the present state.
func (f *fakeServer) scan() *snapshot.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &snapshot.Snapshot{Taken: now, Types: f.base.Types, Listed: f.base.Listed, Gaps: f.base.Gaps}
	for uid := range f.listed {
		if o := f.copy(uid); o != nil {
			s.Objects = append(s.Objects, o)
		}
	}
	s.Lookups = f.lookups(s.Objects)
	s.Normalize()
	return s
}

// lookups returns the lookups for the references of objects. They are those of the first
// scan, updated for objects that have changed.
func (f *fakeServer) lookups(objects []*object.Object) []snapshot.Lookup {
	var out []snapshot.Lookup
	bare := snapshot.NewView(&snapshot.Snapshot{Types: f.base.Types})
	for _, c := range bare.UnverifiedOwners(objects, func(types.UID) *object.Object { return nil }) {
		l := snapshot.Lookup{Coordinates: c, Outcome: snapshot.Absent}
		m, _ := f.view.Map(c.APIVersion, c.Kind)
		before := f.view.Lookup(c)
		switch found := f.objectAt(m.Type, c); {
		case before != nil && before.Outcome == snapshot.Failed:
			l = *before
		case before != nil && before.Object != nil:
			if there := f.copy(before.Object.UID); there != nil {
				l.Outcome, l.Object = snapshot.Found, before.Object
				if there.ResourceVersion != f.initial[there.UID] {
					there.Identity = before.Object.Identity
					l.Object = there
				}
			}
		case before != nil:
		case found != nil:
			l.Outcome, l.Object = snapshot.Found, found
		case !f.view.Listed(m.Type.GroupResource(), c.Namespace):
			l.Outcome, l.Reason = snapshot.Failed, snapshot.Forbidden
		}
		out = append(out, l)
	}
	return out
}

// objectAt returns the object at those coordinates, or nil.
func (f *fakeServer) objectAt(t snapshot.Type, c snapshot.Coordinates) *object.Object {
	for _, uid := range f.uids() {
		o := f.objects[uid]
		if o == nil {
			continue
		}
		for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
			m, ok := f.view.Map(i.APIVersion, i.Kind)
			if ok && m.Type.GroupResource() == t.GroupResource() && i.Namespace == c.Namespace && i.Name == c.Name {
				return f.copy(uid)
			}
		}
	}
	return nil
}

// uids returns all UIDs, those of listed objects first.
func (f *fakeServer) uids() []types.UID {
	uids := slices.Sorted(maps.Keys(f.objects))
	slices.SortStableFunc(uids, func(a, b types.UID) int {
		switch {
		case f.listed[a] == f.listed[b]:
			return 0
		case f.listed[a]:
			return -1
		}
		return 1
	})
	return uids
}

// sent returns the requests with those verbs so far, in their order.
func (f *fakeServer) sent(verbs ...string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []string{}
	for _, c := range f.calls {
		if slices.Contains(verbs, c.verb) {
			out = append(out, c.String())
		}
	}
	return out
}

// fakeBackup is a BackupWriter in memory. It reads the objects of a fakeServer, which
// records its requests.
type fakeBackup struct {
	server   *fakeServer
	fails    map[string]error // by the object's name
	err      error
	versions map[types.UID][]string // resourceVersions of the backups
}

// has reports whether an object was backed up with that resourceVersion, or with one that
// only patches of the run turned into it.
func (d *fakeBackup) has(uid types.UID, version string) bool {
	for ; version != ""; version = d.server.patchedFrom[version] {
		if slices.Contains(d.versions[uid], version) {
			return true
		}
	}
	return false
}

func (d *fakeBackup) Write(_ context.Context, objects []object.Identity) (saved map[types.UID]*object.Object, failed map[types.UID]error, err error) {
	if d.err != nil {
		return nil, nil, d.err
	}
	if d.versions == nil {
		d.versions = map[types.UID][]string{}
	}
	saved, failed = map[types.UID]*object.Object{}, map[types.UID]error{}
	for _, at := range objects {
		err := d.server.begin(call{verb: "backup", at: at})
		d.server.finish()
		if err == nil {
			err = d.fails[at.Name]
		}
		if err != nil {
			failed[at.UID] = fmt.Errorf("save %s: %w", at.Name, err)
			continue
		}
		d.server.mu.Lock()
		o := d.server.copy(at.UID)
		d.server.mu.Unlock()
		if o != nil {
			saved[at.UID] = o
			d.versions[o.UID] = append(d.versions[o.UID], o.ResourceVersion)
		}
	}
	return saved, failed, nil
}
