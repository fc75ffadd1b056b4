package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// environment is a control plane with the built program, which tests share.
type environment struct {
	controlPlane *testcluster.ControlPlane
	bin          string // a folder with the program in it, called as kubectl looks for it
	config       *rest.Config
	discovery    discovery.DiscoveryInterface
	dynamic      dynamic.Interface
	metadata     metadata.Interface
	mapper       *restmapper.DeferredDiscoveryRESTMapper

	customKinds sync.Once
}

// shared is the environment of all tests; nil without binaries or with -short.
var shared *environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	if testing.Short() || flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	if mayShard() {
		return runShards()
	}
	// The user's environment must not affect the tests.
	os.Setenv("KUBECONFIG", "/does/not/exist")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // nothing may be compiled yet
	defer cancel()
	bin, err := build(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	p, err := testcluster.Start(ctx, testcluster.Options{Collector: testcluster.Absent, OnlyIfBuilt: true})
	if errors.Is(err, testcluster.ErrNotBuilt) {
		return m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := errors.Join(p.Stop(), stopRealCollectorEnvironment()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	if shared, err = newEnvironment(p, bin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds the program once, from this checkout.
func build(ctx context.Context) (string, error) {
	bin, err := os.MkdirTemp("", "kubectl-gc-e2e-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the program: %w", err)
	}
	out, err := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", filepath.Join(bin, "kubectl-gc"),
		"github.com/kubectl-gc/kubectl-gc/cmd/kubectl-gc").CombinedOutput()
	if err != nil {
		return "", errors.Join(fmt.Errorf("build the program: %w\n%s", err, out), os.RemoveAll(bin))
	}
	return bin, nil
}

func newEnvironment(p *testcluster.ControlPlane, bin string) (*environment, error) {
	if err := testcluster.RequireTestCluster(p.Kubeconfig); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	w := &environment{controlPlane: p, bin: bin, config: config}
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
