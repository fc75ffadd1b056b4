package snapshot

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"refuses a format": {[]string{"-o", "yaml"}, cli.ExitUsage, "", "error: -o \"yaml\": snapshot writes a file, so -o names it\n"},
		"has no --from":    {[]string{"-o", "-", "--from", clitest.DemoCluster}, cli.ExitUsage, "", "error: unknown flag: --from\n"},
		"needs a cluster":  {[]string{"-o", "-"}, cli.ExitUsage, "", "error: "},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
