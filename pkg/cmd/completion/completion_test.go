package completion

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestCompletion(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"prints the script of a shell":  {[]string{"bash"}, cli.ExitDone, "bash completion V2", ""},
		"refuses another shell":         {[]string{"tcsh"}, cli.ExitUsage, "", "error: no completion for shell \"tcsh\"\n"},
		"refuses an empty command line": {[]string{}, cli.ExitUsage, "", "error: specify --install-shim DIR, or one shell"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
