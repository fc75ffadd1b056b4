package restore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// lines returns a plan as text: a line per step, with the UIDs of the owners that it
// gives its object, then a line per object that is left alone.
func lines(p *plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		var owners []string
		for _, uid := range s.OwnerUIDs() {
			owners = append(owners, string(uid))
		}
		line := fmt.Sprintf("%s %s to %s", s.Action, s.Object, strings.Join(owners, ", "))
		if s.Reason.Message() != "" {
			line += ": " + s.Reason.Message()
		}
		out = append(out, line)
	}
	for _, k := range p.Kept {
		out = append(out, fmt.Sprintf("leave %s: %s", k.Object, k.Reason.Message()))
	}
	return out
}

func widget(at string, with ...Option) object.Object {
	return Object("example.com/v1", "Widget", at, with...)
}

func replicaSet(at string, with ...Option) object.Object {
	return Object("apps/v1", "ReplicaSet", at, with...)
}

// successor returns another object with the same name.
func successor(o object.Object) object.Object {
	o.UID += "-2"
	o.Owners = nil
	return o
}

// unlinked returns a run that removed references from an object.
func unlinked(o object.Object, refs ...object.Reference) run {
	s := event.Step{ID: "1", Action: string(plan.ActionUnlink), Object: o.Identity}
	for _, r := range refs {
		s.References = append(s.References, event.ReferenceChange{Before: r})
	}
	return run{plan.Collect, []event.Step{s}}
}

// relinked returns a repair that pointed a reference at another owner.
func relinked(o object.Object, from, to object.Reference) run {
	r := unlinked(o, from)
	r.mode, r.steps[0].Action = plan.Repair, string(plan.ActionRelink)
	r.steps[0].References[0].After = &to
	return r
}

func TestNew(t *testing.T) {
	web := Deployment("shop/web")
	set := replicaSet("shop/web-1", Owned(To(web, Controlling)))
	pod := Pod("shop/web-1-a", Owned(To(set, Controlling)))
	cache := widget("shop/cache")
	flags := ConfigMap("shop/flags", OwnedBy(cache))
	elsewhere := widget("other/cache")
	finalizerRemoved := run{plan.FinalizerRemoval, []event.Step{{ID: "1", Requested: true, Action: string(plan.ActionRemoveFinalizer), Object: ConfigMap("shop/a").Identity}}}
	tests := map[string]struct {
		scenario
		want []string
	}{
		"creates an owner before its dependents": {
			scenario{gone: []object.Object{flags, cache}},
			[]string{
				"create Widget/cache to ",
				"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
		"creates an adopting controller after its dependents and links them then": {
			scenario{gone: []object.Object{web, set, pod}},
			[]string{
				"create Pod/web-1-a to : adopted by ReplicaSet/web-1",
				"create ReplicaSet/web-1 to : adopted by Deployment/web",
				"create Deployment/web to ",
				"link Pod/web-1-a to ReplicaSet/shop/web-1: adopted by ReplicaSet/web-1",
				"link ReplicaSet/web-1 to Deployment/shop/web: adopted by Deployment/web",
			},
		},
		"restores a reference to an owner that exists": {
			scenario{gone: []object.Object{flags}, live: []object.Object{cache}},
			[]string{"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which exists"},
		},
		"points a reference at the successor of a replaced owner": {
			scenario{gone: []object.Object{flags}, live: []object.Object{successor(cache)}},
			[]string{"create ConfigMap/flags to Widget/shop/cache-2: owned by Widget/cache, which is a newer object with the same name"},
		},
		"points a reference at the successor of an owner in the backup whose name is taken": {
			scenario{gone: []object.Object{cache, flags}, live: []object.Object{successor(cache)}},
			[]string{
				"create ConfigMap/flags to Widget/shop/cache-2: owned by Widget/cache, which is a newer object with the same name",
				"leave Widget/cache: an object with this name exists already, created 2026-11-19 08:00:00",
			},
		},
		"points a reference that was stale before the run at the object recreated under that name": {
			scenario{gone: []object.Object{cache, ConfigMap("shop/flags", OwnedBy(widget("shop/cache", UID("stale"))))}},
			[]string{
				"create Widget/cache to ",
				"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
		"drops a reference to an owner that does not exist": {
			scenario{gone: []object.Object{flags}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"drops a reference to an owner in another namespace, even one in the backup": {
			scenario{gone: []object.Object{elsewhere, ConfigMap("shop/flags", OwnedBy(elsewhere))}, live: []object.Object{Namespace("other")}},
			[]string{
				"create ConfigMap/flags to : without its reference to Widget/cache, which is in another namespace (other), which does not count",
				"create Widget/cache to ",
			},
		},
		"drops a reference to an owner that is being deleted in the foreground": {
			scenario{gone: []object.Object{flags}, live: []object.Object{widget("shop/cache", Foreground())}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which is being deleted in the foreground and waits for its dependents"},
		},
		"drops a reference to an owner that could not be verified": {
			scenario{gone: []object.Object{flags}, parts: []Part{Unreadable("widgets.example.com", snapshot.Forbidden)}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which could not be verified"},
		},
		"drops a reference in a version that is not served": {
			scenario{gone: []object.Object{ConfigMap("shop/flags", Owned(To(cache, As("example.com/v0", "Widget"))))}, live: []object.Object{cache}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which is named in a version that the API server does not serve"},
		},
		"keeps a reference to an owner that does not exist with Exact": {
			scenario{gone: []object.Object{flags}, options: restore.Options{Exact: true}},
			[]string{"create ConfigMap/flags to Widget/shop/cache: with its reference to Widget/cache, which does not exist (the garbage collector will delete the object because of it)"},
		},
		"says that the collector only removes the reference if another owner is solid": {
			scenario{gone: []object.Object{ConfigMap("shop/flags", OwnedBy(cache, web))}, live: []object.Object{web}, options: restore.Options{Exact: true}},
			[]string{"create ConfigMap/flags to Widget/shop/cache, Deployment/shop/web: with its reference to Widget/cache, which does not exist (the garbage collector will remove it again); owned by Deployment/web, which exists"},
		},
		"leaves an object that exists alone": {
			scenario{gone: []object.Object{cache, flags, Secret("shop/a")}, live: []object.Object{cache, successor(Secret("shop/a"))}},
			[]string{
				"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which exists",
				"leave Secret/a: an object with this name exists already, created 2026-11-19 08:00:00",
				"leave Widget/cache: it still exists",
			},
		},
		"believes the scope of the type that is served, not that of the manifest": {
			scenario{gone: []object.Object{Object("v1", "PersistentVolume", "shop/disk"), ConfigMap("flags")}},
			[]string{
				"leave ConfigMap/flags: its manifest has no namespace, but its type needs one",
				"leave PersistentVolume/disk: its manifest names a namespace, but objects of its type are in none",
			},
		},
		"leaves a terminating object alone": {
			scenario{gone: []object.Object{flags}, live: []object.Object{ConfigMap("shop/flags", Terminating("example.com/hold"))}},
			[]string{"leave ConfigMap/flags: it is still being deleted: restore it once it is gone"},
		},
		"recreates an object whose cascading deletion the run skipped": {
			scenario{
				gone:  []object.Object{flags},
				run:   run{plan.Delete, []event.Step{{ID: "1", Action: string(plan.ActionDelete), Object: flags.Identity}}},
				ended: []event.Record{{Step: "1", Object: flags.Identity, Action: "delete", Status: event.Skipped}},
			},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"leaves an object alone that the run skipped": {
			scenario{gone: []object.Object{flags}, ended: []event.Record{{Step: "1", Object: flags.Identity, Action: "delete", Status: event.Skipped}}},
			[]string{"leave ConfigMap/flags: the run did not delete it"},
		},
		"recreates an object that the run failed to delete and that is gone": {
			scenario{gone: []object.Object{flags}, ended: []event.Record{{Step: "1", Object: flags.Identity, Action: "delete", Status: event.Failed}}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"leaves an object alone that was terminating before the run": {
			scenario{gone: []object.Object{ConfigMap("shop/a", Terminating("example.com/hold"))}},
			[]string{"leave ConfigMap/a: it was already being deleted when the run backed it up; to get it back, create it from its manifest in the backup"},
		},
		"recreates an object whose deletion the run completed": {
			scenario{gone: []object.Object{ConfigMap("shop/a", Terminating("example.com/hold")), flags}, run: finalizerRemoved},
			[]string{"create ConfigMap/a to ", "create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"leaves other objects alone whose deletion that run completed": {
			scenario{gone: []object.Object{Secret("shop/a", Terminating(object.ForegroundFinalizer))}, run: finalizerRemoved},
			[]string{"leave Secret/a: it was already being deleted when the run backed it up; to get it back, create it from its manifest in the backup"},
		},
		"leaves an object alone whose finalizer the run did not remove": {
			scenario{
				gone: []object.Object{ConfigMap("shop/a", Terminating("example.com/hold"))}, run: finalizerRemoved,
				ended: []event.Record{{Step: "1", Object: object.Identity{UID: ConfigMap("shop/a").UID}, Action: "remove-finalizer", Status: event.Skipped}},
			},
			[]string{"leave ConfigMap/a: it was already being deleted when the run backed it up; to get it back, create it from its manifest in the backup"},
		},
		"leaves an object alone whose namespace is missing or terminating": {
			scenario{gone: []object.Object{ConfigMap("other/a"), ConfigMap("going/a")}, live: []object.Object{Namespace("going", Terminating())}},
			[]string{
				"leave ConfigMap/a: its namespace is being deleted: once that is gone, recreate it first",
				"leave ConfigMap/a: its namespace does not exist: create that first",
			},
		},
		"creates a namespace before its contents": {
			scenario{gone: []object.Object{ConfigMap("other/a"), Namespace("other")}},
			[]string{"create Namespace/other to ", "create ConfigMap/a to "},
		},
		"leaves an object alone whose type is not served": {
			scenario{gone: []object.Object{Object("example.com/v0", "Widget", "shop/a"), Object("gone.example.com/v1", "Gadget", "shop/a")}},
			[]string{
				"leave Gadget/a: gone.example.com/v1 Gadget is no longer served",
				"leave Widget/a: example.com/v0 Widget is no longer served, only example.com/v1",
			},
		},
		"creates a definition before its instances and those before their dependents": {
			scenario{
				saved: []string{`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.new.example.com, uid: crd}
spec: {group: new.example.com, scope: Namespaced, names: {plural: gadgets, kind: Gadget}, versions: [{name: v1, served: true}]}`},
				gone: []object.Object{
					ConfigMap("shop/a", OwnedBy(Object("new.example.com/v1", "Gadget", "shop/z"))), Object("new.example.com/v1", "Gadget", "shop/z"),
				},
			},
			[]string{
				"create CustomResourceDefinition/gadgets.new.example.com to ",
				"create Gadget/z to ",
				"create ConfigMap/a to Gadget/shop/z: owned by Gadget/z, which is recreated",
			},
		},
		"leaves a Pod to its controller": {
			scenario{gone: []object.Object{pod}, live: []object.Object{web, set}},
			[]string{"leave Pod/web-1-a: its controller ReplicaSet/web-1 exists and creates the Pods that it needs"},
		},
		"leaves a Pod to the successor of its controller": {
			scenario{gone: []object.Object{set, pod}, live: []object.Object{successor(set)}},
			[]string{
				"leave Pod/web-1-a: its controller ReplicaSet/web-1 exists and creates the Pods that it needs",
				"leave ReplicaSet/web-1: an object with this name exists already, created 2026-11-19 08:00:00",
			},
		},
		"creates a Pod whose controller is in another namespace": {
			scenario{
				gone: []object.Object{Pod("other/a", Owned(To(set, Controlling))), set},
				live: []object.Object{Namespace("other"), successor(set)}, made: map[types.UID]types.UID{set.UID: successor(set).UID},
			},
			[]string{"create Pod/a to : without its reference to ReplicaSet/web-1, which is in another namespace (shop), which does not count"},
		},
		"restores the reference of an old ReplicaSet to its Deployment": {
			scenario{gone: []object.Object{set}, live: []object.Object{web}},
			[]string{"create ReplicaSet/web-1 to Deployment/shop/web: owned by Deployment/web, which exists"},
		},
		"leaves objects alone that controllers create by themselves": {
			scenario{saved: []string{
				`{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop, uid: a}}`,
				`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: b}}`,
				`{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: shop, uid: c}}`,
				`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-x, namespace: shop, uid: d, labels: {endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}}`,
				`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: mine, namespace: shop, uid: e}}`,
				`{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop, uid: f, labels: {endpoints.kubernetes.io/managed-by: endpoint-controller}}}`,
				`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: leader, namespace: shop, uid: g}}`,
				`{apiVersion: v1, kind: Pod, metadata: {name: static, namespace: shop, uid: h, annotations: {kubernetes.io/config.mirror: x}}}`,
				`{apiVersion: v1, kind: Pod, metadata: {name: over, namespace: shop, uid: i}, status: {phase: Succeeded}}`,
			}},
			[]string{
				"create EndpointSlice/mine to ",
				"create ServiceAccount/robot to ",
				"leave ConfigMap/kube-root-ca.crt: a controller creates it in every namespace",
				"leave EndpointSlice/web-x: a controller creates it for its Service",
				"leave Endpoints/web: a controller creates it for its Service",
				"leave Lease/leader: its holder recreates it",
				"leave Pod/over: it had finished: if recreated, it would run again",
				"leave Pod/static: its kubelet runs it from a file and recreates it",
				"leave ServiceAccount/default: a controller creates it in every namespace; anything added to it is not restored",
			},
		},
		"creates prerequisites first and objects that may refuse others last": {
			scenario{saved: []string{
				`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, uid: a}, spec: {serviceAccountName: robot}}`,
				`{apiVersion: v1, kind: ResourceQuota, metadata: {name: a, namespace: shop, uid: b}}`,
				`{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop, uid: c, annotations: {kubernetes.io/service-account.name: robot}}, type: kubernetes.io/service-account-token}`,
				`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: d}}`,
				`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a, uid: e}}`,
			}},
			[]string{
				"create ServiceAccount/robot to ",
				"create Pod/a to ",
				"create Secret/a to ",
				"create ResourceQuota/a to ",
				"create ValidatingWebhookConfiguration/a to ",
			},
		},
		"closes an owner cycle with a link once all its members exist": {
			scenario{gone: []object.Object{
				ConfigMap("shop/a", OwnedBy(ConfigMap("shop/b"))), ConfigMap("shop/b", OwnedBy(ConfigMap("shop/a"))),
				ConfigMap("shop/self", OwnedBy(ConfigMap("shop/self"))),
			}},
			[]string{
				"create ConfigMap/self to : owned by ConfigMap/self, which is recreated",
				"create ConfigMap/a to : owned by ConfigMap/b, which is recreated",
				"create ConfigMap/b to ConfigMap/shop/a: owned by ConfigMap/a, which is recreated",
				"link ConfigMap/self to ConfigMap/shop/self: owned by ConfigMap/self, which is recreated",
				"link ConfigMap/a to ConfigMap/shop/b: owned by ConfigMap/b, which is recreated",
			},
		},
		"points the stale reference of an existing object at its recreated owner": {
			scenario{gone: []object.Object{cache}, live: []object.Object{flags}},
			[]string{
				"create Widget/cache to ",
				"link ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
		"restores references that the run removed if the owner exists or is created": {
			scenario{
				gone: []object.Object{cache}, live: []object.Object{ConfigMap("shop/flags"), web},
				run: unlinked(flags, To(cache), To(web, Controlling)),
			},
			[]string{
				"create Widget/cache to ",
				"link ConfigMap/flags to Widget/shop/cache, Deployment/shop/web: owned by Widget/cache, which is recreated; owned by Deployment/web, which exists",
			},
		},
		"does not restore a removed reference whose owner does not exist": {
			scenario{live: []object.Object{ConfigMap("shop/flags")}, run: unlinked(flags, To(cache))},
			nil,
		},
		"does not restore a reference that the run skipped removing": {
			scenario{
				live: []object.Object{ConfigMap("shop/flags"), cache}, run: unlinked(flags, To(cache)),
				ended: []event.Record{{Step: "1", Object: flags.Identity, Action: "unlink", Status: event.Skipped}},
			},
			nil,
		},
		"does not undo a repair that points at the successor of the owner": {
			scenario{
				gone: []object.Object{flags}, live: []object.Object{ConfigMap("shop/flags", OwnedBy(successor(cache))), successor(cache)},
				run: relinked(flags, To(cache), To(successor(cache))),
			},
			nil,
		},
		"undoes a repair that points at the successor with Exact": {
			scenario{
				gone: []object.Object{flags}, live: []object.Object{ConfigMap("shop/flags", OwnedBy(successor(cache))), successor(cache)},
				run: relinked(flags, To(cache), To(successor(cache))), options: restore.Options{Exact: true},
			},
			[]string{"link ConfigMap/flags to Widget/shop/cache: with its reference to Widget/cache, which was replaced by a new object with the same name (the garbage collector will delete the object because of it)"},
		},
		"does not touch a reference that was changed after a repair": {
			scenario{
				gone: []object.Object{flags}, live: []object.Object{ConfigMap("shop/flags", OwnedBy(web)), web},
				run: relinked(flags, To(cache), To(successor(cache))), options: restore.Options{Exact: true},
			},
			nil,
		},
		"does not add a second controller": {
			scenario{
				gone: []object.Object{cache}, live: []object.Object{ConfigMap("shop/flags", Owned(To(web, Controlling))), web},
				run: unlinked(flags, To(cache, Controlling)),
			},
			[]string{"create Widget/cache to "},
		},
		"links an object that an earlier restoration created": {
			scenario{
				gone: []object.Object{web, set}, live: []object.Object{successor(web), successor(set)},
				made: map[types.UID]types.UID{web.UID: web.UID + "-2", set.UID: set.UID + "-2"},
			},
			[]string{"link ReplicaSet/web-1 to Deployment/shop/web-2: owned by Deployment/web, which was recreated earlier"},
		},
		"has no steps after a finished restoration": {
			scenario{
				gone: []object.Object{cache, flags}, live: []object.Object{successor(cache), func() object.Object {
					o := successor(flags)
					o.Owners = []object.Reference{To(successor(cache))}
					return o
				}()},
				made: map[types.UID]types.UID{cache.UID: cache.UID + "-2", flags.UID: flags.UID + "-2"},
			},
			nil,
		},
		"ignores a recorded UID that does not exist under the name of the object": {
			scenario{
				gone: []object.Object{cache, flags}, live: []object.Object{Secret("shop/other"), successor(cache)},
				made: map[types.UID]types.UID{cache.UID: "Secret/shop/other", flags.UID: "no such UID"},
			},
			[]string{
				"create ConfigMap/flags to Widget/shop/cache-2: owned by Widget/cache, which is a newer object with the same name",
				"leave Widget/cache: an object with this name exists already, created 2026-11-19 08:00:00",
			},
		},
		"creates only what Only selects": {
			scenario{
				gone: []object.Object{cache, flags}, live: []object.Object{ConfigMap("shop/survivor", OwnedBy(cache))},
				options: restore.Options{Only: func(o object.Identity) bool { return o.Kind == "ConfigMap" }},
			},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"gives a selected owner its existing dependents back": {
			scenario{
				gone: []object.Object{cache, flags}, live: []object.Object{ConfigMap("shop/survivor"), web},
				run:     unlinked(ConfigMap("shop/survivor"), To(cache), To(web)),
				options: restore.Options{Only: func(o object.Identity) bool { return o.Kind == "Widget" }},
			},
			[]string{
				"create Widget/cache to ",
				"link ConfigMap/survivor to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, lines(restorationOf(t, test.scenario).Plan)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestNewLeavesUnreadableManifestsAlone(t *testing.T) {
	b := scenario{gone: []object.Object{ConfigMap("shop/a"), ConfigMap("shop/b")}}.backup(t)
	b.Saved[0].Object.UID = "another"
	want := []string{"create ConfigMap/b to ", "leave ConfigMap/a: this tool cannot read its manifest: it is damaged"}
	if diff := cmp.Diff(want, lines(restore.New(b, scenario{}.snapshot(), restore.Options{}).Plan)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDigestCoversManifests(t *testing.T) {
	s := scenario{gone: []object.Object{ConfigMap("shop/a")}}
	one, two := s.backup(t), s.backup(t)
	two.Saved[0].SHA256 = "another"
	if restore.New(one, s.snapshot(), s.options).Plan.Digest() == restore.New(two, s.snapshot(), s.options).Plan.Digest() {
		t.Error("another manifest has the same digest")
	}
}
