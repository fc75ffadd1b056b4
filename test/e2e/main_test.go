package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

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
