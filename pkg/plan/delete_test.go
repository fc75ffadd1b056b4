package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

const (
	inBackground = metav1.DeletePropagationBackground
	inForeground = metav1.DeletePropagationForeground
	orphaning    = metav1.DeletePropagationOrphan
)

// deleting returns the plan to delete those objects with one policy.
func deleting(s *snapshot.Snapshot, policy metav1.DeletionPropagation, targets ...object.Object) *plan.Plan {
	g := graph.New(s)
	var deletes []simulate.DeleteRequest
	for _, t := range targets {
		deletes = append(deletes, simulate.DeleteRequest{Node: g.Find(t.UID), Policy: policy})
	}
	return plan.New(collector.NewJudge(g), plan.DeletePurpose(simulate.Cluster, deletes...))
}

// predicted returns a line for everything in a plan except its steps.
func predicted(p *plan.Plan) []string {
	out := []string{}
	for _, o := range p.Outcomes {
		line := fmt.Sprintf("%s %s", o.Object.Name, o.State)
		if o.When == plan.Later {
			line += " later"
		}
		for _, before := range o.After {
			line += " after " + before.Name
		}
		if len(o.WaitsFor) > 0 {
			line += " " + strings.Join(o.WaitsFor, ",")
		}
		if o.Nondeterministic != nil {
			line += "; unsure: " + o.Nondeterministic.Message()
		}
		out = append(out, line)
	}
	for _, s := range p.Retained {
		line := fmt.Sprintf("%s stays, loses %d: %s", s.Object.Name, s.DroppedReferences, s.Reason.Message())
		if s.Uncertain {
			line += "; unsure"
		}
		out = append(out, line)
	}
	for _, b := range p.Blocked {
		out = append(out, fmt.Sprintf("%s blocked: %s", b.Object.Name, b.Reason.Message()))
	}
	return out
}

func TestDeletion(t *testing.T) {
	owner, other := Secret("a/owner"), Secret("a/other")
	account := Object("v1", "ServiceAccount", "a/ci")
	lost := Secret("a/lost", OwnedBy(ConfigMap("a/nothing")))
	set, deployment := Object("apps/v1", "ReplicaSet", "a/set"), Deployment("a/deployment")
	unwatched := Object("example.com/v1", "Reading", "a/r", OwnedBy(owner))
	for name, c := range map[string]struct {
		seen    []Part
		policy  metav1.DeletionPropagation
		targets []object.Object
		steps   []string
		rest    []string
	}{
		"in the background, and nothing else is looked at": {
			[]Part{Listing(owner, lost, ConfigMap("a/x", OwnedBy(owner)))},
			inBackground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents follow (background)", "delete x: its only owner, Secret/owner, is deleted before it"},
			[]string{"x deleted", "owner deleted"},
		},
		"in the foreground, as far as what blocks lets it": {
			[]Part{Listing(owner, ConfigMap("a/x", Owned(To(owner, Blocking)), WithFinalizers("x/y")))},
			inForeground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents go first, all at once and in no order (foreground)", "delete x: its only owner, Secret/owner, is being deleted in the foreground and waits for its dependents"},
			[]string{"x terminating x/y", "owner terminating foregroundDeletion", "x blocked: is held by x/y", "owner blocked: is blocked by ConfigMap/x, which is held by x/y"},
		},
		"what is let go of stays": {
			[]Part{Listing(owner, other, ConfigMap("a/x", OwnedBy(owner)), ConfigMap("a/y", OwnedBy(owner, other)))},
			orphaning,
			[]object.Object{owner},
			[]string{
				"delete owner: requested; its dependents stay (orphan)",
				"unlink x: its owner Secret/owner is being deleted and orphans its dependents",
				"unlink y: its owner Secret/owner is being deleted and orphans its dependents",
				"remove-finalizer owner: no dependent refers to it anymore: its deletion can complete",
			},
			[]string{
				"x changed", "y changed", "owner deleted",
				"x stays, loses 1: Secret/owner orphans it, and no owner remains",
				"y stays, loses 1: Secret/owner orphans it, and Secret/other remains",
			},
		},
		"what another owns stays": {
			[]Part{Listing(owner, other, ConfigMap("a/x", OwnedBy(owner, other)))},
			inBackground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents follow (background)", "unlink x: Secret/owner is deleted before it; Secret/other remains"},
			[]string{"x changed", "owner deleted", "x stays, loses 1: is also owned by Secret/other"},
		},
		"what is held keeps its dependents, which go later": {
			[]Part{Listing(Secret("a/owner", WithFinalizers("x/y")), ConfigMap("a/x", OwnedBy(owner)))},
			inBackground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents follow (background)"},
			[]string{
				"x deleted later after owner x/y", "owner terminating x/y", "owner blocked: is held by x/y",
			},
		},
		"what nobody can judge stays, as far as can be said": {
			[]Part{Listing(owner, ConfigMap("a/x", OwnedBy(owner, Role("a/hidden")))), Unreadable("roles.rbac.authorization.k8s.io", snapshot.Forbidden)},
			inBackground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents follow (background)"},
			[]string{
				"x unchanged; unsure: may stay: it is unknown whether its owner Role/hidden exists", "owner deleted",
				"x stays, loses 0: may stay: it is unknown whether its owner Role/hidden exists; unsure",
			},
		},
		"what cannot be judged at all stays for sure": {
			[]Part{Listing(owner, ConfigMap("a/x", OwnedBy(owner), Owned(To(other, As("v1", "Foo")))))},
			inBackground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents follow (background)"},
			[]string{"owner deleted", "x stays, loses 0: stays until v1 Foo is served: only then can the garbage collector resolve its owner Foo/other"},
		},
		"what is a matter of luck is called so, and what hangs on it": {
			[]Part{Listing(Secret("a/owner", WithFinalizers("x/y")), ConfigMap("a/x", OwnedBy(owner)), ConfigMap("a/y", OwnedBy(ConfigMap("a/x"))))},
			inForeground,
			[]object.Object{owner},
			[]string{
				"delete owner: requested; its dependents go first, all at once and in no order (foreground)",
				"delete x: its only owner, Secret/owner, is being deleted in the foreground and waits for its dependents; its own dependents go first (foreground)",
				"remove-finalizer owner: nothing blocks its foreground deletion anymore",
				"delete y: its only owner, ConfigMap/x, is being deleted in the foreground and waits for its dependents",
				"remove-finalizer x: nothing blocks its foreground deletion anymore",
			},
			[]string{
				"x deleted; unsure: whether it stays depends on when the garbage collector processes it",
				"y deleted; unsure: it depends on what happens to ConfigMap/x",
				"owner terminating x/y", "owner blocked: is held by x/y",
			},
		},
		"the dependents of an unwatched object decide in which namespace the collector looks for it": {
			[]Part{
				Serving(snapshot.Type{Group: "example.com", Version: "v1", Resource: "readings", Kind: "Reading", Namespaced: true, Verbs: []string{"get", "delete"}, Preferred: true}),
				Listing(owner, ConfigMap("a/x", OwnedBy(unwatched)), ConfigMap("b/y", OwnedBy(unwatched))), Found(unwatched),
			},
			inBackground,
			[]object.Object{owner},
			[]string{
				"delete owner: requested; its dependents follow (background)",
				"delete r: its only owner, Secret/owner, is deleted before it",
				"delete x: its only owner, Reading/r, is deleted before it",
			},
			[]string{
				"x deleted; unsure: it depends on what happens to Reading/r",
				"y unchanged; unsure: may stay: it is unknown whether its owner Reading/r exists",
				"r deleted; unsure: it depends on the order in which the garbage collector processes objects",
				"owner deleted",
				"y stays, loses 0: may stay: it is unknown whether its owner Reading/r exists; unsure",
			},
		},
		"what has a controller is made anew": {
			[]Part{Listing(set, Pod("a/pod", Owned(To(set, Controlling)), Running()))},
			inBackground,
			[]object.Object{Pod("a/pod")},
			[]string{"delete pod: requested; its controller ReplicaSet/set stays, and will likely create another"},
			[]string{"pod deleted"},
		},
		"but not a Pod that has finished": {
			[]Part{Listing(set, Pod("a/pod", Owned(To(set, Controlling))))},
			inBackground,
			[]object.Object{Pod("a/pod")},
			[]string{"delete pod: requested; its controller ReplicaSet/set stays, and will likely create another, unless this Pod has failed or completed"},
			[]string{"pod deleted"},
		},
		"nor what a Deployment does not create": {
			[]Part{Listing(deployment, Pod("a/pod", Owned(To(deployment, Controlling)), Running()))},
			inBackground,
			[]object.Object{Pod("a/pod")},
			[]string{"delete pod: requested"},
			[]string{"pod deleted"},
		},
		"unless that goes, too": {
			[]Part{Listing(set, Pod("a/pod", Owned(To(set, Controlling))))},
			inBackground,
			[]object.Object{set, Pod("a/pod")},
			[]string{"delete set: requested; its dependents follow (background)", "delete pod: requested"},
			[]string{"pod deleted", "set deleted"},
		},
		"what is being deleted already": {
			[]Part{Listing(Secret("a/owner", Terminating("x/y")), ConfigMap("a/x", Owned(To(owner, Blocking))))},
			inForeground,
			[]object.Object{owner},
			[]string{
				"delete owner: requested, although it is already being deleted; its dependents go first, all at once and in no order (foreground)",
				"delete x: its only owner, Secret/owner, is being deleted in the foreground and waits for its dependents",
				"remove-finalizer owner: nothing blocks its foreground deletion anymore",
			},
			[]string{"x deleted", "owner terminating x/y", "owner blocked: has been held by x/y for 60s"},
		},
		"to ask for the same again says what it waits for": {
			[]Part{Listing(Secret("a/owner", Terminating("x/y")), ConfigMap("a/x", OwnedBy(owner)))},
			inBackground,
			[]object.Object{owner},
			[]string{},
			[]string{
				"x deleted later after owner x/y", "owner deleted later x/y", "owner blocked: has been held by x/y for 60s",
			},
		},
		"what goes anyway, once the collector comes to it, does not go later": {
			[]Part{Listing(
				Pod("a/lost", Foreground()), ConfigMap("a/x", OwnedBy(Pod("a/lost"))), ConfigMap("b/x", OwnedBy(Pod("a/lost"))),
				Role("a/role", Foreground(), OwnedBy(Pod("a/lost"))),
			)},
			inForeground,
			[]object.Object{Role("a/role")},
			[]string{},
			[]string{"role blocked: is not blocked: the garbage collector has not processed it yet, or has lost track of it"},
		},
		"what goes with an owner that waits for the target goes later, and not what goes anyway": {
			[]Part{Listing(
				Pod("a/waiting", Foreground()), ConfigMap("a/x", OwnedBy(Pod("a/waiting"))), ConfigMap("b/elsewhere", OwnedBy(Pod("a/waiting"))),
				Role("a/role", Terminating("x/y"), Owned(To(Pod("a/waiting"), Blocking))),
			)},
			inBackground,
			[]object.Object{Role("a/role")},
			[]string{},
			[]string{"x deleted later after waiting x/y", "waiting deleted later after role x/y", "role deleted later x/y", "role blocked: has been held by x/y for 60s"},
		},
		"what several hold goes later, after all of them": {
			[]Part{Listing(
				Secret("a/owner", WithFinalizers("x/y")), Secret("a/other", WithFinalizers("x/y")), ConfigMap("a/between", OwnedBy(other)),
				ConfigMap("a/x", OwnedBy(owner, ConfigMap("a/between"))),
			)},
			inBackground,
			[]object.Object{owner, other},
			[]string{"delete owner: requested; its dependents follow (background)", "delete other: requested; its dependents follow (background)"},
			[]string{
				"between deleted later after other x/y", "x deleted later after owner after between x/y",
				"other terminating x/y", "owner terminating x/y",
				"other blocked: is held by x/y", "owner blocked: is held by x/y",
			},
		},
		"the Endpoints of a Service that is held go later": {
			[]Part{Listing(
				Object("v1", "Service", "a/web", WithFinalizers("service.kubernetes.io/load-balancer-cleanup")), Object("v1", "Endpoints", "a/web"),
			)},
			inBackground,
			[]object.Object{Object("v1", "Service", "a/web")},
			[]string{"delete web: requested"},
			[]string{
				"web deleted later after web service.kubernetes.io/load-balancer-cleanup",
				"web terminating service.kubernetes.io/load-balancer-cleanup",
				"web blocked: is held by service.kubernetes.io/load-balancer-cleanup",
			},
		},
		"k/k#24928: the tokens of a ServiceAccount go with it, by UID where they have one": {
			[]Part{Listing(
				account, Secret("a/named", DeletedWith(object.Identity{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "a", Name: "ci"})),
				Secret("a/issued", DeletedWith(account.Identity)), Secret("a/earlier", DeletedWith(Object("v1", "ServiceAccount", "a/ci", UID("earlier")).Identity)),
				Secret("a/other", DeletedWith(Object("v1", "ServiceAccount", "a/other").Identity)), Secret("a/unread"),
			)},
			inBackground,
			[]object.Object{account},
			[]string{"delete ci: requested"},
			[]string{"issued deleted", "named deleted", "ci deleted"},
		},
		"a token goes with a ServiceAccount whose owner goes": {
			[]Part{Listing(owner, Object("v1", "ServiceAccount", "a/sa", OwnedBy(owner)), Secret("a/token", DeletedWith(Object("v1", "ServiceAccount", "a/sa").Identity)))},
			inBackground,
			[]object.Object{owner},
			[]string{"delete owner: requested; its dependents follow (background)", "delete sa: its only owner, Secret/owner, is deleted before it"},
			[]string{"owner deleted", "token deleted", "sa deleted"},
		},
		"a definition does not care for the policy": {
			[]Part{Listing(CRD("widgets.example.com"), Object("example.com/v1", "Widget", "a/w"))},
			orphaning,
			[]object.Object{CRD("widgets.example.com")},
			[]string{"delete widgets.example.com: requested: deletes every object of its kind; the API server ignores the policy for this kind"},
			[]string{"widgets.example.com deleted", "w deleted"},
		},
		"a namespace takes along what is in it": {
			[]Part{Listing(Namespace("a"), owner, ConfigMap("a/x", WithFinalizers("x/y")))},
			inBackground,
			[]object.Object{Namespace("a")},
			[]string{"delete a: requested: deletes everything in it"},
			[]string{"x terminating x/y", "a terminating kubernetes", "owner deleted", "x blocked: is held by x/y", "a blocked: waits for its contents to be deleted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := deleting(New(append([]Part{Serving(slices.Concat(TypesWithContents(), Workloads())...)}, c.seen...)...), c.policy, c.targets...)
			if diff := cmp.Diff(c.steps, told(p)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.rest, predicted(p)); diff != "" {
				t.Errorf("the rest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVolumeNamespaces(t *testing.T) {
	claim, pod := Object("v1", "PersistentVolumeClaim", "a/claim", WithFinalizers(simulate.ClaimProtection)), Pod("a/pod")
	leaving := Object("v1", "PersistentVolumeClaim", "a/leaving", Terminating(simulate.ClaimProtection))
	volume := Object("v1", "PersistentVolume", "volume", WithFinalizers(simulate.VolumeProtection))
	for name, c := range map[string]struct {
		seen, targets []object.Object
		want          []string
	}{
		"of what is deleted":                       {[]object.Object{claim, volume, pod}, []object.Object{claim, volume}, []string{"", "a"}},
		"of a claim that may wait for the Pod":     {[]object.Object{leaving, pod}, []object.Object{pod}, []string{"a"}},
		"not of a claim in another namespace":      {[]object.Object{leaving, Pod("b/pod")}, []object.Object{Pod("b/pod")}, nil},
		"not of one whose users are known":         {[]object.Object{Object("v1", "PersistentVolumeClaim", "a/claim", WithClaims()), pod}, []object.Object{claim}, nil},
		"not of a claim that is not being deleted": {[]object.Object{claim, pod}, []object.Object{pod}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			seen := New(Serving(Workloads()...), Listing(c.seen...))
			if diff := cmp.Diff(c.want, deleting(seen, inBackground, c.targets...).VolumeNamespaces(graph.New(seen)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDataOfAPlan(t *testing.T) {
	with := func(s object.Storage) Option { return func(o *object.Object) { o.Storage = &s } }
	owner := Secret("a/owner")
	lost := Object("v1", "PersistentVolumeClaim", "a/lost", OwnedBy(owner), with(object.Storage{Size: "2Gi", Volume: "pv-1"}))
	kept := Object("v1", "PersistentVolumeClaim", "a/kept", OwnedBy(owner), with(object.Storage{Size: "3Gi", Volume: "pv-2"}))
	unknown := Object("v1", "PersistentVolumeClaim", "a/unknown", OwnedBy(owner))
	seen := New(Serving(append(Workloads(), snapshot.Type{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshots", Kind: "VolumeSnapshot", Namespaced: true, Verbs: []string{"delete", "list", "watch"}, Preferred: true})...),
		Listing(owner, lost, kept, unknown,
			Object("v1", "PersistentVolume", "pv-1", with(object.Storage{Size: "2Gi", ReclaimPolicy: "Delete"})),
			Object("v1", "PersistentVolume", "pv-2", with(object.Storage{Size: "3Gi", ReclaimPolicy: "Retain"})),
			Object("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "a/stays", with(object.Storage{Claim: "lost"})),
			Object("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "a/goes", OwnedBy(owner), with(object.Storage{Claim: "lost"}))))
	p := deleting(seen, inBackground, owner)
	total := p.Data()
	if got := []any{total.Lost, total.Kept, total.Unknown, total.Size.String()}; !slices.Equal(got, []any{1, 1, 1, "2Gi"}) {
		t.Errorf("totals %v", got)
	}
	i := slices.IndexFunc(p.Outcomes, func(o plan.Outcome) bool { return o.Object.Name == "lost" })
	want := &simulate.Data{Size: "2Gi", Volume: "pv-1", ReclaimPolicy: "Delete", Lost: simulate.DataLost, Snapshots: []string{"stays"}}
	if diff := cmp.Diff(want, p.Outcomes[i].Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The API server rejects every update of an object that names an Event as its owner.
func TestDeletionThatNobodyCanCompleteEndsAsTerminating(t *testing.T) {
	held := Secret("a/held", WithFinalizers("x/y"))
	event := Object("v1", "Event", "a/e", OwnedBy(held))
	stuck := Secret("a/stuck", OwnedBy(event), WithFinalizers("x/y"))
	for _, o := range deleting(New(Listing(held, event, stuck)), inBackground, held).Outcomes {
		if o.Object == stuck.Identity && o.State == plan.Terminating && o.When == plan.Later {
			return
		}
	}
	t.Error("its finalizer cannot be removed, and it does not end as terminating")
}

func TestPlanKeepsTheRequestedGracePeriod(t *testing.T) {
	pod := Pod("a/pod", Running())
	g := graph.New(New(Listing(pod, ConfigMap("a/x", OwnedBy(pod)))))
	in := func(grace *int64) *plan.Plan {
		return plan.New(collector.NewJudge(g), plan.DeletePurpose(simulate.Cluster, simulate.DeleteRequest{Node: g.Find(pod.UID), Policy: inBackground, GraceSeconds: grace}))
	}
	forced := in(new(int64))
	if s := forced.Steps[0]; s.Deletion.GraceSeconds == nil || *s.Deletion.GraceSeconds != 0 || s.Deletion.WaitsForKubelet {
		t.Errorf("the first step is %+v", s)
	}
	if s := forced.Steps[1]; s.Deletion.GraceSeconds != nil {
		t.Errorf("the dependent has a grace period of %d", *s.Deletion.GraceSeconds)
	}
	if s := in(new(int64(5))).Steps[0]; !s.Deletion.WaitsForKubelet {
		t.Error("a Pod that gets five seconds does not wait for its kubelet")
	}
	digests := map[string]bool{}
	for _, grace := range []*int64{nil, new(int64), new(int64(1)), new(int64(5))} {
		digests[in(grace).Digest()] = true
	}
	if len(digests) != 4 {
		t.Errorf("four grace periods have %d digests", len(digests))
	}
}

func TestRandomDeletions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := DrawBusy(t)
		if rapid.Bool().Draw(t, "odd") {
			s = Draw(t)
		}
		if len(s.Objects) == 0 {
			return
		}
		policy := rapid.SampledFrom([]metav1.DeletionPropagation{inBackground, inForeground, orphaning}).Draw(t, "policy")
		var targets []object.Object
		for _, o := range rapid.SliceOfN(rapid.SampledFrom(s.Objects), 1, 3).Draw(t, "targets") {
			targets = append(targets, *o)
		}
		p := deleting(s, policy, targets...)
		state := map[string]plan.State{}
		for _, o := range p.Outcomes {
			if state[string(o.Object.UID)] != "" {
				t.Errorf("%s has two outcomes", o.Object)
			}
			state[string(o.Object.UID)] = o.State
		}
		view, blocked := snapshot.NewView(s), map[string]bool{}
		hides := slices.ContainsFunc(s.Objects, func(o *object.Object) bool { return len(view.ContentsGaps(o.Identity, nil)) > 0 })
		for _, b := range p.Blocked {
			blocked[string(b.Object.UID)] = true
		}
		for _, target := range targets {
			_, goes := state[string(target.UID)]
			if !goes && target.Deleted == nil && !(blocked[string(target.UID)] && hides) {
				t.Errorf("%s is asked for, and nothing becomes of it", target)
			}
		}
		for _, step := range p.Steps {
			if of := step.Object.Identity; step.Action == plan.ActionDelete && !step.Transition().StateBefore.Terminating() && len(view.ContentsGaps(of, nil)) > 0 {
				t.Errorf("%s is deleted, and what is in it was not all listed", of)
			}
		}
		for _, stay := range p.Retained {
			if at := state[string(stay.Object.UID)]; at == plan.Deleted || at == plan.Terminating {
				t.Errorf("%s stays, and is %s", stay.Object, at)
			}
		}
		for _, o := range p.Outcomes {
			if o.When == plan.Later && (!o.State.Deletes() || len(o.WaitsFor) == 0) {
				t.Errorf("%s goes later, and waits for nothing", o.Object)
			}
			if slices.Contains(o.After, o.Object) {
				t.Errorf("%s goes later, after itself", o.Object)
			}
		}
		for _, o := range p.Outcomes {
			if o.When == plan.Later {
				delete(state, string(o.Object.UID)) // of a request for what is held already
			}
		}
		for _, b := range p.Blocked {
			refused := slices.ContainsFunc(p.Refused(), func(r plan.Blocked) bool { return r.Object == b.Object })
			if at := state[string(b.Object.UID)]; at == plan.Deleted || at == plan.Changed && !refused {
				t.Errorf("%s is blocked, and %s", b.Object, at)
			}
		}
		left := plan.Remaining(p, collector.NewJudge(graph.New(s)), simulate.Own, false)
		for _, of := range []*plan.Plan{p, left} {
			lost := of.LostObjects
			for i := range of.Steps {
				if step := &of.Steps[i]; step.Action == plan.ActionDelete {
					if len(lost) == 0 || lost[0].By != step || lost[0].Object != step.Object.Identity {
						t.Fatalf("step %s deletes %s, which is not in its place in %+v", step.ID, step.Object, of.LostObjects)
					}
					lost = lost[1:]
				}
			}
		}
	})
}
