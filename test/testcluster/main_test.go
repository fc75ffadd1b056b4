package testcluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// shared is the control plane of this package's tests; nil if there are no binaries.
var shared *ControlPlane

func TestMain(m *testing.M) {
	if os.Getenv(killedChildVariable) != "" {
		runKilledChild()
	}
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	defer func() {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	if testing.Short() {
		return m.Run()
	}
	// The user's environment must not affect the tests.
	os.Setenv("KUBECONFIG", "/does/not/exist")
	p, err := Start(context.Background(), Options{Collector: Off, OnlyIfBuilt: true})
	if errors.Is(err, ErrNotBuilt) {
		return m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = p
	defer func() {
		if err := p.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if _, err := os.Stat(p.Dir); !os.IsNotExist(err) {
			fmt.Fprintf(os.Stderr, "%s is left behind (%v)\n", p.Dir, err)
			code = 1
		}
		if err := RequireTestCluster(p.Kubeconfig); err == nil {
			fmt.Fprintln(os.Stderr, "the kubeconfig is ours after the end of its control plane")
			code = 1
		}
	}()
	return m.Run()
}

func sharedControlPlane(t *testing.T) *ControlPlane {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if shared == nil {
		t.Skip("SKIPPED, NOT TESTED: ", ErrNotBuilt)
	}
	return shared
}
