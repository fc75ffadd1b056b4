package restore

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestRestore(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"lists no backups in an empty home":        {[]string{}, cli.ExitDone, "", "No backups in "},
		"needs a backup to preview against a file": {[]string{"--from", clitest.DemoCluster, "--dry-run"}, cli.ExitUsage, "", "error: no backup given\n"},
		"refuses a backup that does not exist":     {[]string{"nothing"}, cli.ExitUsage, "", "hint: give a folder, or a backup listed by: kubectl gc restore\n"},
		"refuses a type without a name":            {[]string{"nothing", "deployments"}, cli.ExitUsage, "", "error: name each object of the backup as TYPE/NAME\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
