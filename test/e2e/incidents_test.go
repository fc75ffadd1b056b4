package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Each of these tests reproduces an incident that users reported, and is named after the thread. Those of collect check
// what collect does where the real collector failed.

// requireFindings requires exactly these findings about the objects of a namespace, in their
// brief form.
func (s *scene) requireFindings(r report, namespace string, want ...string) {
	s.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, r.briefIn(namespace)); diff != "" {
		s.Errorf("findings in %s (-want +got)\n%s", namespace, diff)
	}
}

// TestIncidents audits the scenes of all incidents at once. Each is named after its thread.
func TestIncidents(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	cases := map[string]struct {
		make     func(ns string) object // returns an object with findings
		findings []string               // all of its namespace
		message  []string               // words of one of them, about the object
		fix      string                 // of the same one
	}{
		// The incident that this project began with, on Kubernetes 1.13: a StatefulSet in namespace monitoring names a
		// custom resource in kube-system as its owner. When the controller manager restarted, the collector deleted it,
		// and valid StatefulSets with it.
		"redis-exporter and its owner in kube-system": {
			func(ns string) object {
				cluster := s.create(widget("kube-system", "redis-0826"))
				s.create(workload("StatefulSet", "kube-system", "redis", ownedBy(referenceTo(cluster, controlling, blocking))))
				return s.create(workload("StatefulSet", ns, "redis-exporter", ownedBy(referenceTo(cluster, controlling, blocking))))
			},
			[]string{"error cross-namespace-owner: StatefulSet/redis-exporter: delete"},
			[]string{"kube-system", "Widget/redis-0826", "will delete this object"},
			"unlink",
		},
		// A Secret was copied with its ownerReference into another namespace.
		"elastic/cloud-on-k8s#3986": {
			func(ns string) object {
				elastic := s.create(widget(s.namespace("elastic"), "elasticsearch"))
				copied := s.create(secret(ns, "es-ca", ownedBy(referenceTo(elastic, controlling, blocking))))
				s.create(claimOf(ns, "data-0", ownedBy(referenceTo(copied))))
				return copied
			},
			[]string{"error cross-namespace-owner: Secret/es-ca: delete"},
			nil, "unlink",
		},
		// The owner's name was wrong and its UID right: a storage cluster was deleted.
		"rook#3530": {
			func(ns string) object {
				operator := s.create(workload("Deployment", ns, "rook-ceph-operator"))
				return s.create(workload("DaemonSet", ns, "rook-discover", ownedBy(referenceTo(operator, named("rook-operator")))))
			},
			[]string{"error mismatched-owner: DaemonSet/rook-discover: delete"},
			[]string{"rook-operator", "rook-ceph-operator"},
			"unlink",
		},
		// References had the UID of one object with the kind and name of another: clusters were deleted.
		"crossplane#895": {
			func(ns string) object {
				claim, instance := s.create(widget(ns, "cluster-claim")), s.create(gadget("cluster-instance"))
				return s.create(secret(ns, "connection", ownedBy(referenceTo(claim, func(r *metav1.OwnerReference) { r.UID = instance.GetUID() }))))
			},
			[]string{"error mismatched-owner: Secret/connection: delete"},
			[]string{"Widget/cluster-claim", "Gadget/cluster-instance"},
			"unlink",
		},
		// A restored backup had owner references with the UIDs of the former owners.
		"velero#10556": {
			func(ns string) object {
				before := s.create(workload("Deployment", ns, "web"))
				s.replace(before)
				return s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(before, controlling, blocking))))
			},
			[]string{"error replaced-owner: ReplicaSet/web-1: delete"},
			[]string{"Deployment/web"},
			"relink",
		},
		// The same, but the owner was not restored at all.
		"velero#4707": {
			func(ns string) object {
				return s.create(workload("ReplicaSet", ns, "web-1", ownedBy(reference("apps/v1", "Deployment", "web", "former", controlling, blocking))))
			},
			[]string{"error missing-owner: ReplicaSet/web-1: delete"},
			nil, "unlink",
		},
		// The owner's apiVersion is no longer served: dependents are kept for ever.
		"kubernetes#102641": {
			func(ns string) object {
				owner := s.create(widget(ns, "owner"))
				return s.create(configMap(ns, "leaked", ownedBy(referenceTo(owner, versioned(customGroup+"/v1alpha1")), reference("v1", "Secret", "gone", "gone"))))
			},
			[]string{"error missing-owner: ConfigMap/leaked: stuck", "error unserved-owner-version: ConfigMap/leaked: stuck"},
			[]string{customGroup + "/v1,"},
			"update-version",
		},
		// The same with a built-in kind that has moved to another group.
		"kubernetes#96650": {
			func(ns string) object {
				owner := s.create(workload("Deployment", ns, "web"))
				return s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(owner, versioned("extensions/v1beta1")))))
			},
			[]string{"error unserved-owner-version: ReplicaSet/web-1: stuck"},
			[]string{"extensions/v1beta1", "apps/v1"},
			"update-version",
		},
		// A cluster-scoped object with an owner of a namespaced kind: never collected since 1.20.
		"kubernetes/website#29480": {
			func(ns string) object {
				return s.create(clusterRole("e2e-owned", ownedBy(referenceTo(s.create(configMap(ns, "owner"))))))
			},
			[]string{"error cluster-to-namespaced-owner: ClusterRole/e2e-owned: stuck"},
			[]string{"ConfigMap/owner"},
			"unlink",
		},
		// Two objects owned each other, and both were deleted in the foreground.
		"openeverest/openeverest-operator#418": {
			func(ns string) object {
				backup := s.create(widget(ns, "backup"))
				restore := s.create(widget(ns, "restore", ownedBy(referenceTo(backup, blocking))))
				s.setOwners(backup, referenceTo(restore, blocking))
				s.remove(backup, metav1.DeletePropagationForeground)
				s.remove(restore, metav1.DeletePropagationForeground)
				return backup
			},
			[]string{
				"info terminating-owner: Widget/backup: none", "error owner-cycle: Widget/backup: stuck", "error blocked-deletion: Widget/backup: stuck",
				"info terminating-owner: Widget/restore: none", "error blocked-deletion: Widget/restore: stuck",
			},
			[]string{"never completes"},
			"unlink",
		},
	}
	objects, spaces := map[string]object{}, map[string]string{}
	for name, c := range cases {
		spaces[name] = s.namespace("incident")
		objects[name] = c.make(spaces[name])
	}
	got := s.tool().audit()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			space := spaces[name]
			if objects[name].GetNamespace() == "" {
				space = ""
			}
			s.requireFindings(got, space, c.findings...)
			described := slices.ContainsFunc(got.Findings, func(f finding) bool {
				lacks := func(words string) bool { return !strings.Contains(f.Message, words) }
				return f.Object.UID == string(objects[name].GetUID()) && f.Fix == c.fix && !slices.ContainsFunc(c.message, lacks)
			})
			if !described {
				t.Errorf("no finding about %s %s has the fix %s and says %q: %+v", objects[name].GetKind(), objects[name].GetName(), c.fix, c.message, got.Findings)
			}
		})
	}
	s.requireFindings(got, "kube-system") // what is owned there is valid
}

// The collector took a 404 of a server that did not know the path as proof that the owner did not exist; and an API
// server answered so that had not yet installed its handlers.
func TestIncident_kubernetes_104342(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("starting")
	owner := s.create(widget(ns, "owner"))
	s.create(configMap(ns, "owned", ownedBy(referenceTo(owner))))
	s.create(configMap(ns, "of-another", ownedBy(referenceTo(owner, named("another")))))
	other, owned := "warning unverified-owner: ConfigMap/of-another: unknown", "warning unverified-owner: ConfigMap/owned: unknown"
	starting := respondStatus(404, "NotFound", "the server could not find the requested resource")
	for name, c := range map[string]struct {
		fault fault
		want  []string
	}{
		"an unknown path, and all paths of the type":     {fault{either(listOf("widgets"), getOf("widgets")), respondUnknownPath}, []string{other, owned}},
		"an unknown path, and paths of single objects":   {fault{getOf("widgets"), respondUnknownPath}, []string{other}},
		"a starting server, and all paths of the type":   {fault{either(listOf("widgets"), getOf("widgets")), starting}, []string{other, owned}},
		"a starting server, and paths of single objects": {fault{getOf("widgets"), starting}, []string{other}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			s.requireFindings(s.throughProxy(func(http.Handler) []fault { return []fault{c.fault} }).auditIncomplete([]string{"widgets"}), ns, c.want...)
		})
	}
}

// Until 1.32, one CRD with a dead conversion webhook stopped all collection (#110720 and #127105
// as well). Since then, the collector only cannot see objects of that type.
func TestIncident_kubernetes_101078(t *testing.T) {
	const group = "incident.example.com"
	s := newScene(t)
	ns := s.namespace("conversion")
	s.brokenConversionWebhook(group, "Ruin")
	ruin := s.create(newObject(group+"/v1", "Ruin", ns, "ruin"))
	s.create(configMap(ns, "of-a-ruin", ownedBy(referenceTo(ruin))))
	s.create(configMap(ns, "of-no-ruin", ownedBy(referenceTo(ruin, named("gone")))))
	s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	got := s.tool().auditIncomplete([]string{"ruins." + group, "conversion-webhook"})
	s.requireGaps(got, gap{Group: group, Resource: "ruins", Reason: "conversion-webhook"})
	s.requireFindings(got, ns,
		"warning unverified-owner: ConfigMap/of-a-ruin: unknown",
		"warning unverified-owner: ConfigMap/of-no-ruin: unknown",
		"error missing-owner: ConfigMap/orphan: delete")
}

// An aggregated API was unavailable (#119662 as well).
func TestIncident_kubernetes_60807(t *testing.T) {
	const group = "metrics.example.com"
	s := newScene(t)
	ns := s.namespace("aggregated")
	s.create(configMap(ns, "cached", ownedBy(reference(group+"/v1", "NodeMetrics", "node", "node"))))
	s.requireFindings(s.tool().audit("-n", ns), ns, "error unknown-owner-kind: ConfigMap/cached: stuck")
	s.brokenAPIService(group)
	got := s.tool().auditIncomplete([]string{"v1." + group}, "-n", ns)
	s.requireFindings(got, ns, "warning unverified-owner: ConfigMap/cached: unknown")
	s.requireGaps(got, gap{Group: group, Resource: "*", Reason: "unavailable"})
}

// A deletion that cannot complete: the object waits for a finalizer whose controller is gone.
func TestIncident_stuck_finalizer(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("stuck")
	held := s.create(configMap(ns, "held", heldBy("example.com/gone")))
	s.create(secret(ns, "below", ownedBy(referenceTo(held))))
	s.remove(held, metav1.DeletePropagationBackground)
	s.requireFindings(s.tool().audit("-n", ns), ns)
	var got report
	s.awaitReport(&got, "the deletion to be old enough", []string{"-n", ns, "--stuck-after=1s"}, func(r report) bool { return len(r.Findings) > 0 })
	s.requireFindings(got, ns, "warning stuck-finalizer: ConfigMap/held: none")
	if !strings.Contains(got.Findings[0].Message, "example.com/gone") {
		t.Errorf("the message is %s", got.Findings[0].Message)
	}
}

// The output of an existing checker led to this report: it exits with 0 whatever it finds, and
// ignores -n.
func TestIncident_kubectl_check_ownerreferences(t *testing.T) {
	s := newScene(t)
	clean, dirty := s.namespace("clean"), s.namespace("dirty")
	s.create(configMap(clean, "owned", ownedBy(referenceTo(s.create(secret(clean, "owner"))))))
	s.create(configMap(dirty, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	s.gc("audit", "-n", clean).exits(t, 0)
	s.gc("audit", "-n", dirty).exits(t, 1)
	s.gc("audit", "-n", dirty, "--fail-on=never").exits(t, 0)
	r := s.gc("audit", "-n", clean, "-o", "json").exits(t, 0)
	if got := decode[report](t, r); got.Summary != (summary{Objects: 2, References: 1}) {
		t.Errorf("the summary says %+v", got.Summary)
	}
}

// The collector lost track of a foreground deletion: no dependent blocks it, and the foreground
// finalizer stays.
func TestCollectIncident_kubernetes_115570(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lost")
	owner := s.create(workload("Deployment", ns, "web"))
	s.remove(owner, metav1.DeletePropagationForeground)
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "remove-finalizer", "Deployment/web", "nothing blocks its foreground deletion anymore")
	s.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "removed 1 finalizer", "nothing left")
	s.requireGone(owner)
}

// The same, after a second foreground deletion while another finalizer still held the object.
func TestCollectIncident_kubernetes_77081(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("twice")
	held := s.create(pod(ns, "held", heldBy("example.com/hold")))
	for range 2 {
		s.remove(held, metav1.DeletePropagationForeground)
		// The object waits for the other finalizer, and the output says so.
		s.gc("collect", "-n", ns, "--yes").exits(t, 1).shows(t, "removed 1 finalizer", "1 blocked: Pod/held")
		live, err := s.client(held).Get(t.Context(), "held", metav1.GetOptions{})
		s.must(err)
		if got := live.GetFinalizers(); len(got) != 1 || got[0] != "example.com/hold" {
			t.Errorf("it is held by %q", got)
		}
	}
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.requireGone(held)
}

// A DaemonSet was deleted while its references were being changed.
func TestCollectIncident_kubernetes_114603(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("adopted")
	former := reference("apps/v1", "Deployment", "former", "former")
	daemons := s.create(workload("DaemonSet", ns, "agent", ownedBy(former)))
	adopter := s.create(workload("Deployment", ns, "adopter"))
	f := s.proxyCalling(deleting(single("daemonsets", "agent")), func() { s.setOwners(daemons, referenceTo(adopter)) })
	f.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "skipped", "DaemonSet/agent", "it changed: its owner Deployment/adopter exists", "nothing was changed")
	if s.gone(daemons) {
		t.Error("it was deleted")
	}
}

// The thread asks that changes which do not matter must not make the collector retry for ever.
func TestCollectIncident_kubernetes_114828(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("busy")
	owner := s.create(secret(ns, "owner"))
	doomed, shared := s.create(widget(ns, "busy", ownedBy(missingOwner()))), s.create(configMap(ns, "busy", ownedBy(referenceTo(owner), missingOwner())))
	held := s.create(configMap(ns, "busy-too", heldBy("example.com/hold")))
	s.remove(held, metav1.DeletePropagationForeground)
	f := s.throughProxy(func(through http.Handler) []fault {
		// Each object changes before each of the first ten writes.
		changing := func(plural string, o object) fault {
			beat := 0
			return fault{firstTimes(10, writing(single(plural, o.GetName()))), beforeResponse(through, func() {
				beat++
				s.patch(o, fmt.Sprintf(`{"metadata":{"labels":{"beat":"%d"}}}`, beat))
			})}
		}
		return []fault{changing("widgets", doomed), changing("configmaps", shared), changing("configmaps", held)}
	}).allowWrites()
	got := f.collect("-n", ns)
	if got.Summary.Done != 3 || got.Summary.Left > 0 {
		t.Errorf("%+v: %+v", got.Summary, got.Steps)
	}
	s.requireGone(doomed)
}

// The collector took a 404 from a wrong endpoint as proof that the owner, and the object itself,
// did not exist.
func TestCollectIncident_openshift_origin_14646(t *testing.T) {
	s := newScene(t)
	for name, wrong := range map[string]fault{
		"404 for the owner":  {reading(getOf("secrets")), respondUnknownPath},
		"404 for the object": {deleting(getOf("configmaps")), respondUnknownPath},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			ns := s.namespace("endpoint")
			orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			below := s.create(configMap(ns, "below", ownedBy(referenceTo(orphan))))
			f := s.throughProxy(func(http.Handler) []fault { return []fault{wrong} }).allowWrites()
			r := f.gc("collect", "-n", ns, "--yes").exits(t, 1)
			r.lacks(t, "deleted 1", "already gone")
			s.requireUnchanged(orphan, below)
		})
	}
}

// Without a controller manager (envtest, kcp#191), a deletion leaves all dependents behind.
// collect then does the collector's work.
func TestCollectIncident_controller_runtime_1459(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bare")
	deployment, replicaSet, pod1, _, _ := s.createShop(ns)
	s.remove(deployment, metav1.DeletePropagationBackground)
	if s.gone(replicaSet) {
		t.Fatal("there is a collector")
	}
	got := s.tool().collect("-n", ns)
	if got.Summary.Failed+got.Summary.Blocked+got.Summary.Left > 0 {
		t.Errorf("%+v", got.Summary)
	}
	s.requireGone(replicaSet, pod1)
	// In a foreground deletion, the owner is deleted last.
	deployment, replicaSet, pod1, _, _ = s.createShop(ns)
	s.remove(deployment, metav1.DeletePropagationForeground)
	s.tool().collect("-n", ns)
	s.requireGone(deployment, replicaSet, pod1)
	if more := s.tool().plan("-n", ns); len(more.Steps) > 0 {
		t.Errorf("left: %v", more.stepLines())
	}
}

// A restored backup had owner references with the UIDs of the former owners. A dry run suggests
// the current owner of that name, and deletes nothing.
func TestCollectIncident_velero_10556(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("restored")
	before := s.create(workload("Deployment", ns, "web"))
	after := s.replace(before)
	rs := s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(before, controlling, blocking))))
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).
		shows(t, "ReplicaSet/web-1", "its only owner, Deployment/web, was replaced by a new object with the same name")
	s.requireUnchanged(rs, after)
	// If that rule is excluded, no object is deleted.
	s.requirePlan([]string{}, "-n", ns, "--rule", "missing-owner,mismatched-owner,cross-namespace-owner")
}

// collectUntilGone runs the real collector until it has deleted doomed, which no repair could
// keep, and has processed everything else.
func (s *scene) collectUntilGone(namespace string, doomed object) {
	s.Helper()
	s.switchCollector(testcluster.On)
	s.Cleanup(func() { s.switchCollector(testcluster.Absent) })
	s.await("the collector to delete it", func(context.Context) (bool, error) { return s.gone(doomed), nil })
	s.awaitSentinel(namespace)
}

// requireReferences requires that an object exists and has exactly these references.
func (s *scene) requireReferences(o object, want ...metav1.OwnerReference) {
	s.Helper()
	live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	switch {
	case err != nil:
		s.Errorf("%s/%s: %v", o.GetKind(), o.GetName(), err)
	case live.GetUID() != o.GetUID():
		s.Errorf("%s/%s was replaced", o.GetKind(), o.GetName())
	default:
		if diff := cmp.Diff(want, live.GetOwnerReferences()); diff != "" && len(want)+len(live.GetOwnerReferences()) > 0 {
			s.Errorf("references of %s/%s (-want +got):\n%s", o.GetKind(), o.GetName(), diff)
		}
	}
}

// withFormerUID returns a reference as it was before its owner was created again with another
// UID.
func withFormerUID(r metav1.OwnerReference) metav1.OwnerReference {
	r.UID = "former-" + types.UID(r.Name)
	return r
}

// A restored backup had references with the UIDs of the former owners, and the collector deleted
// all objects at once.
func TestRepairIncident_velero_10556(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	ns := s.namespace("velero")
	labels := map[string]any{"app": "web", "pod-template-hash": "abc"}
	deployment := s.create(workload("Deployment", ns, "web"))
	toDeployment := referenceTo(deployment, controlling, blocking)
	replicaSet := s.create(workload("ReplicaSet", ns, "web-abc", ownedBy(withFormerUID(toDeployment)), labelled("app", "web"), func(o object) {
		spec := o.Object["spec"].(map[string]any)
		spec["selector"] = map[string]any{"matchLabels": labels}
		spec["template"] = template("web")
		spec["template"].(map[string]any)["metadata"] = map[string]any{"labels": labels}
	}))
	toReplicaSet := referenceTo(replicaSet, controlling, blocking)
	hashed := func(o object) { o.SetLabels(map[string]string{"app": "web", "pod-template-hash": "abc"}) }
	pods := []object{
		s.create(pod(ns, "web-abc-1", ownedBy(withFormerUID(toReplicaSet)), hashed)),
		s.create(pod(ns, "web-abc-2", ownedBy(withFormerUID(toReplicaSet)), hashed)),
	}
	custom := s.create(widget(ns, "monitor", ownedBy(withFormerUID(referenceTo(deployment)))))
	config := s.create(configMap(ns, "config", ownedBy(withFormerUID(referenceTo(deployment)), withFormerUID(referenceTo(custom, blocking)))))
	password := s.create(secret(ns, "password", ownedBy(withFormerUID(referenceTo(custom)))))
	doomed := s.create(configMap(ns, "unrepaired", ownedBy(missingOwner())))

	s.gc("repair", "-n", ns, "--rule", "replaced-owner", "--dry-run").exits(t, 0).
		shows(t, "relink", "Secret/password", "Widget/monitor was replaced by a new one: the reference gets its UID (otherwise the garbage collector deletes it)", "relink 6 in namespace ", "Complete scan.")
	backups := t.TempDir()
	s.gc("repair", "-n", ns, "--rule", "replaced-owner", "--yes", "--backup-dir", backups).exits(t, 0).
		shows(t, "relinked 6 in ", "a scan afterwards found nothing left to do", "Undo: kubectl gc restore "+backups)
	s.collectUntilGone(ns, doomed)

	s.requireReferences(deployment)
	s.requireReferences(replicaSet, toDeployment)
	for _, p := range pods {
		s.requireReferences(p, toReplicaSet)
	}
	s.requireReferences(custom, referenceTo(deployment))
	s.requireReferences(config, referenceTo(deployment), referenceTo(custom, blocking))
	s.requireReferences(password, referenceTo(custom))
	s.gc("audit", "-n", ns, "--fail-on=warning").exits(t, 0)
}

// A controller created a StatefulSet in monitoring whose owner is in kube-system: the incident
// that this project began with.
func TestRepairIncident_redis_exporter(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	home, monitoring := s.namespace("kube"), s.namespace("monitoring")
	redis := s.create(widget(home, "redis-0826"))
	valid := s.create(configMap(home, "redis-config", ownedBy(referenceTo(redis))))
	exporter := s.create(workload("StatefulSet", monitoring, "redis-exporter", ownedBy(referenceTo(redis, controlling, blocking)), func(o object) {
		o.Object["spec"].(map[string]any)["replicas"] = int64(0)
	}))
	doomed := s.create(configMap(monitoring, "unrepaired", ownedBy(missingOwner())))
	below := s.create(configMap(monitoring, "dashboards", ownedBy(referenceTo(exporter))))

	s.gc("repair", "statefulset/redis-exporter", "-n", monitoring, "--yes", "--backup-dir", t.TempDir()).exits(t, 0).
		shows(t, "unlink", "Widget/redis-0826 is in another namespace ("+home+"), which does not count; the object then has no owner and stays (otherwise the garbage collector deletes it)", "unlinked 1 in ")
	s.collectUntilGone(monitoring, doomed)

	s.requireReferences(exporter)
	s.requireReferences(below, referenceTo(exporter))
	s.requireReferences(valid, referenceTo(redis))
}
