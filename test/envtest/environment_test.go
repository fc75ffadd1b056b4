package envtest

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// assets names the environment variable where envtest looks for the folder of etcd and
// kube-apiserver.
const assets = "KUBEBUILDER_ASSETS"

// environment is an API server on which the operator runs.
type environment struct {
	*testing.T
	ctx     context.Context
	config  *rest.Config
	started string // host and port of the API server that envtest has started
	client.Client
}

// newEnvironment starts etcd, an API server and the operator, until t ends.
func newEnvironment(t *testing.T) environment {
	t.Helper()
	if os.Getenv(assets) == "" {
		t.Skipf("SKIPPED, NOT TESTED: %s is not set; make test-all sets it to the folder of the control plane that it has built", assets)
	}
	// Neither Ctrl-C nor the timeout of go test ends what envtest has started, so the test has to
	// end by itself.
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	e := environment{T: t, ctx: ctx}

	if err := AddToScheme(scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	existing := false
	servers := envtest.Environment{
		UseExistingCluster: &existing, // whatever the environment says
		CRDDirectoryPaths:  []string{"crd"}, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	t.Cleanup(func() {
		if err := servers.Stop(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if e.config, err = servers.Start(); err != nil {
		t.Fatal(err)
	}
	e.started = servers.ControlPlane.GetAPIServer().SecureServing.HostPort()
	if e.Client, err = client.New(e.config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	e.startOperator()
	return e
}

func (e environment) startOperator() {
	e.Helper()
	m, err := ctrl.NewManager(e.config, ctrl.Options{Metrics: metrics.Options{BindAddress: "0"}})
	if err != nil {
		e.Fatal(err)
	}
	r := Reconciler{m.GetClient()}
	if err := r.SetupWithManager(m); err != nil {
		e.Fatal(err)
	}
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan error)
	go func() { ended <- m.Start(ctx) }()
	e.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			e.Error(err)
		}
	})
}
