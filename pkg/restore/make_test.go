package restore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// told is a plan in lines: the steps in their order, each with the UIDs of the
// owners that it gives its object, and then what is left alone.
func told(p *plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		line := fmt.Sprintf("%s %s to %s", s.Action, s.Object, strings.Join(s.OwnerUIDs, ", "))
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

// successor is another object of the same name.
func successor(o object.Object) object.Object {
	o.UID += "-2"
	o.Owners = nil
	return o
}

// unlinked is the plan of a run that took references from an object.
func unlinked(o object.Object, refs ...object.Reference) *plan.Plan {
	s := plan.Step{ID: "1", Action: collector.ActionUnlink, Object: plan.Object{Identity: o.Identity}}
	for _, r := range refs {
		s.References = append(s.References, plan.Reference{Reference: *audit.ReferenceOf(r)})
	}
	return &plan.Plan{Mode: plan.Collect, Steps: []plan.Step{s}}
}

// relinked is the plan of a repair that led a reference elsewhere.
func relinked(o object.Object, from, to object.Reference) *plan.Plan {
	p := unlinked(o, from)
	p.Mode, p.Steps[0].Action, p.Steps[0].Object.UID = plan.Repair, plan.Relink, o.UID
	p.Steps[0].References[0].Becomes = audit.ReferenceOf(to)
	return p
}

func TestWhatBecomesOfABackup(t *testing.T) {
	web := Deployment("shop/web")
	set := replicaSet("shop/web-1", Owned(To(web, Controlling)))
	pod := Pod("shop/web-1-a", Owned(To(set, Controlling)))
	cache := widget("shop/cache")
	flags := ConfigMap("shop/flags", OwnedBy(cache))
	elsewhere := widget("other/cache")
	tests := map[string]struct {
		scene
		want []string
	}{
		"an owner comes before what it owns": {
			scene{gone: []object.Object{flags, cache}},
			[]string{
				"create Widget/cache to ",
				"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
		"a controller that adopts comes after what it owns, which is linked then": {
			scene{gone: []object.Object{web, set, pod}},
			[]string{
				"create Pod/web-1-a to : adopted by ReplicaSet/web-1",
				"create ReplicaSet/web-1 to : adopted by Deployment/web",
				"create Deployment/web to ",
				"link Pod/web-1-a to ReplicaSet/shop/web-1: adopted by ReplicaSet/web-1",
				"link ReplicaSet/web-1 to Deployment/shop/web: adopted by Deployment/web",
			},
		},
		"an owner that is still there is one again": {
			scene{gone: []object.Object{flags}, there: []object.Object{cache}},
			[]string{"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which exists"},
		},
		"an owner that was replaced yields to its successor": {
			scene{gone: []object.Object{flags}, there: []object.Object{successor(cache)}},
			[]string{"create ConfigMap/flags to Widget/shop/cache-2: owned by Widget/cache, which is a newer object of that name"},
		},
		"so does one that is in the backup, if another has its name by now": {
			scene{gone: []object.Object{cache, flags}, there: []object.Object{successor(cache)}},
			[]string{
				"create ConfigMap/flags to Widget/shop/cache-2: owned by Widget/cache, which is a newer object of that name",
				"leave Widget/cache: another object of that name exists, created 2026-11-19 08:00:00",
			},
		},
		"a reference that was stale before the run leads to what is made under that name": {
			scene{gone: []object.Object{cache, ConfigMap("shop/flags", OwnedBy(widget("shop/cache", UID("stale"))))}},
			[]string{
				"create Widget/cache to ",
				"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
		"nothing is given an owner that is gone": {
			scene{gone: []object.Object{flags}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"nor one in another namespace, be it in the backup": {
			scene{gone: []object.Object{elsewhere, ConfigMap("shop/flags", OwnedBy(elsewhere))}, there: []object.Object{Namespace("other")}},
			[]string{
				"create ConfigMap/flags to : without its reference to Widget/cache, which is in another namespace: other",
				"create Widget/cache to ",
			},
		},
		"nor one that is being deleted in the foreground": {
			scene{gone: []object.Object{flags}, there: []object.Object{widget("shop/cache", Foreground())}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which is being deleted in the foreground and waits for it"},
		},
		"nor one that nobody could ask for": {
			scene{gone: []object.Object{flags}, parts: []Part{Unreadable("widgets.example.com", snapshot.Forbidden)}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which could not be verified"},
		},
		"nor one of a version that is not served": {
			scene{gone: []object.Object{ConfigMap("shop/flags", Owned(To(cache, As("example.com/v0", "Widget"))))}, there: []object.Object{cache}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which is referenced in a version that is not served"},
		},
		"unless that is wanted": {
			scene{gone: []object.Object{flags}, options: restore.Options{Exact: true}},
			[]string{"create ConfigMap/flags to Widget/shop/cache: with its reference to Widget/cache, which does not exist (the garbage collector will delete the object because of it)"},
		},
		"where another owner holds it, the collector only drops such a reference": {
			scene{gone: []object.Object{ConfigMap("shop/flags", OwnedBy(cache, web))}, there: []object.Object{web}, options: restore.Options{Exact: true}},
			[]string{"create ConfigMap/flags to Widget/shop/cache, Deployment/shop/web: with its reference to Widget/cache, which does not exist (the garbage collector will remove it again); owned by Deployment/web, which exists"},
		},
		"what is there is left alone": {
			scene{gone: []object.Object{cache, flags, Secret("shop/a")}, there: []object.Object{cache, successor(Secret("shop/a"))}},
			[]string{
				"create ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which exists",
				"leave Secret/a: another object of that name exists, created 2026-11-19 08:00:00",
				"leave Widget/cache: it still exists",
			},
		},
		"so is what is on its way out": {
			scene{gone: []object.Object{flags}, there: []object.Object{ConfigMap("shop/flags", Terminating("example.com/hold"))}},
			[]string{"leave ConfigMap/flags: it is still being deleted: restore it once it is gone"},
		},
		"what a run did not see the collector do, it may have done all the same": {
			scene{
				gone:  []object.Object{flags},
				run:   &plan.Plan{Mode: plan.Delete, Steps: []plan.Step{{ID: "1", Action: collector.ActionDelete, Object: plan.Object{Identity: flags.Identity}}}},
				ended: []restore.Ended{{Step: "1", Object: flags.UID, Action: "delete", Status: event.Skipped}},
			},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"what the run left alone, somebody else deleted": {
			scene{gone: []object.Object{flags}, ended: []restore.Ended{{Step: "1", Object: flags.UID, Action: "delete", Status: event.Skipped}}},
			[]string{"leave ConfigMap/flags: the run did not delete it"},
		},
		"what the run failed to delete may be gone all the same": {
			scene{gone: []object.Object{flags}, ended: []restore.Ended{{Step: "1", Object: flags.UID, Action: "delete", Status: event.Failed}}},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"what was being deleted before the run stays deleted": {
			scene{gone: []object.Object{ConfigMap("shop/a", Terminating("example.com/hold"))}},
			[]string{"leave ConfigMap/a: it was already being deleted when it was backed up"},
		},
		"an object needs its namespace": {
			scene{gone: []object.Object{ConfigMap("other/a"), ConfigMap("going/a")}, there: []object.Object{Namespace("going", Terminating())}},
			[]string{
				"leave ConfigMap/a: its namespace is being deleted: once that is gone, recreate it first",
				"leave ConfigMap/a: its namespace does not exist: create that first",
			},
		},
		"a namespace comes before what is in it": {
			scene{gone: []object.Object{ConfigMap("other/a"), Namespace("other")}},
			[]string{"create Namespace/other to ", "create ConfigMap/a to "},
		},
		"an object needs its type": {
			scene{gone: []object.Object{Object("example.com/v0", "Widget", "shop/a"), Object("gone.example.com/v1", "Gadget", "shop/a")}},
			[]string{
				"leave Gadget/a: gone.example.com/v1 Gadget is no longer served",
				"leave Widget/a: example.com/v0 Widget is no longer served, only example.com/v1",
			},
		},
		"a definition comes before its instances, and they before what they own": {
			scene{
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
		"a Pod is left to a controller that is there and makes its own": {
			scene{gone: []object.Object{pod}, there: []object.Object{web, set}},
			[]string{"leave Pod/web-1-a: its controller ReplicaSet/web-1 exists and creates the Pods that it needs"},
		},
		"also to one that has the name of its own by now": {
			scene{gone: []object.Object{set, pod}, there: []object.Object{successor(set)}},
			[]string{
				"leave Pod/web-1-a: its controller ReplicaSet/web-1 exists and creates the Pods that it needs",
				"leave ReplicaSet/web-1: another object of that name exists, created 2026-11-19 08:00:00",
			},
		},
		"a Pod whose reference leads to a controller in another namespace has none": {
			scene{
				gone:  []object.Object{Pod("other/a", Owned(To(set, Controlling))), set},
				there: []object.Object{Namespace("other"), successor(set)}, made: map[types.UID]types.UID{set.UID: successor(set).UID},
			},
			[]string{"create Pod/a to : without its reference to ReplicaSet/web-1, which is in another namespace: shop"},
		},
		"an old ReplicaSet belongs again to a Deployment that is there": {
			scene{gone: []object.Object{set}, there: []object.Object{web}},
			[]string{"create ReplicaSet/web-1 to Deployment/shop/web: owned by Deployment/web, which exists"},
		},
		"what others make by themselves is left to them": {
			scene{saved: []string{
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
				"leave ServiceAccount/default: a controller creates it in every namespace; what was added to it is not restored",
			},
		},
		"what needs another comes after it, and what may refuse others comes last": {
			scene{saved: []string{
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
		"a circle of owners is closed when all of them are there": {
			scene{gone: []object.Object{
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
		"a survivor that still names an owner of then is led to it": {
			scene{gone: []object.Object{cache}, there: []object.Object{flags}},
			[]string{
				"create Widget/cache to ",
				"link ConfigMap/flags to Widget/shop/cache: owned by Widget/cache, which is recreated",
			},
		},
		"a survivor gets back what the run took from it, if the owner is there or made": {
			scene{
				gone: []object.Object{cache}, there: []object.Object{ConfigMap("shop/flags"), web},
				run: unlinked(flags, To(cache), To(web, Controlling)),
			},
			[]string{
				"create Widget/cache to ",
				"link ConfigMap/flags to Widget/shop/cache, Deployment/shop/web: owned by Widget/cache, which is recreated; owned by Deployment/web, which exists",
			},
		},
		"but not what led nowhere": {
			scene{there: []object.Object{ConfigMap("shop/flags")}, run: unlinked(flags, To(cache))},
			nil,
		},
		"nor what the run did not take": {
			scene{
				there: []object.Object{ConfigMap("shop/flags"), cache}, run: unlinked(flags, To(cache)),
				ended: []restore.Ended{{Step: "1", Object: flags.UID, Action: "unlink", Status: event.Skipped}},
			},
			nil,
		},
		"nor what a repair led to the successor of an owner": {
			scene{
				gone: []object.Object{flags}, there: []object.Object{ConfigMap("shop/flags", OwnedBy(successor(cache))), successor(cache)},
				run: relinked(flags, To(cache), To(successor(cache))),
			},
			nil,
		},
		"unless that is wanted as it was": {
			scene{
				gone: []object.Object{flags}, there: []object.Object{ConfigMap("shop/flags", OwnedBy(successor(cache))), successor(cache)},
				run: relinked(flags, To(cache), To(successor(cache))), options: restore.Options{Exact: true},
			},
			[]string{"link ConfigMap/flags to Widget/shop/cache: with its reference to Widget/cache, which was replaced: it has another UID now (the garbage collector will delete the object because of it)"},
		},
		"a reference that somebody changed after a repair stays as it is": {
			scene{
				gone: []object.Object{flags}, there: []object.Object{ConfigMap("shop/flags", OwnedBy(web)), web},
				run: relinked(flags, To(cache), To(successor(cache))), options: restore.Options{Exact: true},
			},
			nil,
		},
		"nor a second controller": {
			scene{
				gone: []object.Object{cache}, there: []object.Object{ConfigMap("shop/flags", Owned(To(web, Controlling))), web},
				run: unlinked(flags, To(cache, Controlling)),
			},
			[]string{"create Widget/cache to "},
		},
		"an object that an earlier restoration made is linked, and not made again": {
			scene{
				gone: []object.Object{web, set}, there: []object.Object{successor(web), successor(set)},
				made: map[types.UID]types.UID{web.UID: web.UID + "-2", set.UID: set.UID + "-2"},
			},
			[]string{"link ReplicaSet/web-1 to Deployment/shop/web-2: owned by Deployment/web, which was recreated before"},
		},
		"a finished restoration finds nothing to do": {
			scene{
				gone: []object.Object{cache, flags}, there: []object.Object{successor(cache), func() object.Object {
					o := successor(flags)
					o.Owners = []object.Reference{To(successor(cache))}
					return o
				}()},
				made: map[types.UID]types.UID{cache.UID: cache.UID + "-2", flags.UID: flags.UID + "-2"},
			},
			nil,
		},
		"a note of what was made counts only for what lives in its place": {
			scene{
				gone: []object.Object{cache, flags}, there: []object.Object{Secret("shop/other"), successor(cache)},
				made: map[types.UID]types.UID{cache.UID: "Secret/shop/other", flags.UID: "no such UID"},
			},
			[]string{
				"create ConfigMap/flags to Widget/shop/cache-2: owned by Widget/cache, which is a newer object of that name",
				"leave Widget/cache: another object of that name exists, created 2026-11-19 08:00:00",
			},
		},
		"only what was asked for is made": {
			scene{
				gone: []object.Object{cache, flags}, there: []object.Object{ConfigMap("shop/survivor", OwnedBy(cache))},
				options: restore.Options{Only: func(o object.Identity) bool { return o.Kind == "ConfigMap" }},
			},
			[]string{"create ConfigMap/flags to : without its reference to Widget/cache, which does not exist"},
		},
		"and gets back what survived": {
			scene{
				gone: []object.Object{cache, flags}, there: []object.Object{ConfigMap("shop/survivor"), web},
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
			if diff := cmp.Diff(test.want, told(planned(t, test.scene).Plan)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhatIsDamagedIsLeftAloneAndSaid(t *testing.T) {
	b := scene{gone: []object.Object{ConfigMap("shop/a"), ConfigMap("shop/b")}}.backup(t)
	b.Saved[0].Object.UID = "another"
	want := []string{"create ConfigMap/b to ", "leave ConfigMap/a: its manifest cannot be read: it is damaged"}
	if diff := cmp.Diff(want, told(restore.New(b, scene{}.look(), restore.Options{}).Plan)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheDigestIsOfWhatIsMade(t *testing.T) {
	s := scene{gone: []object.Object{ConfigMap("shop/a")}}
	one, two := s.backup(t), s.backup(t)
	two.Saved[0].SHA256 = "another"
	if restore.New(one, s.look(), s.options).Plan.Digest == restore.New(two, s.look(), s.options).Plan.Digest {
		t.Error("another manifest has the same digest")
	}
}
