package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestWatchCollectsLikeTheRealCollector runs one random workload on two control planes at the same
// time: one with the real collector, one with controller. Whenever both are at rest they
// must have the same objects, references and finalizers, and everything that had a solid owner all
// the time. OPERATIONS and SEEDS ask for more than the usual workload, and FAULTS=1 for restarts of
// the API servers, and an etcd that stands still.
func TestWatchCollectsLikeTheRealCollector(t *testing.T) {
	t.Parallel()
	operations, err := strconv.Atoi(cmp.Or(os.Getenv("OPERATIONS"), "240"))
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range graphs(t, 20261124) {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			churn(t, seed, operations, os.Getenv("FAULTS") != "")
		})
	}
}

// churnEpoch is how many operations there are from one rest to the next.
const churnEpoch = 120

// manyOperations is from how many operations on CRDs come and go, too. The real collector discovers new types
// after up to 30 seconds.
const manyOperations = 1000

func churn(t *testing.T, seed uint64, operations int, faults bool) {
	theirs := newChurnCluster(t, "the real collector", testcluster.On)
	ours := newChurnCluster(t, "controller", testcluster.Absent)
	stop := ours.startWatch()
	defer stop()
	w := newChurnWorkload(seed, operations > manyOperations)
	r := rand.New(rand.NewPCG(seed, 1))
	deleted := 0
	var before map[int]churnState
	for done, epoch := 0, 0; done < operations; epoch++ {
		todo := w.epoch(min(churnEpoch, operations-done))
		done += len(todo)
		existing := len(w.objects)
		var both sync.WaitGroup
		for _, c := range []*churnCluster{theirs, ours} {
			fault := -1
			if faults && r.IntN(3) == 0 {
				fault = r.IntN(len(todo))
			}
			kind := r.IntN(2)
			both.Go(func() { c.run(todo, fault, kind) })
		}
		both.Wait()
		if t.Failed() {
			t.FailNow()
		}
		wants, got := theirs.rest(w.kinds()), ours.rest(w.kinds())
		if !reflect.DeepEqual(wants, got) {
			t.Fatalf("after %d operations, in epoch %d, the real collector and ours differ:\n%s", done, epoch, churnDifference(before, wants, got, todo))
		}
		before = got
		for _, n := range w.untouched() {
			if _, there := got[n]; !there {
				t.Errorf("object %d had a solid owner all the time, and was deleted", n)
			}
		}
		deleted += existing
		w.adopt(got)
		deleted -= len(w.objects)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d objects were made, %d are left, after %d operations with the same result", w.last, len(w.objects), operations)
	if deleted == 0 {
		t.Error("the workload gave the collectors nothing to delete")
	}
}

// churnDifference describes the objects that differ, with their owners, and the operations on all of
// these. before is the state at the rest before.
func churnDifference(before, theirs, ours map[int]churnState, todo []churnOperation) string {
	var b strings.Builder
	states := []map[int]churnState{before, theirs, ours}
	related := map[int]bool{}
	for _, side := range states {
		for n := range side {
			if a, c := churnStateOf(theirs, n), churnStateOf(ours, n); a != c && !related[n] {
				related[n] = true
				fmt.Fprintf(&b, "object %d: before %s, theirs %s, ours %s\n", n, churnStateOf(before, n), a, c)
			}
		}
	}
	for n := range maps.Clone(related) {
		for _, side := range states {
			for _, owner := range side[n].Owners {
				related[owner] = true
			}
		}
	}
	for _, o := range todo {
		if related[o.of] {
			fmt.Fprintf(&b, "  %s\n", o)
		}
	}
	return b.String()
}

func churnStateOf(all map[int]churnState, n int) string {
	if state, exists := all[n]; exists {
		return fmt.Sprintf("%+v", state)
	}
	return "absent"
}

// churnCluster is a control plane on which the workload runs.
type churnCluster struct {
	*scene
	collector string // for messages
	uids      map[int]types.UID
	places    map[int]churnPlace
	probes    int // the number of the latest probe: -1, -2, …
	client    *client.Client
}

func newChurnCluster(t *testing.T, collector, mode string) *churnCluster {
	t.Helper()
	c := &churnCluster{scene: newSceneOf(t, testcluster.Options{Collector: mode}), collector: collector, uids: map[int]types.UID{}, places: map[int]churnPlace{}}
	c.created = nil
	for n := range churnNamespaces {
		space := newObject("v1", "Namespace", "", churnNamespace(n))
		_, err := c.scene.client(space).Create(t.Context(), space.Unstructured, metav1.CreateOptions{})
		c.must(err)
	}
	var err error
	if c.client, err = client.New(c.config, client.Config{Concurrency: 4, ChunkSize: client.DefaultChunkSize, ChooseChunkSize: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

func churnNamespace(n int) string { return fmt.Sprintf("churn-%d", n) }

// startWatch starts the program.
func (c *churnCluster) startWatch() (stop func()) {
	c.Helper()
	tool := c.tool()
	tool.limit = 10 * time.Hour
	p := tool.start("controller", "--yes", "--no-backup", "--leader-elect=false", "--max-deletes=1000000")
	return func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
		if r := p.wait(); r.Code != 130 {
			c.Errorf("controller ends with %d: %s", r.Code, r.Stderr)
		}
	}
}

// run runs the operations in their order. Before the operation with the number fault, the API
// server is restarted, or etcd stands still for a while.
func (c *churnCluster) run(todo []churnOperation, fault, kind int) {
	for i, o := range todo {
		if i == fault {
			if err := c.fault(kind); err != nil {
				c.Error(err)
				return
			}
		}
		if err := c.repeat(func(ctx context.Context) error { return c.do(ctx, o) }); err != nil {
			c.Errorf("%s: %v", o, err)
			return
		}
	}
}

func (c *churnCluster) fault(kind int) error {
	if kind == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
		defer cancel()
		return c.controlPlane.RestartAPIServer(ctx)
	}
	etcd, err := os.FindProcess(c.controlPlane.PIDs["etcd"])
	if err != nil {
		return err
	}
	if err := etcd.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.AfterFunc(2*time.Second, func() { _ = etcd.Signal(syscall.SIGCONT) })
	return nil
}

// repeat repeats an operation until the server answers.
func (c *churnCluster) repeat(do func(context.Context) error) error {
	var last error // says more than that the time is up
	_ = wait.PollUntilContextTimeout(c.Context(), pollInterval, waitTimeout, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, waitTimeout/6)
		defer cancel()
		last = do(ctx)
		_, answered := last.(apierrors.APIStatus)
		return last == nil || answered && !apierrors.IsInternalError(last) && !apierrors.IsServiceUnavailable(last) && !apierrors.IsTimeout(last) &&
			!apierrors.IsServerTimeout(last) && !apierrors.IsTooManyRequests(last) && !apierrors.IsForbidden(last), nil
	})
	return last
}

func (c *churnCluster) object(n int) object {
	at := c.places[n]
	apiVersion := "v1"
	if at.kind >= churnFirstCustom {
		apiVersion = customGroupOf(at.kind) + "/v1"
	}
	return newObject(apiVersion, churnKinds[at.kind], churnNamespace(at.namespace), fmt.Sprintf("o-%d", n))
}

func customGroupOf(kind int) string {
	return strings.ToLower(churnKinds[kind]) + "s.churn.example.com"
}

func (c *churnCluster) references(owners []churnReference) []metav1.OwnerReference {
	var out []metav1.OwnerReference
	for _, r := range owners {
		if r.owner == 0 {
			out = append(out, reference("v1", "ConfigMap", "nothing", "00000000-0000-0000-0000-000000000000"))
			continue
		}
		o := c.object(r.owner)
		blocks := r.blocks
		out = append(out, metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: c.uids[r.owner], BlockOwnerDeletion: &blocks})
	}
	return out
}

func (c *churnCluster) do(ctx context.Context, o churnOperation) error {
	switch o.do {
	case churnInstall:
		return c.install(ctx, o.of)
	case churnUninstall:
		crd := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", strings.ToLower(churnKinds[o.of])+"s."+customGroupOf(o.of))
		err := c.scene.client(crd).Delete(ctx, crd.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if _, err := c.scene.client(crd).Get(ctx, crd.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there: %w", crd.GetName(), err)
		}
		return nil
	case churnCreate:
		c.places[o.of] = o.at
		made := c.object(o.of)
		made.SetOwnerReferences(c.references(o.owners))
		if o.held {
			made.SetFinalizers([]string{churnFinalizer})
		}
		at := c.resource(made)
		live, err := at.Create(ctx, made.Unstructured, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // the answer of an earlier attempt was lost
			live, err = at.Get(ctx, made.GetName(), metav1.GetOptions{})
		}
		if err == nil {
			c.uids[o.of] = live.GetUID()
		}
		return err
	case churnDelete:
		at := c.object(o.of)
		return ignoreNotFound(c.resource(at).Delete(ctx, at.GetName(), metav1.DeleteOptions{PropagationPolicy: &o.policy}))
	case churnSetOwners:
		return c.patch(ctx, o.of, map[string]any{"ownerReferences": c.references(o.owners)})
	case churnSetFinalizer:
		return c.setFinalizer(ctx, o)
	}
	return fmt.Errorf("unknown operation %q", o.do)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *churnCluster) patch(ctx context.Context, n int, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	at := c.object(n)
	_, err = c.resource(at).Patch(ctx, at.GetName(), types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// setFinalizer adds or removes the finalizer of nobody, and leaves those of the collector.
func (c *churnCluster) setFinalizer(ctx context.Context, o churnOperation) error {
	at := c.object(o.of)
	live, err := c.resource(at).Get(ctx, at.GetName(), metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) && !o.held {
			return nil // an earlier attempt completed its deletion
		}
		return err
	}
	var finalizers []string
	for _, f := range live.GetFinalizers() {
		if f != churnFinalizer {
			finalizers = append(finalizers, f)
		}
	}
	if o.held {
		finalizers = append(finalizers, churnFinalizer)
	}
	err = c.patch(ctx, o.of, map[string]any{"finalizers": finalizers, "resourceVersion": live.GetResourceVersion()})
	if apierrors.IsConflict(err) {
		return fmt.Errorf("try again: %v", err)
	}
	if !o.held {
		return ignoreNotFound(err)
	}
	return err
}

func (c *churnCluster) install(ctx context.Context, kind int) error {
	crd := definition(customGroupOf(kind), churnKinds[kind], "Namespaced", version("v1", true))
	_, err := c.scene.client(crd).Create(ctx, crd.Unstructured, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if !c.discovered(customGroupOf(kind)+"/v1", strings.ToLower(churnKinds[kind])+"s") {
		return fmt.Errorf("%s is not served yet", crd.GetName())
	}
	return nil
}

func (c *churnCluster) resource(o object) dynamic.ResourceInterface {
	gvk := o.GroupVersionKind()
	return c.dynamic.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: strings.ToLower(gvk.Kind) + "s"}).Namespace(o.GetNamespace())
}

// restTimeout limits how long a collector may need until it has nothing left to do. The real one waits up to
// two minutes before it tries an object again with which it failed often, as it does while an API server
// starts, and while it has not discovered a new type.
const restTimeout = 5 * time.Minute

// rest waits until the collector has nothing left to do, and has seen all there is of these kinds. It
// returns what is there. It seldom looks: each look is a scan, for which the API server needs the CPU
// that the collector waits for.
func (c *churnCluster) rest(kinds []int) map[int]churnState {
	c.Helper()
	c.createProbes(kinds)
	numbers := map[types.UID]int{}
	for n, uid := range c.uids {
		numbers[uid] = n
	}
	var last error
	var s *snapshot.Snapshot
	err := wait.PollUntilContextTimeout(c.Context(), 250*time.Millisecond, restTimeout, true, func(ctx context.Context) (bool, error) {
		var p *plan.Plan
		if s, p, last = c.pass(ctx); last != nil {
			return false, nil
		}
		for _, step := range p.Steps {
			last = errors.Join(last, fmt.Errorf("%s %s %s/%s: %v", step.Action, step.Object.Kind, step.Object.Namespace, step.Object.Name, step.References))
		}
		return last == nil, nil
	})
	if err != nil {
		c.Fatalf("waiting for %s to rest: %v\n%v", c.collector, err, last)
	}
	exists := map[types.UID]bool{}
	for _, o := range s.Objects {
		exists[o.UID] = true
	}
	out := map[int]churnState{}
	for _, o := range s.Objects {
		n, ours := numbers[o.UID]
		if !ours {
			continue
		}
		state := churnState{Finalizers: o.Finalizers, Terminating: o.Terminating()}
		for _, r := range o.Owners {
			if state.Terminating && !exists[r.UID] {
				continue // was its owner gone first, or was the reference removed before the object was deleted?
			}
			state.Owners = append(state.Owners, numbers[r.UID])
			state.Blocks = append(state.Blocks, r.Blocks())
		}
		out[n] = state
	}
	return out
}

// createProbes creates one object of each kind whose owner does not exist. As a collector sees the events of a
// kind in their order, it has seen everything else of the kind once it has deleted that: after a fault
// its watches may be late, and then it deletes dependents that it should have left without an owner.
func (c *churnCluster) createProbes(kinds []int) {
	c.Helper()
	for _, kind := range kinds {
		c.probes--
		probe := churnOperation{do: churnCreate, of: c.probes, at: churnPlace{kind: kind}, owners: []churnReference{{}}}
		if err := c.repeat(func(ctx context.Context) error { return c.do(ctx, probe) }); err != nil {
			c.Fatalf("%s: %v", probe, err)
		}
	}
}

// pass reads the cluster, and plans what a collector has to do there.
func (c *churnCluster) pass(ctx context.Context) (*snapshot.Snapshot, *plan.Plan, error) {
	s, err := scan.Cluster(ctx, c.client, nil, scan.Scope{}, time.Now)
	if err != nil {
		return nil, nil, err
	}
	if !s.Complete() {
		return nil, nil, errors.New("the cluster was not read completely")
	}
	return s, plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(nil)), nil
}
