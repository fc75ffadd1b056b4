// Package script runs the command line as a user would, without a cluster: each
// file under testdata is one behaviour, with its input and what must be printed.
//
// go test ./test/script -update rewrites what must be printed.
package script

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

var update = flag.Bool("update", false, "rewrite the expected output")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-gc": func() { os.Exit(cmd.Main(context.Background(), os.Args[1:], cli.Process())) },
	})
}

// narrow leaves what was unpacked to its owner, whatever the umask is here: no backup is
// read that others may write to.
func narrow(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^0o022)
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"serve": serve, "context": addContext},
		Setup: func(e *testscript.Env) error {
			e.Setenv("KUBECONFIG", "no-such-kubeconfig") // nothing here may meet a cluster
			e.Setenv("TZ", "UTC")
			// A race that was seen fails the program all the same; without this, each of
			// some hundred waits for a second at its end.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			if err := narrow(e.WorkDir); err != nil {
				return err
			}
			demo, err := filepath.Abs("../../docs/demo/cluster.json")
			e.Setenv("DEMO", demo)
			return err
		},
	})
}
