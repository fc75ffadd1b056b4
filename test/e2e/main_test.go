package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// environment is a control plane with the built program.
type environment struct {
	controlPlane *testcluster.ControlPlane
	config       *rest.Config
	discovery    discovery.DiscoveryInterface
	dynamic      dynamic.Interface
	metadata     metadata.Interface
	mapper       *restmapper.DeferredDiscoveryRESTMapper

	customKinds sync.Once
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	// The user's environment must not affect the tests.
	os.Setenv("KUBECONFIG", "/does/not/exist")
	// There are as many ordinary control planes as -parallel says. One more test runs at the same time, since
	// some wait for another control plane, or use one of their own. With more, the tests take more CPU time.
	n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String())
	if err == nil && n > 1 {
		err = flag.Set("test.parallel", strconv.Itoa(n+1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "set -parallel:", err)
		return 1
	}
	ordinary = newEnvironments(n, ordinaryOptions)
	if bin, err = os.MkdirTemp("", "kubectl-gc-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the program:", err)
		return 1
	}
	defer os.RemoveAll(bin)
	code = m.Run()
	if err := errors.Join(ordinary.stop(), withRealCollector.stop(), withServiceAccounts.stop(), withPermissionEnforcement.stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// bin is a folder for the program, which buildProgram builds from this checkout, called as kubectl
// looks for it.
var bin string

var buildProgram = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(bin, "kubectl-gc"),
		"github.com/kubectl-gc/kubectl-gc/cmd/kubectl-gc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // so that it also runs in an empty image
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
})

func newEnvironment(p *testcluster.ControlPlane) (*environment, error) {
	if err := testcluster.RequireTestCluster(p.Kubeconfig); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	w := &environment{controlPlane: p, config: config}
	if w.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, err
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if w.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	w.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.discovery))
	return w, nil
}

// Tests run side by side, each alone in a control plane, since the program reads the whole cluster.
// A test that needs an ordinary control plane and another one asks for the ordinary one first, so
// that no two tests wait for each other.
var (
	// ordinary has no kube-controller-manager, so that objects stay as a test makes them. TestMain
	// creates it.
	ordinary        *environments
	ordinaryOptions = testcluster.Options{Collector: testcluster.Absent}
	// withRealCollector has a kube-controller-manager after a test has called switchCollector. There are two,
	// as these tests wait for controllers most of the time.
	withRealCollector = newEnvironments(2, ordinaryOptions)
	// withServiceAccounts is like most clusters in that service accounts must exist, and their
	// tokens are mounted.
	withServiceAccounts = newEnvironments(1, testcluster.Options{Collector: testcluster.Off, AdmissionPlugins: []string{"ServiceAccount"}})
	// withPermissionEnforcement lets only users who may delete an object change its owner references.
	withPermissionEnforcement = newEnvironments(1, testcluster.Options{
		Collector: testcluster.Absent, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	})
)

// environments are equal control planes. Each starts when a test needs it, and runs until the end.
type environments struct {
	options   testcluster.Options
	unstarted chan struct{}
	idle      chan *environment

	mu    sync.Mutex
	inUse map[string]*environment // by the name of a test that is not a subtest
}

func newEnvironments(n int, o testcluster.Options) *environments {
	p := &environments{options: o, unstarted: make(chan struct{}, n), idle: make(chan *environment, n), inUse: map[string]*environment{}}
	for range n {
		p.unstarted <- struct{}{}
	}
	return p
}

// newScene returns a scene in one of the environments, the same for a test and its subtests. It
// waits until one is idle.
func (p *environments) newScene(t *testing.T) *scene {
	t.Helper()
	runBesideOthers(t)
	name, _, _ := strings.Cut(t.Name(), "/")
	p.mu.Lock()
	e := p.inUse[name]
	p.mu.Unlock()
	if e != nil {
		return e.newScene(t)
	}
	begin := time.Now()
	e, err := p.take()
	if err != nil {
		skipOrFail(t, err)
	}
	t.Logf("waited %.1f s for a control plane", time.Since(begin).Seconds()) // part of the test's time
	p.mu.Lock()
	p.inUse[name] = e
	p.mu.Unlock()
	t.Cleanup(func() {
		p.mu.Lock()
		delete(p.inUse, name)
		p.mu.Unlock()
		p.idle <- e
	})
	return e.newScene(t)
}

// take returns an idle environment, or starts one. It waits while all are in use.
func (p *environments) take() (*environment, error) {
	select {
	case e := <-p.idle:
		return e, nil
	default:
	}
	select {
	case e := <-p.idle:
		return e, nil
	case <-p.unstarted:
		e, err := startEnvironment(p.options)
		if err != nil {
			p.unstarted <- struct{}{}
		}
		return e, err
	}
}

// stop stops the control planes. No test may be running.
func (p *environments) stop() error {
	var errs []error
	for len(p.idle) > 0 {
		errs = append(errs, (<-p.idle).controlPlane.Stop())
	}
	return errors.Join(errs...)
}

// newSceneOf returns a scene on a control plane of its own.
func newSceneOf(t *testing.T, o testcluster.Options) *scene {
	t.Helper()
	runBesideOthers(t)
	e, err := startEnvironment(o)
	if err != nil {
		skipOrFail(t, err)
	}
	t.Cleanup(func() {
		if err := e.controlPlane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return e.newScene(t)
}

func startEnvironment(o testcluster.Options) (*environment, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // nothing may be compiled yet
	defer cancel()
	if err := buildProgram(); err != nil {
		return nil, err
	}
	o.OnlyIfBuilt = true
	p, err := testcluster.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := newEnvironment(p)
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return e, nil
}

// runBesideOthers has a test run beside others, and skips it if no control plane may be started. It
// does nothing else in a subtest, or if it was called before.
func runBesideOthers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if _, again := besideOthers.LoadOrStore(t, true); !again && !strings.Contains(t.Name(), "/") {
		t.Parallel()
	}
}

var besideOthers sync.Map // by *testing.T

func skipOrFail(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, testcluster.ErrNotBuilt) {
		t.Skip("SKIPPED, NOT TESTED: ", err)
	}
	t.Fatal(err)
}
