// Package script runs the command line as a user would, without a cluster. Each file in testdata
// is a test with its input and the expected output.
//
// go test ./test/script -update rewrites the expected output.
package script

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/schema"
)

var update = flag.Bool("update", false, "rewrite the expected output")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-gc": func() { os.Exit(runChecked()) },
	})
}

// runChecked runs the program. It fails where a document on standard output does not match its schema.
func runChecked() int {
	var out bytes.Buffer
	s := cli.Process()
	s.Out = io.MultiWriter(s.Out, &out)
	code := cmd.Main(context.Background(), os.Args[1:], s)
	if err := schema.Check(os.Getenv("SCHEMAS"), out.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70 // no exit code of the program
	}
	return code
}

// removeWritePermissions takes write permissions from other users, whatever the umask is: the
// program refuses backups that others may write to.
func removeWritePermissions(dir string) error {
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
	if testing.Short() {
		t.Skip("runs the program some hundred times")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"serve": serve, "context": addContext},
		Setup: func(e *testscript.Env) error {
			e.Setenv("KUBECONFIG", "no-such-kubeconfig") // no cluster may be used
			e.Setenv("TZ", "UTC")
			// A detected race still makes the program fail. The default would make each of some
			// hundred runs wait for a second at its end.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			if err := removeWritePermissions(e.WorkDir); err != nil {
				return err
			}
			docs, err := filepath.Abs("../../docs")
			e.Setenv("DEMO", filepath.Join(docs, "demo", "cluster.json"))
			e.Setenv("SCHEMAS", filepath.Join(docs, "schemas"))
			return err
		},
	})
}
