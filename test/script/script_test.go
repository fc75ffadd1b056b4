// Package script runs the command line as a user would, without a cluster: each
// file under testdata is one behaviour, with its input and what must be printed.
//
// go test ./test/script -update rewrites what must be printed.
package script

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

var update = flag.Bool("update", false, "rewrite the expected output")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-gc": func() { os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Process())) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("KUBECONFIG", "no-such-kubeconfig") // nothing here may meet a cluster
			e.Setenv("TZ", "UTC")
			demo, err := filepath.Abs("../../docs/demo/cluster.json")
			e.Setenv("DEMO", demo)
			return err
		},
	})
}
