package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	gcobject "github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// watched is a Monitor and a client that scans the same cluster.
type watched struct {
	*scene
	*monitor.Monitor
	client *client.Client
	scope  scan.Scope
}

func (s *scene) monitor(config *rest.Config, o monitor.Settings) *watched {
	s.Helper()
	c, err := client.New(config, client.Config{ChunkSize: client.DefaultChunkSize, ChooseChunkSize: true, Concurrency: 8, Timeout: time.Minute})
	s.must(err)
	m, err := monitor.Start(s.Context(), c, o)
	s.must(err)
	s.Cleanup(m.Stop)
	s.must(m.WaitForSync(s.Context()))
	return &watched{s, m, c, o.Scope}
}

// scan returns what scan.Run returns.
func (w *watched) scan(ctx context.Context) (*snapshot.Snapshot, error) {
	discovered, err := discovery.Discover(ctx, w.client)
	if err != nil {
		return nil, err
	}
	return scan.Run(ctx, w.client, discovered, w.scope, time.Now)
}

// everything returns the Monitor's snapshot of all objects.
func (w *watched) everything(ctx context.Context) (*snapshot.Snapshot, error) {
	w.ForceEverything()
	all, err := w.SnapshotOfChanges(ctx)
	return all.Snapshot, err
}

// equals waits until the Monitor's snapshot equals a scan, apart from its time.
func (w *watched) equals(what string) {
	w.Helper()
	var diff string
	err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, waitTimeout, true, func(ctx context.Context) (bool, error) {
		scanned, err := w.scan(ctx)
		if err != nil {
			diff = err.Error()
			return false, nil
		}
		live, err := w.everything(ctx)
		if err != nil {
			diff = err.Error()
			return false, nil
		}
		live.Taken = scanned.Taken
		diff = cmp.Diff(strings.Split(w.saved(scanned), "\n"), strings.Split(w.saved(live), "\n"))
		return diff == "", nil
	})
	if err != nil {
		w.Fatalf("%s: %v; scan (-), monitor (+):\n%s", what, err, diff)
	}
}

func (w *watched) saved(s *snapshot.Snapshot) string {
	w.Helper()
	var out bytes.Buffer
	w.must(s.Save(&out))
	return out.String()
}

func TestMonitorEqualsScan(t *testing.T) {
	s := newScene(t)
	for name, scope := range map[string]scan.Scope{
		"of the whole cluster": {Labels: true, Running: true},
		"of namespaces":        {Namespaces: []string{"kube-system"}}, // and the test's own
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			ns := s.namespace("monitored")
			if scope.Namespaces != nil {
				scope.Namespaces = append(scope.Namespaces, ns)
			}
			seed := rand.Uint64()
			t.Log("seed", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			w := s.monitor(s.config, monitor.Settings{Scope: scope, DiscoveryInterval: 2 * time.Second})
			w.equals("at the start")
			var objects []object
			workload := func(steps int) {
				for range steps {
					objects = s.randomStep(random, ns, objects)
				}
			}
			workload(60)
			w.equals("after random changes")
			if got := w.Stats(); got.Relists != 0 || got.WatchErrors != 0 {
				t.Errorf("the changes did not come by watches alone: %+v", got)
			}
			crd := definition("monitor.kubectl-gc.dev", "Comet", "Namespaced", version("v1", true))
			s.define(crd)
			objects = append(objects, s.create(newObject("monitor.kubectl-gc.dev/v1", "Comet", ns, "halley", ownedBy(referenceTo(s.create(configMap(ns, "sun")))))))
			workload(20)
			w.equals("with a new type")
			if scope.Namespaces == nil {
				s.must(s.controlPlane.RestartAPIServer(s.Context()))
				workload(20)
				w.equals("after a restart of the API server")
			}
			s.remove(crd, metav1.DeletePropagationBackground)
			w.equals("without the new type")
		})
	}
}

// randomStep creates, changes or deletes an object.
func (s *scene) randomStep(random *rand.Rand, ns string, objects []object) []object {
	s.Helper()
	draw := func() int { return random.IntN(len(objects)) }
	switch n := random.IntN(10); {
	case n < 5 || len(objects) < 5:
		more := []func(object){labelled("n", fmt.Sprint(random.IntN(3)))}
		if len(objects) > 0 {
			more = append(more, ownedBy(referenceTo(objects[draw()])))
		}
		if random.IntN(4) == 0 {
			more = append(more, ownedBy(reference("v1", "ConfigMap", fmt.Sprint("missing-", random.IntN(3)), "no-such-uid")))
		}
		name := fmt.Sprintf("x-%d-%d", len(objects), random.IntN(1<<30))
		if random.IntN(2) == 0 {
			return append(objects, s.create(configMap(ns, name, more...)))
		}
		return append(objects, s.create(secret(ns, name, more...)))
	case n < 8:
		i := draw()
		objects[i] = s.setOwners(s.live(objects[i]), referenceTo(objects[draw()]), reference("example.com/v1", "Unknown", "x", "no-such-uid"))
		return objects
	default:
		i := draw()
		s.remove(objects[i], metav1.DeletePropagationBackground)
		return append(objects[:i], objects[i+1:]...)
	}
}

func TestMonitorOpensAndClosesGaps(t *testing.T) {
	s := newScene(t)
	rules := func(verbsOfSecrets ...any) []any {
		return []any{
			map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get", "list", "watch"}},
			map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": append(verbsOfSecrets, "get", "list")},
		}
	}
	s.grantRules("wendy", "", rules(), "list", "", "secrets")
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = "wendy"
	w := s.monitor(config, monitor.Settings{})
	live, err := w.everything(s.Context())
	s.must(err)
	const want = "could not be watched"
	isGap := func(g snapshot.Gap) bool {
		return g.Resource == "secrets" && g.Reason == snapshot.Forbidden && strings.Contains(g.Message, want)
	}
	if !slices.ContainsFunc(live.Gaps, isGap) {
		t.Fatalf("no gap of secrets that says %q: %v", want, live.Gaps)
	}
	w.drain()
	role := s.live(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", "wendy-e2e"))
	role.Object["rules"] = rules("watch")
	_, err = s.client(role).Update(s.Context(), role.Unstructured, metav1.UpdateOptions{})
	s.must(err)
	select {
	case <-w.Changed():
	case <-time.After(waitTimeout):
		t.Fatal("the gap was not closed")
	}
	w.equals("after the rights were given")
}

// drain receives what Changed reports at the moment.
func (w *watched) drain() {
	for {
		select {
		case <-w.Changed():
		default:
			return
		}
	}
}

func TestMonitorReportsOnlyChangesThatMatter(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lease")
	lease := s.create(newObject("coordination.k8s.io/v1", "Lease", ns, "holder"))
	w := s.monitor(s.config, monitor.Settings{DiscoveryInterval: time.Hour})
	w.equals("at the start")
	w.drain()
	for renewal := range 3 {
		lease.Object["spec"] = map[string]any{"holderIdentity": fmt.Sprint(renewal)}
		renewed, err := s.client(lease).Update(s.Context(), lease.Unstructured, metav1.UpdateOptions{})
		s.must(err)
		lease = object{renewed}
		s.await("the renewed Lease", func(ctx context.Context) (bool, error) {
			live, err := w.everything(ctx)
			return err == nil && slices.ContainsFunc(live.Objects, func(o *gcobject.Object) bool {
				return o.UID == lease.GetUID() && o.ResourceVersion == lease.GetResourceVersion()
			}), err
		})
		if len(w.Changed()) > 0 {
			t.Fatal("a renewed Lease is reported as a change")
		}
	}
	s.remove(lease, metav1.DeletePropagationBackground)
	select {
	case <-w.Changed():
	case <-time.After(waitTimeout):
		t.Fatal("the deletion was not reported")
	}
}
