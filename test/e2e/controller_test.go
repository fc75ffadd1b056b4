package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// collectionStep is a line of controller -o jsonl.
type collectionStep struct {
	Time   time.Time
	Action string
	Object identity
	Status string
	Because
}

// runController returns the command line of the collector in service for one namespace, with its
// Lease there.
func runController(ns, backups string, more ...string) []string {
	return append([]string{"controller", "--yes", "-n", ns, "--leader-elect-namespace", ns, "--backup-dir", backups, "-o", "jsonl"}, more...)
}

const collecting = "collecting garbage until interrupted"

// collected returns the steps that a collector in service has written so far.
func (p *process) collected() []collectionStep {
	p.Helper()
	var out []collectionStep
	d := json.NewDecoder(strings.NewReader(p.stdout.String()))
	d.DisallowUnknownFields()
	for {
		var step collectionStep
		if err := d.Decode(&step); err == io.EOF {
			return out
		} else if err != nil {
			p.Fatalf("%v in %s", err, p.stdout)
		}
		out = append(out, step)
	}
}

// terminate sends SIGTERM and waits for the end.
func (p *process) terminate() result {
	p.Helper()
	p.must(p.cmd.Process.Signal(syscall.SIGTERM))
	return p.wait()
}

func (s *scene) awaitGone(objects ...object) {
	s.Helper()
	for _, o := range objects {
		s.await("the collection of "+o.GetKind()+"/"+o.GetName(), func(context.Context) (bool, error) { return s.gone(o), nil })
	}
}

// countGone returns how many of the objects are gone.
func (s *scene) countGone(objects []object) int {
	s.Helper()
	n := 0
	for _, o := range objects {
		if s.gone(o) {
			n++
		}
	}
	return n
}

// collectorLease returns the Lease of the collectors in service of a namespace.
func collectorLease(ns string) object {
	return newObject("coordination.k8s.io/v1", "Lease", ns, "kubectl-gc-controller")
}

// collectorLeader returns the holder of that Lease, empty if it is free.
func (s *scene) collectorLeader(ns string) string {
	s.Helper()
	holder, _, err := unstructured.NestedString(s.live(collectorLease(ns)).Object, "spec", "holderIdentity")
	s.must(err)
	return holder
}

// read returns the body of an answer of a collector's own server.
func (p *process) read(url string) string {
	p.Helper()
	answer, err := http.Get(url) //nolint:noctx // it is on this machine
	p.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	p.must(err)
	if answer.StatusCode != http.StatusOK {
		p.Errorf("%s answers %s: %s", url, answer.Status, body)
	}
	return string(body)
}

func TestControllerCollectsWhatBecomesGarbage(t *testing.T) {
	s := newScene(t)
	ns, backups := s.namespace("service"), filepath.Join(t.TempDir(), "backups")
	early := s.createGarbage(ns, 2)
	address := fmt.Sprintf("127.0.0.1:%d", s.unusedPort())
	p := s.tool().start(runController(ns, backups, "--metrics-bind-address", address)...)
	p.awaitText(collecting)
	s.awaitGone(early...)

	owner := s.create(configMap(ns, "owner"))
	middle := s.create(secret(ns, "middle", ownedBy(referenceTo(owner, controlling, blocking))))
	below := s.create(configMap(ns, "below", ownedBy(referenceTo(middle)), withField("data", map[string]any{"k": "v"})))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), referenceTo(s.create(secret(ns, "keeper"))))))
	orphaned := s.create(secret(ns, "orphaned", ownedBy(referenceTo(s.create(configMap(ns, "orphaning"))))))
	s.remove(configMap(ns, "orphaning"), metav1.DeletePropagationOrphan)
	s.remove(owner, metav1.DeletePropagationForeground)
	s.awaitGone(below, middle, owner, configMap(ns, "orphaning"))
	s.await("the references to be removed", func(context.Context) (bool, error) {
		return len(s.live(shared).GetOwnerReferences()) == 1 && len(s.live(orphaned).GetOwnerReferences()) == 0, nil
	})

	page := p.read("http://" + address + "/metrics")
	for _, want := range []string{"kubectl_gc_controller_leader 1\n", `kubectl_gc_controller_rounds_total{result="failed"} 0`, `kubectl_gc_controller_steps_total{action="delete",status="failed"} 0`} {
		if !strings.Contains(page, want) {
			t.Errorf("/metrics has no %q:\n%s", want, short(page))
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := p.read("http://" + address + path); got != "ok\n" {
			t.Errorf("%s answers %q", path, got)
		}
	}

	p.terminate().exits(t, 130).warns(t, "stopped: interrupted")
	if holder := s.collectorLeader(ns); holder != "" {
		t.Errorf("the Lease is still held by %s", holder)
	}
	deleted := map[string]bool{}
	for _, step := range p.collected() {
		// A step before the event of a dependent is skipped and tried again; one at the end is not begun.
		early := step.Status == "skipped" && (step.Reason == "DependentExists" || step.Reason == "Interrupted")
		if step.Status != "done" && !early || step.Time.IsZero() || step.Reason == "" || step.Message == "" {
			t.Errorf("it reports %+v", step)
		}
		if step.Action == "delete" && step.Status == "done" {
			if deleted[step.Object.UID] {
				t.Errorf("it deletes %s twice", step.Object)
			}
			deleted[step.Object.UID] = true
		}
	}
	root := backups
	s.requirePrivate(root)
	s.requireBackedUp(root, append(early, middle, below)...)

	// The backup of each round is one as any other.
	folders, err := os.ReadDir(root)
	s.must(err)
	for i := len(folders); i > 0; i-- {
		s.gc("restore", filepath.Join(root, folders[i-1].Name()), "-n", ns, "--yes").exits(t, 0)
	}
	restored := s.live(below)
	if diff := sameObject(below, s.allBackupManifests(root)[string(below.GetUID())]); diff != "" || restored.Object["data"].(map[string]any)["k"] != "v" {
		t.Errorf("restored: %v %s", restored.Object, diff)
	}
}

// interruptingProxy interrupts the collector while its first three writes are under way.
func TestControllerCompletesWritesUnderWayWhenInterrupted(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("interrupted")
	objects := s.createGarbage(ns, 40)
	f, run := s.interruptingProxy(3)
	p := run(runController(ns, t.TempDir(), "--concurrency=3")...)
	p.wait().exits(t, 130).warns(t, "stopped: interrupted")
	done := 0
	for _, step := range p.collected() {
		if step.Status == "done" {
			done++
		}
	}
	gone := s.countGone(objects)
	if gone != done || done < 3 || done == len(objects) {
		t.Errorf("%d objects are gone, and it reports %d of %d", gone, done, len(objects))
	}
	writes := f.recordedWrites()
	if last := writes[len(writes)-1]; last.name() != "kubectl-gc-controller" || !strings.Contains(last.Body, `"holderIdentity":""`) {
		t.Errorf("the last write is %s %s %s, and not the release of the Lease", last.Method, last.Path, last.Body)
	}
}

// test/simulation has everything that can happen in between.
func TestControllerOnlyOneOfTwoInstancesActs(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("pair")
	first := s.tool().start(runController(ns, t.TempDir())...)
	first.awaitText(collecting)
	second := s.tool().start(runController(ns, t.TempDir())...)
	second.awaitText("waiting: the Lease " + ns + "/kubectl-gc-controller is held by " + s.collectorLeader(ns))
	s.awaitGone(s.createGarbage(ns, 3)...)
	s.must(first.cmd.Process.Kill())
	first.wait().exits(t, -1)
	if taken := second.collected(); len(taken) > 0 {
		t.Errorf("the second instance acts while the first one holds the Lease: %+v", taken)
	}
	s.patch(collectorLease(ns), `{"spec":{"leaseDurationSeconds":1}}`) // it would take 15 seconds
	second.awaitText(collecting)
	s.awaitGone(s.createGarbage(ns, 3)...)
	s.patch(collectorLease(ns), `{"spec":{"holderIdentity":"somebody"}}`)
	second.wait().exits(t, 1).warns(t, `the lease was lost: "somebody" holds it`)
}

func TestControllerLeavesOutTooManyDeletes(t *testing.T) {
	s := newScene(t)
	ns, backups := s.namespace("many"), t.TempDir()
	objects := s.createGarbage(ns, 5)
	p := s.tool().start(runController(ns, backups, "--max-deletes=4")...)
	p.awaitText("left out, because this would delete more at once than --max-deletes allows (4): namespace " + ns + " (5 objects)")
	p.terminate().exits(t, 130)
	s.requireUnchanged(objects...)
	if holder := s.collectorLeader(ns); holder != "" {
		t.Errorf("the Lease is still held by %s", holder)
	}
	if left, err := os.ReadDir(backups); err != nil || len(left) > 0 {
		t.Errorf("it left %v in the backup folder: %v", left, err)
	}
}

func TestControllerRefusesBesideKubeControllerManager(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("beside")
	manager := newObject("coordination.k8s.io/v1", "Lease", "kube-system", "kube-controller-manager")
	manager.Object["spec"] = map[string]any{"holderIdentity": "master-1", "leaseDurationSeconds": int64(1), "renewTime": "2026-11-24T08:00:00.000000Z"}
	s.create(manager)
	orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	n := int64(0)
	renew := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var renewing sync.WaitGroup
		renewing.Go(func() {
			wait.UntilWithContext(ctx, func(ctx context.Context) {
				n++
				body := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Unix(n, 0).UTC().Format(metav1.RFC3339Micro))
				_, _ = s.client(manager).Patch(ctx, manager.GetName(), types.MergePatchType, []byte(body), metav1.PatchOptions{}) // the run shows an error
			}, 100*time.Millisecond)
		})
		return func() {
			cancel()
			renewing.Wait()
		}
	}
	refuses := func(r result) {
		t.Helper()
		r.exits(t, 1).warns(t, `kube-controller-manager runs ("master-1" renews its lease)`, "use --allow-running-collector")
	}

	stop := renew()
	refuses(s.gc(runController(ns, t.TempDir())...))
	s.requireUnchanged(orphan)
	allowed := s.tool().start(runController(ns, t.TempDir(), "--allow-running-collector")...)
	s.awaitGone(orphan)
	allowed.terminate().exits(t, 130)
	stop()

	// A manager that renews its lease no longer is no reason to refuse, until it is alive again.
	again := s.create(configMap(ns, "again", ownedBy(missingOwner())))
	alone := s.tool().start(runController(ns, t.TempDir())...)
	s.awaitGone(again)
	stop = renew()
	refuses(alone.wait())
	stop()
	if holder := s.collectorLeader(ns); holder != "" {
		t.Errorf("the Lease is still held by %s", holder)
	}
}

func TestControllerLeavesDependentsOfUnreadableTypesAlone(t *testing.T) {
	s := newScene(t)
	ns, user := s.namespace("gap"), fmt.Sprintf("service-%d", users.Add(1))
	every := []any{"get", "list", "watch", "delete", "patch", "create"}
	s.grant(user, ns, []any{"coordination.k8s.io"}, []any{"leases"}, every)
	s.grant(user, "", []any{""}, []any{"configmaps"}, every)
	left := s.create(configMap(ns, "left", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	p := s.tool().start(runController(ns, t.TempDir(), "--allow-running-collector", "--as", user)...)
	p.awaitText("could not read, and leaves alone what depends on it")
	orphan := s.create(configMap(ns, "orphan", ownedBy(reference("v1", "ConfigMap", "gone", "gone"))))
	s.awaitGone(orphan)
	s.requireUnchanged(left)
	s.patch(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", user+"-e2e"), `{"rules":[{"apiGroups":[""],"resources":["configmaps","secrets"],"verbs":["get","list","watch","delete","patch"]}]}`)
	s.awaitGone(left)
	p.terminate().exits(t, 130)
}
