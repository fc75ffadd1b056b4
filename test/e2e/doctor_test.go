package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

type diagnosis struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Complete   bool   `json:"complete"`
	Gaps       []gap  `json:"gaps"`
	State      string `json:"state"`
	Because
	Checks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Because
	} `json:"checks"`
	Suggestions []struct {
		Sentence string   `json:"sentence"`
		Command  []string `json:"command"`
	} `json:"suggestions"`
}

// other returns the checks that are not ok, with their reasons.
func (d diagnosis) other() []string {
	var out []string
	for _, c := range d.Checks {
		if c.Status != "ok" {
			out = append(out, c.Status+" "+c.ID+": "+c.Reason)
		}
	}
	return out
}

// detail returns the message of a check.
func (d diagnosis) detail(id string) string {
	for _, c := range d.Checks {
		if c.ID == id {
			return c.Message
		}
	}
	return ""
}

// fastLease makes kube-controller-manager hold a lease that is lost quickly.
var fastLease = []string{"leader-elect=true", "leader-elect-lease-duration=3s", "leader-elect-renew-deadline=2s", "leader-elect-retry-period=500ms"}

func (t tool) doctor(code int, args ...string) diagnosis {
	t.Helper()
	return decode[diagnosis](t, t.gc(append([]string{"doctor", "-o", "json"}, args...)...).exits(t, code))
}

// awaitProbe waits for the ConfigMap whose deletion doctor sends as a dry run.
func (s *scene) awaitProbe() {
	s.Helper()
	s.await("ConfigMap kube-root-ca.crt", func(ctx context.Context) (bool, error) {
		_, err := s.client(configMap("default", "")).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, nil
	})
}

// leader returns the holder of the lease of kube-controller-manager.
func (s *scene) leader() string {
	s.Helper()
	lease := s.live(newObject("coordination.k8s.io/v1", "Lease", "kube-system", "kube-controller-manager"))
	name, _, err := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	s.must(err)
	return name
}

// replaceLeader switches the collector and waits until the new kube-controller-manager holds the
// lease.
func (s *scene) replaceLeader(to string) {
	s.Helper()
	before := s.leader()
	s.switchCollector(to)
	s.await("another leader", func(context.Context) (bool, error) { now := s.leader(); return now != "" && now != before, nil })
}

// requireNoCanary reports what a canary has left in a namespace.
func (s *scene) requireNoCanary(namespace string) {
	s.Helper()
	if left := s.canaries(namespace); len(left) > 0 {
		s.Errorf("the canary leaves %v", left)
	}
}

func (s *scene) canaries(namespace string) []string {
	s.Helper()
	found, err := s.client(configMap(namespace, "")).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	var out []string
	for _, o := range found.Items {
		if strings.HasPrefix(o.GetName(), "gc-canary-") {
			out = append(out, o.GetName())
		}
	}
	return out
}

// require reports an error unless the diagnosis has this state, conclusion, and these checks that
// are not ok.
func (d diagnosis) require(t *testing.T, state, conclusion string, other ...string) {
	t.Helper()
	if d.State != state || d.Reason != conclusion {
		t.Errorf("it concludes %s, %s (%s), want %s, %s", d.State, d.Reason, d.Message, state, conclusion)
	}
	if diff := cmp.Diff(other, d.other()); diff != "" {
		t.Errorf("checks that are not ok (-want +got)\n%s", diff)
	}
}

func TestDoctor(t *testing.T) {
	s := newSceneOf(t, testcluster.Options{ManagerFlags: fastLease})
	ns := s.namespace("patient")
	s.awaitProbe()

	t.Run("finds no fault in a cluster whose collector is at work", func(t *testing.T) {
		s.create(configMap(ns, "owned", ownedBy(referenceTo(s.create(secret(ns, "owner"))))))
		s.tool().doctor(0).require(t, "unverified", "CollectorUnverified")
	})
	t.Run("sees the collector delete a canary", func(t *testing.T) {
		s.tool().doctor(0, "--canary", ns).require(t, "working", "CollectorWorks")
		s.requireNoCanary(ns)
	})
	t.Run("names the service behind an API that does not answer", func(t *testing.T) {
		s := s.forSubtest(t)
		const group = "doctor.example.com"
		s.brokenAPIService(group)
		d := s.tool().doctor(1)
		d.require(t, "hindered", "CollectorHindered", "fail api-discovery: GroupsUnavailable")
		if got, want := d.detail("api-discovery"), group+"/v1: APIService/v1."+group+", service default/nowhere does not exist"; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		for i, verb := range []string{"describe", "delete"} {
			if got, want := d.Suggestions[i].Command, []string{"kubectl", verb, "apiservice", "v1." + group}; !slices.Equal(got, want) {
				t.Errorf("suggestion %d is %v, want %v", i+1, got, want)
			}
		}
	})
	t.Run("names the service of a conversion webhook that does not answer", func(t *testing.T) {
		s := s.forSubtest(t)
		const group = "convert.example.com"
		crd := definition(group, "Relic", "Namespaced", version("v1", true), version("v2", true))
		s.create(newObject("v1", "Service", ns, "converter", withField("spec", map[string]any{"ports": []any{map[string]any{"port": int64(443)}}})))
		crd.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"service": map[string]any{"namespace": ns, "name": "converter"}},
		}}
		s.define(crd)
		s.create(newObject(group+"/v1", "Relic", ns, "relic"))
		d := s.tool().doctor(1)
		d.require(t, "hindered", "CollectorHindered", "fail resource-lists: TypesNotListed")
		if got, want := d.detail("resource-lists"), "relics."+group+": conversion webhook, service "+ns+"/converter has no endpoints"; !strings.HasSuffix(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	})
	t.Run("says what the user may not read", func(t *testing.T) {
		s := s.forSubtest(t)
		s.grant("alice", "", []any{"*"}, []any{"configmaps", "namespaces"}, []any{"list", "get"})
		for _, id := range s.toolAs("alice").doctor(0).other() {
			if !strings.HasPrefix(id, "unknown ") {
				t.Errorf("without rights it says %s", id)
			}
		}
	})
	t.Run("finds that nothing is collected while the collector is off", func(t *testing.T) {
		s := s.forSubtest(t)
		s.replaceLeader(testcluster.Off)
		s.createGarbage(ns, 3)
		s.tool().doctor(1, "--settle", "2s").require(t, "not-working", "CollectorIdle", "fail garbage: GarbageLeft")
		s.gc("doctor", "--settle", "2s").exits(t, 1).shows(t,
			"The garbage collector does nothing, although kube-controller-manager is running",
			"3 objects to collect, not processed for at least 2s, such as ConfigMap/orphan-000 in "+ns, "kubectl gc collect --dry-run")
	})
	t.Run("removes a canary that is not collected", func(t *testing.T) {
		s.tool().doctor(1, "--settle", "1s", "--canary", ns).require(t, "not-working", "CollectorIdle", "fail canary: CanaryNotCollected")
		s.requireNoCanary(ns)
	})
	t.Run("removes the canary of a run that was killed", func(t *testing.T) {
		s := s.forSubtest(t)
		deleting, killed := make(chan struct{}), make(chan struct{})
		f := s.throughProxy(func(http.Handler) []fault {
			return []fault{{func(r *http.Request) bool {
				return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/gc-canary-")
			}, func(http.ResponseWriter, *http.Request) {
				close(deleting)
				<-killed
			}}}
		}).allowWrites()
		p := f.start("doctor", "--settle", "1s", "--canary", ns)
		<-deleting
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.wait()
		close(killed)
		if left := s.canaries(ns); len(left) != 2 {
			t.Fatalf("the killed run leaves %v, want both objects", left)
		}
		s.tool().doctor(1, "--settle", "1s", "--canary", ns)
		s.requireNoCanary(ns)
	})
	t.Run("waits for the manager that takes over a released lease", func(t *testing.T) {
		s := s.forSubtest(t)
		s.switchCollector(testcluster.Absent)
		s.patch(newObject("coordination.k8s.io/v1", "Lease", "kube-system", "kube-controller-manager"),
			fmt.Sprintf(`{"spec":{"holderIdentity":"","leaseDurationSeconds":1,"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro)))
		s.gc().exits(t, 0).shows(t, "The controller manager released its lease ")
		p := s.tool().start("doctor")
		s.switchCollector(testcluster.On)
		p.wait().exits(t, 0).shows(t, " renews its lease")
	})
	t.Run("finds that kube-controller-manager was killed", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		if err := s.controlPlane.KillManager(ctx); err != nil {
			t.Fatal(err)
		}
		d := s.tool().doctor(1, "--settle", "1ms", "--request-timeout", time.Minute.String())
		d.require(t, "not-working", "ManagerDown", "fail leader: LeaderSilent")
	})
}

func TestDoctorFindsAnAPIServerWithoutGarbageCollection(t *testing.T) {
	s := newSceneOf(t, testcluster.Options{Collector: testcluster.Off, APIServerFlags: []string{"enable-garbage-collector=false"}})
	s.awaitProbe()
	s.tool().doctor(1).require(t, "not-working", "CollectorDisabled",
		"fail api-server: ForegroundDeletionIgnored", "unknown leader: NoLease")
}

// A dry run that the server stores would delete the object.
func TestDoctorWritesNothing(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns := s.namespace("doctor")
	s.create(configMap(ns, "kube-root-ca.crt"))
	f := s.throughProxy(nil).allowWrites()
	f.gc("doctor")
	writes := f.recordedWrites()
	if len(writes) != 1 || writes[0].Method != http.MethodDelete || writes[0].name() != "kube-root-ca.crt" || !strings.Contains(writes[0].Body, `"dryRun":["All"]`) {
		t.Errorf("it sends %+v, want one deletion of kube-root-ca.crt, as a dry run", writes)
	}
}
