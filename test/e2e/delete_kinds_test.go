package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

var policies = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}

// TestDeleteEndsAsPredicted compares the preview of a deletion with its result under the
// real collector and all other controllers.
func TestDeleteEndsAsPredicted(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	crds := map[string]object{}
	for i := range policies { // before the collector starts, which discovers new types only every 30 seconds
		crd := definition(fmt.Sprintf("policy%d.example.com", i), "Thing", "Namespaced", version("v1", true))
		s.define(crd)
		crds[string(policies[i])] = crd
	}
	s.switchCollector(testcluster.On)
	defer s.switchCollector(testcluster.Absent)

	var all []*deletion
	add := func(name string, policy metav1.DeletionPropagation, make func(s *scene, ns string, d *deletion)) {
		d := &deletion{name: fmt.Sprintf("%s, %s", name, policy), policy: []metav1.DeletionPropagation{policy}}
		ns := s.namespace("delete")
		d.namespaces = append(d.namespaces, ns)
		make(s, ns, d)
		all = append(all, d)
	}
	for _, policy := range policies {
		for name, make := range policyTargets {
			add(name, policy, make)
		}
		add("a CustomResourceDefinition with three objects and what these own", policy, func(s *scene, ns string, d *deletion) {
			s.createCustomOwners(ns, crds[string(policy)], d)
		})
	}
	for name, c := range fixedPolicyTargets {
		add(name, c.policy, c.make)
	}
	sentinels := s.namespace("sentinels")
	awaitControllers(s, all)

	scanned := s.scan(scan.Scope{Running: true})
	for _, d := range all {
		d.preview(scanned)
	}
	for _, d := range all {
		d.begin(s)
	}
	reportDeletions(t, all, awaitPredicted(s, sentinels, all))
}

// retaining returns a StatefulSet with a claim for each of its two Pods.
func retaining(ns, whenDeleted string) object {
	set := workload("StatefulSet", ns, "set")
	spec := set.Object["spec"].(map[string]any)
	spec["serviceName"] = "none"
	spec["podManagementPolicy"] = "Parallel"
	spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": whenDeleted, "whenScaled": "Retain"}
	spec["volumeClaimTemplates"] = []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": claimSpec()}}
	return set
}

func claimSpec() map[string]any {
	return map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none",
		"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}
}

func claimOf(ns, name string, more ...func(object)) object {
	return newObject("v1", "PersistentVolumeClaim", ns, name, prepend(withField("spec", claimSpec()), more)...)
}

func job(ns, name string, more ...func(object)) object {
	t := template(name)
	t["spec"].(map[string]any)["restartPolicy"] = "Never"
	return newObject("batch/v1", "Job", ns, name, prepend(withField("spec", map[string]any{"completions": int64(2), "parallelism": int64(2), "template": t}), more)...)
}

func cronJob(ns, name string) object {
	t := template(name)
	t["spec"].(map[string]any)["restartPolicy"] = "Never"
	return newObject("batch/v1", "CronJob", ns, name, withField("spec", map[string]any{
		"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": map[string]any{"spec": map[string]any{"template": t}},
	}))
}

// policyTargets creates the targets that are deleted once with each policy. Graphs in which no other
// controller takes part are those of TestDeleteInRandomGraphsEndsAsPredicted and of test/oracle.
var policyTargets = map[string]func(s *scene, ns string, d *deletion){
	"a Deployment that owns a ConfigMap alone and shares another": func(s *scene, ns string, d *deletion) {
		web := s.create(workload("Deployment", ns, "web"))
		other := s.create(configMap(ns, "other"))
		s.create(configMap(ns, "its", ownedBy(referenceTo(web))))
		s.create(configMap(ns, "shared", ownedBy(referenceTo(web), referenceTo(other))))
		d.targets, d.counts = []object{web}, map[string]int{"Pod": 2}
	},
	"a StatefulSet whose claims are deleted with it": func(s *scene, ns string, d *deletion) {
		d.targets, d.counts = []object{s.create(retaining(ns, "Delete"))}, map[string]int{"Pod": 2, "PersistentVolumeClaim": 2}
	},
	"a StatefulSet whose claims are retained": func(s *scene, ns string, d *deletion) {
		d.targets, d.counts = []object{s.create(retaining(ns, "Retain"))}, map[string]int{"Pod": 2, "PersistentVolumeClaim": 2}
	},
	"a Job": func(s *scene, ns string, d *deletion) {
		d.targets, d.counts = []object{s.create(job(ns, "job"))}, map[string]int{"Pod": 2}
	},
	"a CronJob with an active Job": func(s *scene, ns string, d *deletion) {
		cron := s.create(cronJob(ns, "cron"))
		s.create(job(ns, "run", ownedBy(referenceTo(cron, blocking, controlling))))
		d.targets, d.counts = []object{cron}, map[string]int{"Pod": 2}
	},
	"a ReplicationController": func(s *scene, ns string, d *deletion) {
		rc := s.create(newObject("v1", "ReplicationController", ns, "rc", withField("spec", map[string]any{
			"replicas": int64(2), "selector": map[string]any{"app": "rc"}, "template": template("rc"),
		})))
		d.targets, d.counts = []object{rc}, map[string]int{"Pod": 2}
	},
	"a custom resource with blocking and other dependents, which have dependents": func(s *scene, ns string, d *deletion) {
		top := s.create(widget(ns, "top"))
		blocks := s.create(widget(ns, "blocks", ownedBy(referenceTo(top, blocking))))
		plain := s.create(configMap(ns, "plain", ownedBy(referenceTo(top))))
		s.create(secret(ns, "below", ownedBy(referenceTo(blocks, blocking))))
		s.create(widget(ns, "below", ownedBy(referenceTo(plain))))
		d.targets = []object{top}
	},
	"a Namespace with objects of several kinds, and dependents elsewhere": func(s *scene, ns string, d *deletion) {
		space := s.live(newObject("v1", "Namespace", "", ns))
		outside := s.create(clusterRole("outside-"+ns, ownedBy(referenceTo(space))))
		elsewhere := s.namespace("elsewhere")
		d.namespaces = append(d.namespaces, elsewhere)
		s.create(configMap(elsewhere, "owned", ownedBy(referenceTo(space))))
		s.create(workload("Deployment", ns, "web"))
		s.create(job(ns, "job"))
		top := s.create(widget(ns, "top"))
		s.create(configMap(ns, "below", ownedBy(referenceTo(top, blocking))))
		s.create(claimOf(ns, "claim"))
		d.targets, d.also, d.counts = []object{space}, []object{space, outside}, map[string]int{"Pod": 4, "ServiceAccount": 1}
	},
}

// createCustomOwners creates three objects of a CRD, each of which owns another object.
func (s *scene) createCustomOwners(ns string, crd object, d *deletion) {
	s.Helper()
	group := crd.Object["spec"].(map[string]any)["group"].(string)
	for i := range 3 {
		thing := s.create(newObject(group+"/v1", "Thing", ns, fmt.Sprintf("thing-%d", i)))
		below := s.create(configMap(ns, fmt.Sprintf("below-%d", i), ownedBy(referenceTo(thing, blocking))))
		s.create(secret(ns, fmt.Sprintf("bottom-%d", i), ownedBy(referenceTo(below))))
	}
	live := s.live(crd)
	d.targets, d.also = []object{live}, []object{live}
}

// fixedPolicyTargets creates the targets that are deleted with a single policy.
var fixedPolicyTargets = map[string]struct {
	policy metav1.DeletionPropagation
	make   func(s *scene, ns string, d *deletion)
}{
	"a ReplicaSet whose Deployment creates another": {metav1.DeletePropagationForeground, func(s *scene, ns string, d *deletion) {
		s.create(workload("Deployment", ns, "web"))
		d.counts = map[string]int{"Pod": 2}
		awaitControllers(s, []*deletion{d})
		sets, err := s.client(newObject("apps/v1", "ReplicaSet", ns, "")).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		d.targets = []object{{&sets.Items[0]}}
	}},
	"a claim that a Pod on a node uses": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		claim := s.create(claimOf(ns, "claim"))
		s.create(newObject("v1", "Node", "", "node-"+ns)) // without it, the Pods of the node are deleted after a while
		s.create(pod(ns, "user", onNode("node-"+ns), mounting("claim")))
		d.targets = []object{claim}
	}},
	"a claim that only a Pod without a node uses": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		claim := s.create(claimOf(ns, "claim"))
		s.create(pod(ns, "user", mounting("claim")))
		d.targets = []object{claim}
	}},
	"an owner of a claim and of the Pod on a node that uses it": {metav1.DeletePropagationForeground, func(s *scene, ns string, d *deletion) {
		top := s.create(configMap(ns, "top"))
		s.create(claimOf(ns, "claim", ownedBy(referenceTo(top, blocking))))
		s.create(pod(ns, "user", onNodeWithoutKubelet, mounting("claim"), ownedBy(referenceTo(top, blocking))))
		d.targets, d.stopsPods = []object{top}, true
	}},
	// Since 1.33, the namespace controller deletes nothing else before all Pods are gone.
	"a Namespace with a Pod held by a finalizer": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		space := s.live(newObject("v1", "Namespace", "", ns))
		s.create(pod(ns, "held", heldBy(hold)))
		s.create(configMap(ns, "other"))
		d.targets, d.also, d.counts = []object{space}, []object{space}, map[string]int{"ServiceAccount": 1}
	}},
	// Since 1.34, the collector's first DELETE of the other member is refused, because it has just
	// changed its references.
	"D4 a member of a blocking cycle that is held by a finalizer": {metav1.DeletePropagationForeground, func(s *scene, ns string, d *deletion) {
		one, two := s.create(configMap(ns, "one", heldBy(hold))), s.create(secret(ns, "two"))
		s.setOwners(one, referenceTo(two, blocking))
		s.setOwners(two, referenceTo(one, blocking))
		d.targets = []object{one}
	}},
	"a Pod of a Job": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		s.create(job(ns, "job"))
		d.counts = map[string]int{"Pod": 2}
		awaitControllers(s, []*deletion{d})
		pods, err := s.client(pod(ns, "")).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		d.targets = []object{{&pods.Items[0]}}
	}},
	"an object in foreground deletion, deleted again": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		top := s.create(configMap(ns, "top"))
		s.create(secret(ns, "below", ownedBy(referenceTo(top, blocking)), heldBy(hold)))
		s.remove(top, metav1.DeletePropagationForeground)
		d.targets = []object{top}
	}},
	"a terminating object held by a finalizer, deleted again": {metav1.DeletePropagationForeground, func(s *scene, ns string, d *deletion) {
		top := s.create(configMap(ns, "top", heldBy(hold)))
		s.create(secret(ns, "below", ownedBy(referenceTo(top, blocking))))
		s.remove(top, metav1.DeletePropagationBackground)
		d.targets = []object{top}
	}},
	"a Service with its EndpointSlices": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		service := s.create(newObject("v1", "Service", ns, "service", withField("spec", map[string]any{"selector": map[string]any{"app": "none"}, "ports": []any{map[string]any{"port": int64(80)}}})))
		d.targets, d.counts = []object{service}, map[string]int{"EndpointSlice": 1, "Endpoints": 1}
	}},
	"an unbound volume": {metav1.DeletePropagationBackground, func(s *scene, ns string, d *deletion) {
		volume := s.create(newObject("v1", "PersistentVolume", "", "volume-"+ns, withField("spec", map[string]any{
			"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"},
			"hostPath": map[string]any{"path": "/none"}, "storageClassName": "none-" + ns,
		})))
		d.targets, d.also = []object{volume}, []object{volume}
	}},
}

func onNode(node string) func(object) {
	return func(o object) { o.Object["spec"].(map[string]any)["nodeName"] = node }
}

func mounting(claim string) func(object) {
	return func(o object) {
		o.Object["spec"].(map[string]any)["volumes"] = []any{map[string]any{
			"name": "data", "persistentVolumeClaim": map[string]any{"claimName": claim},
		}}
	}
}
