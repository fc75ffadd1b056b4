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
		"lists no backups in an empty home":        {[]string{"-s", "http://127.0.0.1:1"}, cli.ExitDone, "", "No backups in "},
		"needs a kubeconfig":                       {[]string{}, cli.ExitUsage, "", "error: read the kubeconfig: there is none: "},
		"refuses a file":                           {[]string{"restore_test.go"}, cli.ExitUsage, "", "error: \"restore_test.go\" is not a backup, which is a folder\n"},
		"needs a backup to preview against a file": {[]string{"--from", clitest.DemoCluster, "--dry-run"}, cli.ExitUsage, "", "error: no backup given\n"},
		"refuses a backup that does not exist":     {[]string{"nothing", "-s", "http://127.0.0.1:1"}, cli.ExitUsage, "", "error: there is no backup \"nothing\"\nhint: give a folder, or a backup of this list: kubectl gc restore -s http://127.0.0.1:1\n"},
		"refuses a type without a name":            {[]string{"nothing", "deployments"}, cli.ExitUsage, "", "error: name each object of the backup as TYPE/NAME\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
