package trace_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// A shop: a Deployment with its ReplicaSet and a Pod.
var (
	shop    = st.Namespace("shop")
	web     = st.Deployment("shop/web")
	rs      = st.Object("apps/v1", "ReplicaSet", "shop/web-1", st.OwnedBy(web))
	pod     = st.Pod("shop/web-1-x", st.OwnedBy(rs))
	node    = st.Node("worker-3")
	on3     = st.Pod("shop/lonely", st.OnNode("worker-3", object.NodeReady))
	config  = st.ConfigMap("shop/settings")
	secret  = st.Secret("shop/key")
	set     = st.Object("apps/v1", "StatefulSet", "shop/db")
	member  = st.Pod("shop/db-0", st.OwnedBy(set))
	cluster = st.Object("example.com/v1", "RedisCluster", "kube-system/redis-0826")
	export  = st.Object("apps/v1", "StatefulSet", "monitoring/redis-exporter", st.OwnedBy(cluster))
	metrics = st.Pod("monitoring/redis-exporter-0", st.OwnedBy(export))
	redis   = st.Object("apps/v1", "StatefulSet", "kube-system/redis", st.OwnedBy(cluster))
	crd     = st.CRD("redisclusters.example.com")
)

func TestADeploymentDeletedByAServiceAccountTakesItsDependentsAlong(t *testing.T) {
	l := &log{level: whole}
	l.create(1, alice, web)
	l.create(2, alice, rs)
	l.create(3, alice, pod)
	l.delete(10, deployer, web)
	l.delete(11, gc, rs)
	l.delete(12, gc, pod)
	l.delete(40, kubelet, pod)
	expect(t, l, `
		service account ci/deployer, 3 objects
		  Deployment/web: asked for
		    ReplicaSet/web-1: its owner is gone
		      Pod/web-1-x: its owner is gone
		`)
	c := l.facts().Explain().Cascades[0]
	if c.Policy != "Background" || c.Verb != "delete" || c.By.User != deployer || !c.At.Equal(at(10)) || !c.To.Equal(at(40)) || c.Whole != 3 {
		t.Errorf("got policy %s, verb %s, user %s, from %s to %s, %d whole", c.Policy, c.Verb, c.By.User, c.At, c.To, c.Whole)
	}
}

// A deletion changes an object: containers stop, finalizers go. What would bring it back is the state before.
func TestTheWholeObjectIsAsItWasWhenItsDeletionBegan(t *testing.T) {
	l := &log{level: whole}
	l.create(1, alice, pod)
	sees := func(o object.Object) edit {
		return func(r *trace.Request) {
			r.Objects = []trace.Seen{{Object: o, Whole: true}}
		}
	}
	deleted, now := pod, at(10)
	deleted.Deleted = &now
	l.add(5, alice, "update", targetOf(pod), sees(pod))
	l.delete(10, alice, pod, sees(deleted))
	l.add(12, kubelet, "update", targetOf(pod), sees(deleted))
	l.delete(13, kubelet, pod, sees(deleted))
	if d := l.facts().Explain().Cascades[0].Deletions[0]; d.Whole == nil || d.Whole.Offset != 3 {
		t.Errorf("got %+v, want the answer to the third request", d.Whole)
	}

	// The answer to the deletion of a collection has the objects as they were before.
	l = &log{level: whole}
	l.create(1, alice, pod)
	l.collection(10, alice, pod, pod)
	sees(pod)(&l.Requests[1])
	l.add(12, alice, "update", targetOf(pod), sees(deleted))
	if d := l.facts().Explain().Cascades[0].Deletions[0]; d.Whole == nil || d.Whole.Offset != 2 {
		t.Errorf("got %+v, want the answer to the second request", d.Whole)
	}
}

// In the foreground the owner is asked for first, and removed last.
func TestForegroundDeletion(t *testing.T) {
	l := &log{level: whole}
	for i, o := range []object.Object{web, rs, pod} {
		l.create(float64(i), alice, o)
	}
	l.delete(10, alice, web, policy(reason.Foreground), lingers(web, 10, object.ForegroundFinalizer))
	l.delete(11, gc, rs, policy(reason.Foreground), lingers(rs, 11, object.ForegroundFinalizer))
	l.delete(12, gc, pod)
	expect(t, l, `
		alice, 3 objects
		  Deployment/web: asked for
		    ReplicaSet/web-1: its owner waits for it (foreground)
		      Pod/web-1-x: its owner waits for it (foreground)
		`)
}

// With the policy Orphan the dependents stay; what deletes them later is a deletion of its own.
func TestOrphanedDependentsAreNoPartOfTheCascade(t *testing.T) {
	l := &log{level: whole}
	for i, o := range []object.Object{web, rs, pod} {
		l.create(float64(i), alice, o)
	}
	l.delete(10, alice, web, policy(reason.Orphan), lingers(web, 10, object.OrphanFinalizer))
	orphan := rs
	orphan.Owners = nil
	l.add(11, gc, "patch", targetOf(rs), func(r *trace.Request) { r.Target.UID, r.Objects = rs.UID, []trace.Seen{{Object: orphan}} })
	l.delete(20, bob, rs)
	l.delete(21, gc, pod)
	expect(t, l, `
		bob, 2 objects
		  ReplicaSet/web-1: asked for
		    Pod/web-1-x: its owner is gone
		alice, 1 objects
		  Deployment/web: asked for
		`)
}

// At level Metadata the log has no UIDs, no owners and no policies: the earlier scan has them.
func TestALogAtLevelMetadataWithAnEarlierScan(t *testing.T) {
	l := &log{}
	l.before(web, rs, pod)
	l.delete(10, alice, web)
	l.delete(11, gc, rs)
	l.delete(12, gc, pod)
	expect(t, l, `
		perhaps alice, 3 objects
		  Deployment/web~: asked for (PerhapsDone)
		    ReplicaSet/web-1~: its owner is gone
		      Pod/web-1-x~: its owner is gone
		`)
	if c := l.facts().Explain().Cascades[0]; c.Policy != "" || c.Deletions[2].Object.UID != pod.UID {
		t.Errorf("the policy is %q, the UID of the Pod %q", c.Policy, c.Deletions[2].Object.UID)
	}
}

// No list of the document is nil.
func TestTheDocument(t *testing.T) {
	l := &log{level: whole}
	l.delete(10, alice, web)
	for _, l := range []*log{{}, l} {
		r := l.facts().Explain()
		if len(l.Requests) > 0 {
			r = r.Select(trace.Question{UID: string(web.UID)})
		}
		text, err := json.Marshal(r)
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("got %s, %v", text, err)
		}
	}
}

// The founding incident: a StatefulSet whose owner is in another namespace, and a collector that restarted.
func TestAnOwnerInAnotherNamespace(t *testing.T) {
	deletions := func(l *log) *log {
		l.started(8)
		l.delete(31, gc, export)
		l.delete(62, gc, metrics)
		return l
	}
	want := `
		the garbage collector, 2 objects
		  StatefulSet/redis-exporter: its only owner, RedisCluster/redis-0826, is in another namespace (kube-system), which does not count (CollectorRestarted)
		    Pod/redis-exporter-0: its owner is gone
		`
	t.Run("with a log at level Metadata and an earlier scan", func(t *testing.T) {
		l := &log{}
		l.before(cluster, export, metrics)
		expect(t, deletions(l), want)
	})
	t.Run("with a log that shows answers", func(t *testing.T) {
		l := &log{level: whole}
		for i, o := range []object.Object{cluster, export, metrics} {
			l.create(float64(i), alice, o)
		}
		expect(t, deletions(l), want)
	})
	t.Run("with the log of the manager since 1.27", func(t *testing.T) {
		l := &log{}
		l.started(8)
		l.line(30, trace.OwnerElsewhere, export, cluster)
		l.line(31, trace.OwnerNotFound, export, cluster)
		l.line(31, trace.Deletes, export)
		l.line(62, trace.OwnerKnownAbsent, metrics, export)
		l.line(62, trace.Deletes, metrics)
		expect(t, l, want)
	})
	t.Run("with the log of an old manager and the earlier scan", func(t *testing.T) {
		l := &log{}
		l.before(cluster, export, metrics)
		l.started(8)
		old, owner := cluster, export
		old.UID, owner.UID = "", ""
		l.line(31, trace.OwnerNotFound, export, old)
		l.line(31, trace.Deletes, export)
		l.line(62, trace.OwnerKnownAbsent, metrics, owner)
		l.line(62, trace.Deletes, metrics)
		expect(t, l, want)
	})
	t.Run("with the log of an old manager alone, it is unknown whether the owner was deleted", func(t *testing.T) {
		l := &log{}
		l.started(8)
		old, owner := cluster, export
		old.UID, owner.UID = "", ""
		l.line(31, trace.OwnerNotFound, export, old)
		l.line(31, trace.Deletes, export)
		l.line(62, trace.OwnerKnownAbsent, metrics, owner)
		l.line(62, trace.Deletes, metrics)
		expect(t, l, `
			unknown root, 2 objects
			  StatefulSet/redis-exporter: unknown: what became of RedisCluster/redis-0826 is not in the log (CollectorRestarted)
			    Pod/redis-exporter-0: its owner is gone
			`)
	})
}

// Before Kubernetes 1.20 the collector remembered absent owners by their UID alone.
func TestAValidSiblingOfAnObjectWithABadReference(t *testing.T) {
	lines := func(l *log) *log {
		l.line(31, trace.OwnerNotFound, export, cluster)
		l.line(31, trace.Deletes, export)
		l.line(33, trace.OwnerKnownAbsent, redis, cluster)
		l.line(33, trace.Deletes, redis)
		return l
	}
	t.Run("is told apart", func(t *testing.T) {
		l := &log{}
		l.before(cluster, export, redis)
		expect(t, lines(l), `
			the garbage collector, 2 objects
			  StatefulSet/redis-exporter: its only owner, RedisCluster/redis-0826, is in another namespace (kube-system), which does not count
			    StatefulSet/redis: RedisCluster/redis-0826 was remembered as absent because of StatefulSet/redis-exporter in namespace monitoring
			`)
	})
	t.Run("may be one, if nothing shows its owner", func(t *testing.T) {
		expect(t, lines(&log{}), `
			unknown root, 1 objects
			  StatefulSet/redis-exporter: unknown: what became of RedisCluster/redis-0826 is not in the log
			unknown root, 1 objects
			  StatefulSet/redis: unknown: the garbage collector took RedisCluster/redis-0826 for absent, perhaps because it had looked for it in namespace monitoring, on behalf of StatefulSet/redis-exporter
			`)
	})
	t.Run("is none, if its owner was deleted", func(t *testing.T) {
		l := &log{level: whole}
		l.before(cluster, export, redis)
		l.delete(32, alice, cluster)
		expect(t, lines(l), `
			alice, 2 objects
			  RedisCluster/redis-0826: asked for
			    StatefulSet/redis: its owner is gone
			the garbage collector, 1 objects
			  StatefulSet/redis-exporter: its only owner, RedisCluster/redis-0826, is in another namespace (kube-system), which does not count
			`)
	})
}

func TestANamespace(t *testing.T) {
	t.Run("with a log that shows answers", func(t *testing.T) {
		l := &log{level: whole}
		for i, o := range []object.Object{shop, web, rs, pod, config} {
			l.create(float64(i), alice, o)
		}
		l.delete(10, bob, shop, lingers(shop, 10))
		l.collection(11, nsDeleter, web, web)
		l.delete(11.1, gc, rs)
		l.collection(11.2, nsDeleter, config, config)
		l.collection(11.3, nsDeleter, pod, pod)
		l.collection(15, nsDeleter, pod)
		l.finalize(16, shop)
		expect(t, l, `
			bob, 5 objects
			  Namespace/shop: asked for
			    Deployment/web: its namespace was deleted
			      ReplicaSet/web-1: its owner is gone
			    ConfigMap/settings: its namespace was deleted
			    Pod/web-1-x: its namespace was deleted
			`)
	})
	t.Run("with a log at level Metadata, contents went at the latest", func(t *testing.T) {
		l := &log{}
		l.before(shop, web, rs, pod, config, st.ConfigMap("other/settings"))
		l.delete(10, bob, shop)
		l.collection(11, nsDeleter, web)
		l.delete(11.1, gc, rs)
		l.collection(11.2, nsDeleter, config)
		l.finalize(16, shop)
		expect(t, l, `
			perhaps bob, 5 objects
			  Namespace/shop~: asked for (PerhapsDone)
			    ConfigMap/settings?: its namespace was deleted (WentAtTheLatest)
			    Deployment/web?: its namespace was deleted (WentAtTheLatest)
			      ReplicaSet/web-1?: its owner is gone (ParentWentAtTheLatest)
			    Pod/web-1-x?: its namespace was deleted (WentAtTheLatest)
			`)
	})
	t.Run("whose deletion is not in the log", func(t *testing.T) {
		l := &log{level: whole}
		l.collection(11, nsDeleter, config, config)
		expect(t, l, `
			unknown root, 1 objects
			  ConfigMap/settings: unknown: who deleted Namespace/shop is not in the log
			`)
	})
	t.Run("of the same name, which was deleted again", func(t *testing.T) {
		l := &log{level: whole}
		l.delete(1, alice, shop)
		l.create(50, bob, config) // so the namespace exists again
		l.collection(61, nsDeleter, config, config)
		expect(t, l, `
			alice, 1 objects
			  Namespace/shop: asked for
			unknown root, 1 objects
			  ConfigMap/settings: unknown: who deleted Namespace/shop is not in the log
			`)
	})
}

// The API server removes the instances of a CustomResourceDefinition itself, without a request.
func TestACustomResourceDefinitionTakesItsInstancesAlong(t *testing.T) {
	l := &log{level: whole}
	l.before(crd, cluster, redis)
	l.delete(10, alice, crd, lingers(crd, 10, "customresourcecleanup.apiextensions.k8s.io"))
	l.delete(12, gc, redis)
	expect(t, l, `
		alice, 3 objects
		  CustomResourceDefinition/redisclusters.example.com: asked for
		    RedisCluster/redis-0826?: its CustomResourceDefinition was deleted (WentAtTheLatest)
		      StatefulSet/redis?: its owner is gone (ParentWentAtTheLatest)
		`)
}

func TestPodsOfANode(t *testing.T) {
	t.Run("that was deleted", func(t *testing.T) {
		l := &log{level: whole}
		l.before(node, on3)
		l.delete(10, alice, node)
		l.delete(50, podGC, on3)
		expect(t, l, `
			alice, 2 objects
			  Node/worker-3: asked for
			    Pod/lonely: its Node was deleted
			`)
	})
	t.Run("that the log says nothing of", func(t *testing.T) {
		l := &log{level: whole}
		l.delete(50, podGC, on3)
		expect(t, l, `
			the Pod garbage collector, 1 objects
			  Pod/lonely: its Node was gone, or it had terminated; which of the two is not in the log
			`)
	})
	t.Run("that was registered again", func(t *testing.T) {
		l := &log{level: whole}
		l.before(node, on3)
		l.delete(10, alice, node)
		again := node
		again.UID = "new"
		l.create(20, kubelet, again)
		l.delete(50, podGC, on3)
		expect(t, l, `
			alice, 1 objects
			  Node/worker-3: asked for
			the Pod garbage collector, 1 objects
			  Pod/lonely: its Node was gone, or it had terminated; which of the two is not in the log
			`)
	})
}

func TestWhoDeletesOfTheirOwnAccord(t *testing.T) {
	job := st.Object("batch/v1", "Job", "shop/import")
	work := st.Pod("shop/import-x", st.OwnedBy(job))
	mirror := st.Pod("shop/etcd-worker-3", st.Owned(st.To(node, st.Controlling)))
	for name, c := range map[string]struct {
		log  func(*log)
		want string
	}{
		"a finished Job": {func(l *log) { l.before(job, work); l.delete(1, ttl, job); l.delete(2, gc, work) }, `
			the TTL controller of finished Jobs, 2 objects
			  Job/import: it had finished, and its ttlSecondsAfterFinished had passed
			    Pod/import-x: its owner is gone
			`},
		"the StatefulSet controller": {func(l *log) { l.delete(1, statefulGC, member) }, `
			the statefulset-controller, 1 objects
			  Pod/db-0: the statefulset-controller deleted it; the log does not say why
			`},
		"a controller that shares its user, by the user agent": {func(l *log) {
			l.before(job, work)
			l.delete(1, manager, job, agent("kube-controller-manager/v1.37.2 (linux/amd64) kubernetes/1234567/ttl-after-finished-controller"))
			l.delete(2, manager, work, agent("kube-controller-manager/v1.18.0 (linux/amd64) kubernetes/1234567/system:serviceaccount:kube-system:generic-garbage-collector"))
		}, `
			the TTL controller of finished Jobs, 2 objects
			  Job/import: it had finished, and its ttlSecondsAfterFinished had passed
			    Pod/import-x: its owner is gone
			`},
		"a controller that shares its user, without a user agent": {func(l *log) { l.delete(1, manager, pod) }, `
			unknown root, 1 objects
			  Pod/web-1-x: a controller of kube-controller-manager deleted it; the log does not say which
			`},
		"someone with the user agent of a controller": {func(l *log) {
			l.delete(1, alice, pod, agent("kube-controller-manager/v1.37.2 (linux/amd64) kubernetes/1/generic-garbage-collector"))
		}, `
			alice, 1 objects
			  Pod/web-1-x: asked for
			`},
		"a workload of kube-system": {func(l *log) { l.delete(1, "system:serviceaccount:kube-system:helm", pod) }, `
			service account kube-system/helm, 1 objects
			  Pod/web-1-x: asked for
			`},
		"this tool": {func(l *log) { l.delete(1, alice, pod, agent("kubectl-gc/v1.0.0")) }, `
			alice (kubectl-gc), 1 objects
			  Pod/web-1-x: asked for
			`},
		"the scheduler": {func(l *log) { l.delete(1, "system:kube-scheduler", pod) }, `
			the scheduler, 1 objects
			  Pod/web-1-x: the scheduler preempted it: a Pod of higher priority needed its place
			`},
		"a taint": {func(l *log) { l.delete(1, "system:serviceaccount:kube-system:taint-eviction-controller", pod) }, `
			the taint-eviction-controller, 1 objects
			  Pod/web-1-x: its Node had a taint that it does not tolerate
			`},
		"an eviction, which the kubelet ends": {func(l *log) {
			l.add(1, alice, "create", targetOf(pod), func(r *trace.Request) { r.Target.Subresource, r.Code = "eviction", 201 })
			l.delete(31, kubelet, pod, lingers(pod, 1))
		}, `
			alice, 1 objects
			  Pod/web-1-x: evicted
			`},
		"a kubelet, after somebody else": {func(l *log) { l.delete(1, alice, pod, lingers(pod, 1)); l.delete(31, kubelet, pod) }, `
			alice, 1 objects
			  Pod/web-1-x: asked for
			`},
		"a kubelet alone": {func(l *log) { l.delete(31, kubelet, pod) }, `
			unknown root, 1 objects
			  Pod/web-1-x: its kubelet confirmed that it stopped; who began the deletion is not in the log
			`},
		"a kubelet that no longer runs a static Pod": {func(l *log) { l.before(node, mirror); l.delete(31, kubelet, mirror) }, `
			the kubelet of worker-3, 1 objects
			  Pod/etcd-worker-3: it mirrored a static Pod, which its kubelet no longer runs
			`},
		"a collection with a selector": {func(l *log) { l.before(set, member); l.collection(1, alice, member, member, pod) }, `
			alice deletes collection pods in "shop", 2 objects
			  Pod/db-0: in the collection
			  Pod/web-1-x: in the collection
			`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{level: whole}
			c.log(l)
			expect(t, l, c.want)
		})
	}
}

func TestTwoOwners(t *testing.T) {
	other := st.Deployment("shop/other")
	both := st.Pod("shop/both", st.OwnedBy(web, other))
	for name, c := range map[string]struct {
		log  func(*log)
		want string
	}{
		"the last one counts": {func(l *log) { l.delete(10, alice, web); l.delete(20, bob, other); l.delete(21, gc, both) }, `
			bob, 2 objects
			  Deployment/other: asked for
			    Pod/both~: its owner is gone (PerhapsLast)
			alice, 1 objects
			  Deployment/web: asked for
			`},
		"of one cascade": {func(l *log) {
			l.level = whole
			l.collection(10, alice, web, web, other)
			l.delete(21, gc, both)
		}, `
			alice deletes collection deployments.apps in "shop", 3 objects
			  Deployment/other: in the collection
			  Deployment/web: in the collection
			    Pod/both: its owner is gone
			`},
		"one deletion is not in the log": {func(l *log) { l.delete(10, alice, web); l.delete(21, gc, both) }, `
			alice, 1 objects
			  Deployment/web: asked for
			unknown root, 1 objects
			  Pod/both: unknown: what became of Deployment/other is not in the log; Deployment/web was deleted by alice at 2026-11-20T08:00:10Z
			`},
		"at almost the same time": {func(l *log) { l.delete(10, alice, web); l.delete(11, bob, other); l.delete(21, gc, both) }, `
			alice, 1 objects
			  Deployment/web: asked for
			bob, 1 objects
			  Deployment/other: asked for
			unknown root, 1 objects
			  Pod/both: unknown: which of its owners went last is not clear: Deployment/web was deleted by alice at 2026-11-20T08:00:10Z; Deployment/other was deleted by bob at 2026-11-20T08:00:11Z
			`},
		"the first one lingers": {func(l *log) {
			l.delete(10, alice, web, lingers(web, 10, "example.com/hold"))
			l.delete(20, bob, other)
			l.delete(51, gc, both)
		}, `
			alice, 1 objects
			  Deployment/web: asked for
			bob, 1 objects
			  Deployment/other: asked for
			unknown root, 1 objects
			  Pod/both: unknown: which of its owners went last is not clear: Deployment/web was deleted by alice at 2026-11-20T08:00:10Z; Deployment/other was deleted by bob at 2026-11-20T08:00:20Z
			`},
		"the last one orphaned its dependents": {func(l *log) {
			l.delete(10, alice, web)
			l.delete(20, bob, other, policy(reason.Orphan))
			l.delete(51, gc, both)
		}, `
			alice, 2 objects
			  Deployment/web: asked for
			    Pod/both: its owner is gone
			bob, 1 objects
			  Deployment/other: asked for
			`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{level: whole}
			l.before(web, other, both)
			c.log(l)
			expect(t, l, c.want)
		})
	}
}

// The deletion of the only owner is not in the log: what came from it stays together, and is nobody else's.
func TestAnOwnerWhoseDeletionIsNotInTheLog(t *testing.T) {
	twin := st.Object("apps/v1", "ReplicaSet", "shop/web-2", st.OwnedBy(web))
	l := &log{level: whole}
	l.before(web, rs, twin, pod, config)
	l.delete(9, bob, config)
	l.delete(11, gc, rs)
	l.delete(12, gc, twin)
	l.delete(13, gc, pod)
	expect(t, l, `
		unknown root, 4 objects
		  Deployment/web?: unknown: its deletion is not in the log
		    ReplicaSet/web-1: unknown: what became of Deployment/web is not in the log
		      Pod/web-1-x: its owner is gone
		    ReplicaSet/web-2: unknown: what became of Deployment/web is not in the log
		bob, 1 objects
		  ConfigMap/settings: asked for
		`)
}

func TestRecreatedNames(t *testing.T) {
	second := web
	second.UID = "web-2"
	ofSecond := st.Pod("shop/second", st.OwnedBy(second))
	t.Run("with UIDs", func(t *testing.T) {
		l := &log{level: whole}
		l.before(web)
		l.delete(10, alice, web)
		l.create(20, alice, second)
		l.create(21, alice, ofSecond)
		l.delete(30, bob, second)
		l.delete(31, gc, ofSecond)
		expect(t, l, `
			bob, 2 objects
			  Deployment/web: asked for
			    Pod/second: its owner is gone
			alice, 1 objects
			  Deployment/web: asked for
			`)
		r := l.facts().Explain().Select(trace.Question{Type: "deployment", Namespace: "shop", Name: "web"})
		if r.Cascades[0].By.User != bob || len(r.Target.Others) != 1 || r.Target.Others[0].By.User != alice {
			t.Errorf("the last one was deleted by %s, others are %v", r.Cascades[0].By, r.Target.Others)
		}
		r = l.facts().Explain().Select(trace.Question{UID: string(web.UID)})
		if r.Cascades[0].By.User != alice {
			t.Errorf("the first one was deleted by %s", r.Cascades[0].By)
		}
	})
	t.Run("without UIDs, creates tell them apart", func(t *testing.T) {
		l := &log{}
		l.before(web, rs)
		l.delete(10, alice, web)
		l.create(20, alice, second)
		l.delete(30, bob, second)
		l.delete(31, gc, rs)
		expect(t, l, `
			perhaps alice, 2 objects
			  Deployment/web~: asked for (PerhapsDone)
			    ReplicaSet/web-1~: its owner is gone
			perhaps bob, 1 objects
			  Deployment/web~: asked for (PerhapsDone)
			`)
	})
	t.Run("without UIDs and creates, it is not proven which of them is meant", func(t *testing.T) {
		l := &log{level: whole}
		l.before(rs)
		ofSecond := st.Pod("shop/second", st.OwnedBy(second))
		l.create(9, alice, ofSecond)
		l.level = request
		l.delete(10, alice, web)
		l.delete(11, gc, rs)
		expect(t, l, `
			perhaps alice, 2 objects
			  Deployment/web~: asked for (PerhapsDone)
			    ReplicaSet/web-1~: its owner is gone
			`)
	})
}

// The first of several successful requests began the deletion.
func TestRepeatedDeletions(t *testing.T) {
	l := &log{level: whole}
	l.before(web, rs)
	l.delete(10, alice, web, lingers(web, 10, "example.com/hold"))
	l.delete(15, bob, web, lingers(web, 10, "example.com/hold"))
	l.delete(20, gc, rs)
	expect(t, l, `
		alice, 2 objects
		  Deployment/web: asked for (AskedAgain)
		    ReplicaSet/web-1~: its owner is gone (OwnerHeld)
		`)
	t.Run("whose first request the log lacks", func(t *testing.T) {
		l.Requests = l.Requests[1:]
		expect(t, l, `
			unknown root, 2 objects
			  Deployment/web: unknown: its deletion had begun before, and who began it is not in the log
			    ReplicaSet/web-1: its owner is gone
			`)
	})
}

// Clocks of API servers differ: the owner's deletion may be recorded after that of its dependent.
func TestClocksApart(t *testing.T) {
	for seconds, want := range map[float64]string{
		11.5: `
			alice, 2 objects
			  Deployment/web: asked for
			    ReplicaSet/web-1: its owner is gone
			`,
		14: `
			unknown root, 1 objects
			  ReplicaSet/web-1: unknown: what became of Deployment/web is not in the log
			alice, 1 objects
			  Deployment/web: asked for
			`,
	} {
		l := &log{level: whole}
		l.before(web, rs)
		l.delete(seconds, alice, web)
		l.delete(10, gc, rs)
		expect(t, l, want)
	}
}

func TestOneTargetIsShownFromItsRootDownwards(t *testing.T) {
	l := &log{level: whole}
	twin := st.Object("apps/v1", "ReplicaSet", "shop/web-2", st.OwnedBy(web))
	l.before(web, rs, twin, pod)
	l.delete(10, alice, web)
	l.delete(11, gc, twin)
	l.delete(12, gc, rs)
	l.delete(13, gc, pod)
	r := l.facts().Explain().Select(trace.Question{Type: "replicaset", Namespace: "shop", Name: "web-1"})
	if got, want := tell(r), "alice, 4 objects\n  Deployment/web: asked for\n    ReplicaSet/web-1: its owner is gone\n      Pod/web-1-x: its owner is gone\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if r.Target.Deletion != 1 || r.Cascades[0].Deletions[2].Parent != 1 || r.Cascades[0].Deletions[0].Parent != -1 {
		t.Errorf("the target is %d, the parents are %v", r.Target.Deletion, r.Cascades[0].Deletions)
	}
	if r := l.facts().Explain().Select(trace.Question{Type: "rs", Namespace: "shop", Name: "web"}); r.Target != nil {
		t.Errorf("found %s", tell(r))
	}
}

// Secrets are in most logs at level Metadata, if at all: by their names.
func TestANamespaceTakesAlongWhatOnlyItsCreationShows(t *testing.T) {
	l := &log{level: whole}
	l.create(1, alice, shop)
	l.level = 0
	l.create(2, alice, secret)
	l.collection(11, nsDeleter, secret)
	l.level = whole
	l.delete(10, bob, shop)
	l.finalize(12, shop)
	expect(t, l, `
		bob, 2 objects
		  Namespace/shop: asked for
		    Secret/key?: its namespace was deleted (WentAtTheLatest)
		`)
	l.line(11.5, trace.Gone, secret)
	expect(t, l, `
		bob, 2 objects
		  Namespace/shop: asked for
		    Secret/key?: its namespace was deleted (WentAtTheLatest)
		`)
}

// In a namespace that is deleted, the two controllers often ask at once. The answer is the same.
func TestTheCollectorAndTheNamespaceControllerAskAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ ofWeb, want string }{
		"for one root": {nsDeleter, `
			bob, 3 objects
			  Namespace/shop: asked for
			    Deployment/web: its namespace was deleted
			      ReplicaSet/web-1: its owner is gone (AskedAgain)
			`},
		"for two": {alice, `
			bob, 1 objects
			  Namespace/shop: asked for
			alice, 1 objects
			  Deployment/web: asked for
			unknown root, 1 objects
			  ReplicaSet/web-1: unknown: one of the garbage collector, the namespace controller (AskedAgain) (NamespaceWasTerminating)
			`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{level: whole}
			for i, o := range []object.Object{shop, web, rs} {
				l.create(float64(i), alice, o)
			}
			l.delete(10, bob, shop)
			l.delete(11, c.ofWeb, web)
			l.delete(12, gc, rs)
			l.delete(12.001, nsDeleter, rs)
			expect(t, l, c.want)
		})
	}
}
