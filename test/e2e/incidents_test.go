package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each of these tests reproduces an incident that users reported, and is named after the thread.

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

// requireMessage requires words in the message of the first finding about an object.
func (r report) requireMessage(t testing.TB, o object, words ...string) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Object.UID != string(o.GetUID()) {
			continue
		}
		for _, w := range words {
			if !strings.Contains(f.Message, w) {
				t.Errorf("the message about %s lacks %q: %s", f.Object, w, f.Message)
			}
		}
		return
	}
	t.Errorf("there is no finding about %s %s", o.GetKind(), o.GetName())
}

// The incident that this project began with, on Kubernetes 1.13: a StatefulSet in namespace
// monitoring names a custom resource in kube-system as its owner. When the controller manager
// restarted, the collector deleted it, and valid StatefulSets with it.
func TestIncident_redis_exporter_and_its_owner_in_kube_system(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	monitoring := s.namespace("monitoring")
	cluster := s.create(widget("kube-system", "redis-0826"))
	exporter := s.create(workload("StatefulSet", monitoring, "redis-exporter", ownedBy(referenceTo(cluster, controlling, blocking))))
	s.create(workload("StatefulSet", "kube-system", "redis", ownedBy(referenceTo(cluster, controlling, blocking))))
	got := s.tool().audit("--cross-namespace")
	s.requireFindings(got, monitoring, "error cross-namespace-owner: StatefulSet/redis-exporter: delete")
	s.requireFindings(got, "kube-system")
	got.requireMessage(t, exporter, "kube-system", "Widget/redis-0826", "will delete this object")
	s.gc("audit", "-n", monitoring).exits(t, 1).shows(t, "StatefulSet/redis-exporter", "kube-system", "deletes object")
}

// A Secret was copied with its ownerReference into another namespace.
func TestIncident_elastic_cloud_on_k8s_3986(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	from, into := s.namespace("elastic"), s.namespace("copied")
	elastic := s.create(widget(from, "elasticsearch"))
	s.create(secret(from, "es-ca", ownedBy(referenceTo(elastic, controlling, blocking))))
	copied := s.create(secret(into, "es-ca", ownedBy(referenceTo(elastic, controlling, blocking))))
	s.create(newObject("v1", "PersistentVolumeClaim", into, "data-0", ownedBy(referenceTo(copied)), withField("spec", map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	})))
	got := s.tool().audit()
	s.requireFindings(got, from)
	s.requireFindings(got, into, "error cross-namespace-owner: Secret/es-ca: delete")
	// These objects would be deleted with it.
	if diff := cmp.Diff([]string{"PersistentVolumeClaim/data-0", "Secret/es-ca"}, slices.DeleteFunc(fullLines(drawn(t,
		s.gc("tree", "secret/es-ca", "-n", into, "--dependents").exits(t, 0))), func(n string) bool { return strings.HasPrefix(n, "Widget/") })); diff != "" {
		t.Errorf("below the Secret (-want +got)\n%s", diff)
	}
}

// The owner's name was wrong and its UID right: a storage cluster was deleted.
func TestIncident_rook_3530(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("rook-ceph")
	operator := s.create(workload("Deployment", ns, "rook-ceph-operator"))
	daemons := s.create(workload("DaemonSet", ns, "rook-discover", ownedBy(referenceTo(operator, named("rook-operator")))))
	got := s.tool().audit("-n", ns)
	s.requireFindings(got, ns, "error mismatched-owner: DaemonSet/rook-discover: delete")
	got.requireMessage(t, daemons, "rook-operator", "rook-ceph-operator")
}

// References had the UID of one object with the kind and name of another: clusters were deleted.
func TestIncident_crossplane_895(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("crossplane")
	claim := s.create(widget(ns, "cluster-claim"))
	instance := s.create(gadget("cluster-instance"))
	conn := s.create(secret(ns, "connection", ownedBy(referenceTo(claim, func(r *metav1.OwnerReference) { r.UID = instance.GetUID() }))))
	got := s.tool().audit("-n", ns)
	s.requireFindings(got, ns, "error mismatched-owner: Secret/connection: delete")
	got.requireMessage(t, conn, "Widget/cluster-claim", "Gadget/cluster-instance")
}

// A restored backup had owner references with the UIDs of the former owners.
func TestIncident_velero_10556(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("restored")
	before := s.create(workload("Deployment", ns, "web"))
	after := s.replace(before)
	rs := s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(before, controlling, blocking))))
	got := s.tool().audit("-n", ns)
	s.requireFindings(got, ns, "error replaced-owner: ReplicaSet/web-1: delete")
	got.requireMessage(t, rs, string(before.GetUID()), string(after.GetUID()))
	if fix := got.Findings[0].Fix; fix != "relink" {
		t.Errorf("the fix is %s", fix)
	}
}

// The same, but the owner was not restored at all.
func TestIncident_velero_4707(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("restored")
	former := s.create(workload("Deployment", ns, "web"))
	s.remove(former, metav1.DeletePropagationBackground)
	s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(former, controlling, blocking))))
	s.requireFindings(s.tool().audit("-n", ns), ns, "error missing-owner: ReplicaSet/web-1: delete")
}

// The collector took a 404 of a server that did not know the path as proof that the owner did not
// exist.
func TestIncident_openshift_origin_14646(t *testing.T) {
	testMisleading404(t, respondUnknownPath)
}

// The same, from an API server that had not yet installed its handlers.
func TestIncident_kubernetes_104342(t *testing.T) {
	testMisleading404(t, respondStatus(404, "NotFound", "the server could not find the requested resource"))
}

func testMisleading404(t *testing.T, answer http.HandlerFunc) {
	t.Helper()
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("starting")
	owner := s.create(widget(ns, "owner"))
	s.create(configMap(ns, "owned", ownedBy(referenceTo(owner))))
	s.create(configMap(ns, "of-another", ownedBy(referenceTo(owner, named("another")))))
	about := func(r *http.Request) bool { return listOf("widgets")(r) || getOf("widgets")(r) }
	for name, c := range map[string]struct {
		about func(*http.Request) bool
		want  []string
	}{
		"all paths of the type": {about, []string{
			"warning unverified-owner: ConfigMap/of-another: unknown",
			"warning unverified-owner: ConfigMap/owned: unknown",
		}},
		"paths of single objects": {getOf("widgets"), []string{"warning unverified-owner: ConfigMap/of-another: unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			s.requireFindings(s.throughProxy(func(http.Handler) []fault { return []fault{{c.about, answer}} }).auditIncomplete([]string{"widgets"}), ns, c.want...)
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
	s.create(configMap(ns, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	s.requireFindings(s.tool().auditIncomplete([]string{"ruins." + group}), ns,
		"warning unverified-owner: ConfigMap/of-a-ruin: unknown",
		"error missing-owner: ConfigMap/orphan: delete")
}

// An aggregated API was unavailable (#119662 as well).
func TestIncident_kubernetes_60807(t *testing.T) {
	const group = "metrics.example.com"
	s := newScene(t)
	ns := s.namespace("aggregated")
	s.create(configMap(ns, "cached", ownedBy(reference(group+"/v1", "NodeMetrics", "node", "node"))))
	s.brokenAPIService(group)
	got := s.tool().auditIncomplete([]string{"v1." + group}, "-n", ns)
	s.requireFindings(got, ns, "warning unverified-owner: ConfigMap/cached: unknown")
	s.requireGaps(got, gap{Group: group, Resource: "*", Reason: "unavailable"})
}

// The owner's apiVersion is no longer served: dependents are kept for ever.
func TestIncident_kubernetes_102641(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("upgraded")
	owner := s.create(widget(ns, "owner"))
	s.create(configMap(ns, "leaked", ownedBy(referenceTo(owner, versioned(customGroup+"/v1alpha1")), reference("v1", "Secret", "gone", "gone"))))
	got := s.tool().audit("-n", ns)
	s.requireFindings(got, ns,
		"error missing-owner: ConfigMap/leaked: stuck",
		"error unserved-owner-version: ConfigMap/leaked: stuck")
	if f := got.Findings[1]; f.Fix != "update-version" || f.Verdict != "unresolvable" || !strings.Contains(f.Message, customGroup+"/v1,") {
		t.Errorf("%s (%s): %s", f, f.Fix, f.Message)
	}
}

// The same with a built-in kind that has moved to another group.
func TestIncident_kubernetes_96650(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("upgraded")
	owner := s.create(workload("Deployment", ns, "web"))
	rs := s.create(workload("ReplicaSet", ns, "web-1", ownedBy(referenceTo(owner, versioned("extensions/v1beta1")))))
	got := s.tool().audit("-n", ns)
	s.requireFindings(got, ns, "error unserved-owner-version: ReplicaSet/web-1: stuck")
	got.requireMessage(t, rs, "extensions/v1beta1", "apps/v1")
}

// A cluster-scoped object with an owner of a namespaced kind: never collected
// since 1.20.
func TestIncident_kubernetes_website_29480(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("owner")
	owner := s.create(configMap(ns, "owner"))
	dep := s.create(clusterRole("e2e-owned", ownedBy(referenceTo(owner))))
	got := s.tool().audit("--cross-namespace")
	s.requireFindings(got, "", "error cluster-to-namespaced-owner: ClusterRole/e2e-owned: stuck")
	if f := got.Findings[0]; f.Verdict != "scope-error" {
		t.Errorf("the verdict is %s", f.Verdict)
	}
	got.requireMessage(t, dep, "ConfigMap/owner", ns)
}

// Two objects owned each other, and both were deleted in the foreground.
func TestIncident_openeverest_operator_418(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("everest")
	backup, restore := s.create(widget(ns, "backup")), s.create(widget(ns, "restore"))
	s.setOwners(backup, referenceTo(restore, blocking))
	s.setOwners(restore, referenceTo(backup, blocking))
	s.requireFindings(s.tool().audit("-n", ns), ns, "error owner-cycle: Widget/backup: stuck")
	s.remove(backup, metav1.DeletePropagationForeground)
	s.remove(restore, metav1.DeletePropagationForeground)
	got := s.tool().audit("-n", ns, "--cyclic")
	s.requireFindings(got, ns, "error owner-cycle: Widget/backup: stuck")
	got.requireMessage(t, backup, "never completes")
	if len(got.Findings[0].Members) != 2 {
		t.Errorf("members %v", got.Findings[0].Members)
	}
	s.gc("tree", "-n", ns).exits(t, 0).shows(t, "cycle", "terminating", "foreground")
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
	got.requireMessage(t, held, "example.com/gone")
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
