package e2e

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/logs"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// watchedTypes are those of which the tests of trace know what became of their objects.
var watchedTypes = []string{
	"apiextensions.k8s.io/v1 customresourcedefinitions", "v1 namespaces", "v1 nodes", "v1 configmaps", "v1 secrets", "v1 pods", "v1 persistentvolumeclaims", "v1 serviceaccounts",
	"apps/v1 deployments", "apps/v1 replicasets", "apps/v1 statefulsets", "apps/v1 controllerrevisions", "batch/v1 jobs",
	"rbac.authorization.k8s.io/v1 roles", customGroup + "/v1 widgets",
}

// traced is a control plane with an audit log.
type traced struct {
	*witness
	log string
}

// as returns a client for a user who may do everything.
func (t *traced) as(user string, groups ...string) dynamic.Interface {
	t.Helper()
	config := rest.CopyConfig(t.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:masters")}
	client, err := dynamic.NewForConfig(config)
	t.must(err)
	return client
}

// asAccount returns a client with the token of a new service account that may do everything.
func (t *traced) asAccount(ns, name string) dynamic.Interface {
	t.Helper()
	account := t.create(newObject("v1", "ServiceAccount", ns, name))
	t.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", ns+"-"+name, func(o object) {
		o.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
		o.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "namespace": ns, "name": name}}
	}))
	token, err := t.client(account).Create(t.Context(), newObject("authentication.k8s.io/v1", "TokenRequest", ns, name, withField("spec", map[string]any{})).Unstructured, metav1.CreateOptions{}, "token")
	t.must(err)
	config := rest.AnonymousClientConfig(t.config)
	config.BearerToken, _, _ = unstructured.NestedString(token.Object, "status", "token")
	client, err := dynamic.NewForConfig(config)
	t.must(err)
	return client
}

// actingAs returns the user as whom somebody sent a request: most users of the tests are impersonated.
func actingAs(a trace.Deleter) string {
	if a.As != "" {
		return a.As
	}
	return a.User
}

// clientOf is the client of somebody for the objects of a kind and namespace.
func (t *traced) clientOf(who dynamic.Interface, o object) dynamic.ResourceInterface {
	t.Helper()
	m, err := t.mapping(o)
	t.must(err)
	return who.Resource(m.Resource).Namespace(o.GetNamespace())
}

// cascadeOf is what a cascade must be.
type cascadeOf struct {
	name       string
	ns         string // everything of it that is gone is part of the cascade, and nothing else of it
	role       trace.Role
	user       string
	group      string
	verb       string
	policy     string
	why        reason.Code // of the root
	begun, end time.Time   // of the request; zero if a controller sent it
	root       string      // resource/name
	also       []string    // objects outside the namespace, as resource/name
	least      []string    // some that must be among those that are gone
	inferred   bool        // some may be in no line
}

// report explains the logs.
func (t *traced) report(logs ...string) *trace.DeletionReport {
	t.Helper()
	return t.evidence(logs...).explain()
}

// evidence is what logs say.
type evidence struct {
	Requests []trace.Request
	Lines    []trace.Line
	Sources  []trace.Source
}

func (e *evidence) Request(q *trace.Request) { e.Requests = append(e.Requests, *q) }
func (e *evidence) Line(l *trace.Line)       { e.Lines = append(e.Lines, *l) }

func (e *evidence) explain() *trace.DeletionReport {
	facts := trace.NewFacts(nil)
	for i := range e.Requests {
		facts.Request(&e.Requests[i])
	}
	for i := range e.Lines {
		facts.Line(&e.Lines[i])
	}
	for i := range e.Sources {
		facts.Source(&e.Sources[i])
	}
	return facts.Explain()
}

func (t *traced) evidence(files ...string) *evidence {
	t.Helper()
	e := &evidence{}
	for _, log := range files {
		text, err := os.ReadFile(log)
		t.must(err)
		source, err := logs.Read(t.Context(), bytes.NewReader(text), log, time.Now().UTC().Year(), e)
		if t.must(err); source.Unreadable > 0 {
			t.Errorf("%s: %+v", log, source)
		}
		e.Sources = append(e.Sources, source)
	}
	return e
}

func (t *traced) managerLog() string {
	return filepath.Join(t.controlPlane.Dir, "kube-controller-manager.log")
}

func resourceName(d *trace.Deletion) string {
	resource, _, _ := strings.Cut(d.Resource, ".")
	return resource + "/" + d.Object.Name
}

// requireCascade compares a cascade with what was done.
func (t *traced) requireCascade(r *trace.DeletionReport, want cascadeOf) {
	t.Helper()
	gone := slices.Clone(want.also)
	for _, f := range t.in(want.ns) {
		if f.gone {
			gone = append(gone, f.String())
		}
	}
	slices.Sort(gone)
	for _, name := range want.least {
		if !slices.ContainsFunc(gone, func(g string) bool { return strings.HasPrefix(g, name) }) {
			t.Errorf("%s: %s is not gone, so that nothing is tested: %q", want.name, name, gone)
		}
	}
	found := map[int]bool{}
	var got []string
	for i := range r.Cascades {
		for j := range r.Cascades[i].Deletions {
			if d := &r.Cascades[i].Deletions[j]; d.Object.Namespace == want.ns || slices.Contains(want.also, resourceName(d)) {
				found[i] = true
				got = append(got, resourceName(d))
				if f := t.fates[d.Object.UID]; d.Object.UID != "" && (f == nil || !f.gone && !d.Inferred) {
					t.Errorf("%s: %s with UID %s is said to be deleted", want.name, resourceName(d), d.Object.UID)
				}
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(gone, got); diff != "" {
		t.Errorf("%s: gone are (-), the report has (+):\n%s", want.name, diff)
	}
	if len(found) != 1 {
		t.Errorf("%s: it is in %d cascades", want.name, len(found))
	}
	for i := range found {
		c := &r.Cascades[i]
		var root string
		if len(c.Deletions) > 0 {
			root = resourceName(&c.Deletions[0])
		}
		by, inferred := c.By, slices.ContainsFunc(c.Deletions, func(d trace.Deletion) bool { return d.Inferred })
		if c.Unexplained || by.Role != want.role || actingAs(by) != want.user || want.group != "" && !slices.Contains(by.Groups, want.group) ||
			c.Verb != want.verb || c.Policy != want.policy || c.Root.Code != want.why || root != want.root && want.root != "" ||
			want.inferred != inferred {
			t.Errorf("%s: got root %s, %s %q %v, %s %q, %s, inferred: %v, unexplained: %v", want.name, root, by.Role, actingAs(by), by.Groups, c.Verb, c.Policy, c.Root.Code, inferred, c.Unexplained)
		}
		if !want.begun.IsZero() && (c.At.Before(want.begun.Add(-10*time.Millisecond)) || c.At.After(want.end)) {
			t.Errorf("%s: at %v, want between %v and %v", want.name, c.At, want.begun, want.end)
		}
		for j := range c.Deletions {
			if d := &c.Deletions[j]; d.Object.Namespace != want.ns && !slices.Contains(want.also, resourceName(d)) {
				t.Errorf("%s: %s in %q is part of it", want.name, resourceName(d), d.Object.Namespace)
			}
		}
	}
}

// requireCollected compares what the log of kube-controller-manager tells alone with what the collector deleted.
func (t *traced) requireCollected(what string, r *trace.DeletionReport, collected map[types.UID]string, whys bool) {
	t.Helper()
	codes, missing := map[reason.Code]int{}, maps.Clone(collected)
	for i := range r.Cascades {
		c := &r.Cascades[i]
		nobody := c.Root.Code == reason.OwnersAbsent(nil).Code
		another := c.By.Role != trace.RoleCollector && c.By.Role != trace.RoleNone // controller
		if c.By.User != "" || c.Unexplained == nobody && !another {
			t.Errorf("%s: a cascade by %+v, unexplained: %v, %s", what, c.By, c.Unexplained, c.Root.Message())
		}
		for j := range c.Deletions {
			d := &c.Deletions[j]
			f := t.fates[d.Object.UID]
			switch {
			case f == nil: // an owner that never was
			case !f.gone && !f.marked:
				t.Errorf("%s: %s in %s is said to be deleted: %s", what, resourceName(d), d.Object.Namespace, d.Why.Message())
			}
			if missing[d.Object.UID] == "" {
				continue
			}
			delete(missing, d.Object.UID)
			codes[d.Why.Code]++
			if d.By.Role != trace.RoleCollector || whys && d.Why.Code == reason.OwnersNotInEvidence.Code {
				t.Errorf("%s: %s in %s: by %q, %s", what, resourceName(d), d.Object.Namespace, d.By.Role, d.Why.Message())
			}
		}
	}
	t.Logf("%s: %d collected, why: %v", what, len(collected), codes)
	if len(missing) > 0 {
		t.Errorf("%s: not in the report are %v", what, slices.Sorted(maps.Values(missing)))
	}
}

// collected returns what the collector deleted, by the audit log.
func (t *traced) collected() map[types.UID]string {
	t.Helper()
	out := map[types.UID]string{}
	for _, r := range t.evidence(t.log).Requests {
		if uid := r.Target.UID; r.Verb == "delete" && r.User.Name == collectorAccount && uid != "" {
			if f := t.fates[uid]; f != nil && (f.gone || f.marked) {
				out[uid] = f.Namespace + " " + f.String()
			}
		}
	}
	return out
}

const (
	collectorAccount = "system:serviceaccount:kube-system:generic-garbage-collector"
	ttlAccount       = "system:serviceaccount:kube-system:ttl-after-finished-controller"
)

// TestTraceNamesWhoDeletedWhat compares what the logs of a control plane are said to tell with what was done.
func TestTraceNamesWhoDeletedWhat(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	s := newSceneOf(t, testcluster.Options{
		Collector:      testcluster.Off,
		ManagerFlags:   []string{"use-service-account-credentials=true", "v=5"},
		APIServerFlags: auditFlags(t, log, ""),
	})
	s.defineTestKinds()
	w := &traced{witness: newWitness(s, watchedTypes...), log: log}
	var want []cascadeOf
	// add runs a deletion, and adds what it must look like.
	add := func(c cascadeOf, do func()) {
		c.begun = time.Now()
		do()
		c.end = time.Now()
		want = append(want, c)
	}
	asked := func(c cascadeOf, user, verb, policy string, do func()) {
		c.role, c.user, c.verb, c.policy, c.why = trace.RoleUser, user, verb, policy, reason.AskedFor("").Code
		add(c, do)
	}
	options := func(policy metav1.DeletionPropagation) metav1.DeleteOptions {
		return metav1.DeleteOptions{PropagationPolicy: &policy}
	}
	background := options(metav1.DeletePropagationBackground)
	ann, bob := w.as("ann@example.com", "shop-team"), w.as("bob@example.com", "platform-team")
	settling := s.namespace("settling")

	// The incident that this project began with. The pod garbage collector waits for 40 seconds; so this begins first.
	ours, monitoring := s.namespace("redis"), s.namespace("monitoring")
	cluster := s.create(widget(ours, "redis-0826"))
	s.create(workload("StatefulSet", ours, "redis", ownedBy(referenceTo(cluster, controlling, blocking))))
	s.create(workload("StatefulSet", monitoring, "redis-exporter", ownedBy(referenceTo(cluster, controlling, blocking))))
	w.awaitCount(ours, "pods", 1)
	w.awaitCount(monitoring, "pods", 1)
	on := s.namespace("on-node")
	node := s.create(newObject("v1", "Node", "", "node-of-"+on))
	s.create(newObject("v1", "Node", "", "other-"+on))
	s.create(pod(on, "bare", onNode(node.GetName())))
	s.create(pod(on, "owned", onNode(node.GetName()), ownedBy(referenceTo(s.create(configMap(on, "operator")), controlling))))
	s.create(pod(on, "elsewhere", onNode("other-"+on)))
	s.create(pod(on, "waiting"))
	asked(cascadeOf{
		name: "a Node", ns: on, also: []string{"nodes/" + node.GetName()}, root: "nodes/" + node.GetName(), group: "platform-team", least: []string{"pods/bare", "pods/owned"},
	}, "bob@example.com", "delete", "Background", func() {
		s.must(w.clientOf(bob, node).Delete(s.Context(), node.GetName(), background))
	})
	crd := definition("trace.example.com", "Trace", "Namespaced", version("v1", true))
	s.define(crd) // before the collector starts, which looks for new kinds every 30 seconds
	w.watch("trace.example.com/v1 traces")
	restarted := time.Now()
	s.switchCollector(testcluster.On)
	w.awaitGoneIn(monitoring, "statefulsets", "pods", "controllerrevisions")
	want = append(want, cascadeOf{
		name: "redis-exporter", ns: monitoring, role: trace.RoleCollector, user: collectorAccount, verb: "delete", policy: "Background",
		why: reason.OwnersAbsent(nil).Code, root: "statefulsets/redis-exporter", begun: restarted, end: time.Now(), least: []string{"statefulsets/redis-exporter", "pods/", "controllerrevisions/"},
	})

	// Deployments that a service account deletes. The dependents of one stay.
	accounts := s.namespace("accounts")
	deployer := w.asAccount(accounts, "deployer")
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		ns := s.namespace("by-" + strings.ToLower(string(policy)))
		web := s.create(workload("Deployment", ns, "web"))
		s.create(configMap(ns, "settings", ownedBy(referenceTo(web))))
		w.awaitCount(ns, "pods", 2)
		c := cascadeOf{
			name: "a Deployment with " + string(policy), ns: ns, root: "deployments/web", least: []string{"deployments/web"},
			role: trace.RoleServiceAccount, user: "system:serviceaccount:" + accounts + ":deployer", group: "system:serviceaccounts:" + accounts,
			verb: "delete", policy: string(policy), why: reason.AskedFor("").Code,
		}
		if policy != metav1.DeletePropagationOrphan {
			c.least = append(c.least, "replicasets/web", "pods/web", "configmaps/settings")
		}
		add(c, func() { s.must(w.clientOf(deployer, web).Delete(s.Context(), "web", options(policy))) })
		s.awaitGone(web)
		if policy != metav1.DeletePropagationOrphan {
			w.awaitGoneIn(ns, "deployments", "replicasets", "pods")
		}
	}

	// A namespace.
	shop := s.namespace("shop")
	s.create(workload("Deployment", shop, "web"))
	s.create(claimOf(shop, "data"))
	s.create(secret(shop, "credentials"))
	top := s.create(widget(shop, "top"))
	s.create(configMap(shop, "below", ownedBy(referenceTo(top))))
	w.awaitCount(shop, "pods", 2)
	space := s.live(newObject("v1", "Namespace", "", shop))
	asked(cascadeOf{
		name: "a namespace", ns: shop, also: []string{"namespaces/" + shop}, root: "namespaces/" + shop, group: "shop-team", inferred: true,
		least: []string{"deployments/web", "persistentvolumeclaims/data", "secrets/credentials", "widgets/top", "configmaps/below", "pods/"},
	}, "ann@example.com", "delete", "Background", func() {
		s.must(w.clientOf(ann, space).Delete(s.Context(), shop, background))
	})

	// A CustomResourceDefinition with instances, one of which owns another object.
	custom := s.namespace("custom")
	first := s.create(newObject("trace.example.com/v1", "Trace", custom, "first"))
	s.create(newObject("trace.example.com/v1", "Trace", custom, "second"))
	s.create(configMap(custom, "of-first", ownedBy(referenceTo(first))))
	asked(cascadeOf{
		name: "a CustomResourceDefinition", ns: custom, also: []string{"customresourcedefinitions/" + crd.GetName()}, root: "customresourcedefinitions/" + crd.GetName(),
		least: []string{"traces/first", "traces/second", "configmaps/of-first"}, inferred: true,
	}, "ann@example.com", "delete", "Background", func() {
		s.must(w.clientOf(ann, crd).Delete(s.Context(), crd.GetName(), background))
	})

	// A Job whose time has come.
	jobs := s.namespace("jobs")
	done := job(jobs, "done")
	maps.Copy(done.Object["spec"].(map[string]any), map[string]any{"completions": int64(1), "parallelism": int64(1), "ttlSecondsAfterFinished": int64(1)})
	s.create(done)
	worker := w.awaitCount(jobs, "pods", 1)[0]
	_, err := s.client(pod(jobs, "")).Patch(s.Context(), worker.Name, types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
	s.must(err)
	add(cascadeOf{
		name: "a Job with a TTL", ns: jobs, role: trace.RoleTTL, user: ttlAccount, verb: "delete", policy: "Foreground",
		why: reason.TTLExpired.Code, root: "jobs/done", least: []string{"jobs/done", "pods/done"},
	}, func() { w.awaitGoneIn(jobs, "jobs", "pods") })

	// An eviction.
	evictions := s.namespace("evictions")
	s.create(pod(evictions, "evicted"))
	asked(cascadeOf{name: "an eviction", ns: evictions, root: "pods/evicted", least: []string{"pods/evicted"}}, "bob@example.com", "evict", "Default", func() {
		_, err := w.clientOf(bob, pod(evictions, "evicted")).Create(s.Context(), newObject("policy/v1", "Eviction", evictions, "evicted").Unstructured, metav1.CreateOptions{}, "eviction")
		s.must(err)
	})
	want[len(want)-1].why = reason.Evicted("").Code

	// A collection.
	collection := s.namespace("collection")
	several := s.create(configMap(collection, "one", labelled("app", "web")))
	s.create(configMap(collection, "two", labelled("app", "web"), ownedBy(referenceTo(several))))
	s.create(role(collection, "below", ownedBy(referenceTo(several))))
	s.create(configMap(collection, "other"))
	asked(cascadeOf{name: "a collection", ns: collection, least: []string{"configmaps/one", "configmaps/two", "roles/below"}}, "bob@example.com", "deletecollection", "Background", func() {
		s.must(w.clientOf(bob, several).DeleteCollection(s.Context(), background, metav1.ListOptions{LabelSelector: "app=web"}))
	})
	want[len(want)-1].why = reason.InCollection("").Code

	// Two objects that had one name, one after the other.
	names := s.namespace("names")
	former := s.create(configMap(names, "reused"))
	s.create(configMap(names, "of-former", ownedBy(referenceTo(former))))
	s.must(w.clientOf(ann, former).Delete(s.Context(), "reused", background))
	latter := s.create(configMap(names, "reused"))
	s.create(configMap(names, "of-latter", ownedBy(referenceTo(latter))))
	s.must(w.clientOf(bob, latter).Delete(s.Context(), "reused", background))

	s.awaitGone(space)
	s.awaitGone(crd)
	// The pod garbage collector looks every 20 seconds.
	s.must(wait.PollUntilContextTimeout(s.Context(), time.Second, 2*time.Minute, true, func(context.Context) (bool, error) {
		return len(w.awaitCount(on, "pods", 2)) == 2, nil
	}))
	w.awaitQuiet(settling)

	r := w.report(log, w.managerLog())
	for _, c := range want {
		w.requireCascade(r, c)
	}
	if c := r.Select(trace.Question{Type: "sts", Namespace: monitoring, Name: "redis-exporter"}); c == nil || len(c.Cascades[0].Deletions[0].Circumstances) != 1 ||
		c.Cascades[0].Deletions[0].Circumstances[0].Code != reason.CollectorRestarted(time.Time{}).Code {
		t.Errorf("redis-exporter: no restart of the collector: %+v", c)
	}
	for _, o := range []struct {
		object
		by string
	}{{former, "ann@example.com"}, {latter, "bob@example.com"}} {
		below := r.Select(trace.Question{Type: "configmap", Namespace: names, Name: map[string]string{"ann@example.com": "of-former", "bob@example.com": "of-latter"}[o.by]})
		c := r.Select(trace.Question{UID: string(o.GetUID())})
		if c == nil || actingAs(c.Cascades[0].By) != o.by || c.Cascades[0].Unexplained || c.Cascades[0].Objects != 2 || below == nil || below.Cascades[0].Deletions[0].Object.UID != o.GetUID() {
			t.Errorf("an object of a reused name: %+v and %+v, want it deleted by %s", c, below, o.by)
		}
	}
	if c := r.Select(trace.Question{Type: "configmap", Namespace: names, Name: "reused"}); c == nil || actingAs(c.Cascades[0].By) != "bob@example.com" || len(c.Target.Others) != 1 {
		t.Errorf("the name that was reused: %+v", c)
	}
	// Without the log of kube-controller-manager, the answers are the same.
	alone := w.report(log)
	for _, c := range want {
		w.requireCascade(alone, c)
	}
	s.gc("trace", "--audit-log", log, "-o", "wide").exits(t, 0).shows(t, "Namespace/"+shop, "ann@example.com", "Deployment/web in by-background", "service account "+accounts+"/deployer",
		"Job/done in "+jobs, "redis-0826, is in another namespace ("+ours+")")
	s.gc("trace", "statefulset/redis-exporter", "-n", monitoring, "--audit-log", log, "--controller-log", w.managerLog()).exits(t, 0).shows(t,
		"was deleted by the garbage collector", "Nobody asked for this deletion", "The garbage collector had started at", "Pod/redis-exporter-0")
	s.gc("trace", "pod/bare", "-n", on, "--audit-log", log).exits(t, 0).shows(t, "Node/"+node.GetName(), "Started by admin as bob@example.com (groups platform-team,")
	s.gc("trace", "pod/elsewhere", "-n", on, "--audit-log", log).exits(t, 1).shows(t, "No deletion of")
	w.requireCollected("the log of kube-controller-manager alone, -v=5", w.report(w.managerLog()), w.collected(), true)
}

// TestTraceFromTheManagersLogAtItsUsualLevel has what all clusters have: kube-controller-manager's log at -v=2.
func TestTraceFromTheManagersLogAtItsUsualLevel(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	s := newSceneOf(t, testcluster.Options{
		Collector:      testcluster.Off,
		ManagerFlags:   []string{"use-service-account-credentials=true", "v=2"},
		APIServerFlags: auditFlags(t, log, ""),
	})
	s.defineTestKinds()
	w := &traced{witness: newWitness(s, watchedTypes...), log: log}
	redis, monitoring, ns := s.namespace("redis"), s.namespace("monitoring"), s.namespace("web")
	exporter := s.create(configMap(monitoring, "redis-exporter", ownedBy(referenceTo(s.create(widget(redis, "redis-0826"))))))
	s.switchCollector(testcluster.On)
	s.awaitGone(exporter)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		top := s.create(configMap(ns, "by-"+strings.ToLower(string(policy))))
		below := s.create(configMap(ns, top.GetName()+"-child", ownedBy(referenceTo(top, blocking))))
		s.create(configMap(ns, top.GetName()+"-grandchild", ownedBy(referenceTo(below, blocking))))
		s.create(configMap(ns, top.GetName()+"-other", ownedBy(referenceTo(top))))
		s.remove(top, policy)
	}
	w.awaitQuiet(ns)
	r := w.report(w.managerLog())
	w.requireCollected("the log of kube-controller-manager alone, -v=2", r, w.collected(), false)
	c := r.Select(trace.Question{UID: string(exporter.GetUID())})
	if c == nil || c.Cascades[0].Unexplained || c.Cascades[0].Root.Code != reason.OwnersAbsent(nil).Code {
		t.Errorf("redis-exporter: %+v", c)
	}
}
