// Package clitest runs a command inside a test, without a process of its own.
package clitest

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// DemoCluster is a snapshot with every kind of bad reference, as seen from a command's
// package.
const DemoCluster = "../../../docs/demo/cluster.json"

// Result is what a command line leaves behind.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Run runs a command with these arguments, an empty home and no kubeconfig. Its streams are
// no terminals, and its standard input is empty.
func Run(t *testing.T, newCommand func(*cli.ScanOptions) *cobra.Command, args ...string) Result {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "none"))
	var out, errs bytes.Buffer
	scan := cli.NewScanOptions(cli.Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, OutWidth: func() int { return 0 }, ErrWidth: func() int { return 0 }, Height: func() int { return 0 },
		Getenv: func(string) string { return "" }, Now: time.Now,
	})
	command := newCommand(scan)
	root := &cobra.Command{Use: plugin.File()}
	root.AddCommand(command)
	cli.SetUpRoot(root, scan)
	code := cli.Execute(t.Context(), root, scan, append([]string{command.Name()}, args...))
	return Result{code, out.String(), errs.String()}
}

// Expect reports an error unless the result has this exit code, and its streams contain these
// texts; an empty one expects an empty stream.
func (r Result) Expect(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("exit code is %d, want %d", r.Code, code)
	}
	for _, stream := range []struct{ name, got, want string }{{"stdout", r.Stdout, stdout}, {"stderr", r.Stderr, stderr}} {
		if stream.want == "" && stream.got != "" || !strings.Contains(stream.got, stream.want) {
			t.Errorf("%s is %.2000q, want %q", stream.name, stream.got, stream.want)
		}
	}
}
