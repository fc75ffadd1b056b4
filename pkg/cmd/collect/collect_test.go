package collect

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestCollect(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"previews a pass":                              {[]string{"--from", clitest.DemoCluster, "--dry-run", "--rule", "missing-owner"}, cli.ExitDone, "unlink 1 in namespace shop (file ../../../docs/demo/cluster.json). Complete scan. Nothing was changed: dry run, digest ", ""},
		"refuses to run against a file":                {[]string{"--from", clitest.DemoCluster}, cli.ExitUsage, "", "error: a snapshot can only be previewed: add --dry-run\n"},
		"refuses a digest that is none":                {[]string{"--confirm", "yes"}, cli.ExitUsage, "", "error: --confirm \"yes\" is not a digest"},
		"refuses a gap that names everything":          {[]string{"--accept-gap", "*"}, cli.ExitUsage, "", "error: --accept-gap \"*\": name a type"},
		"refuses events in a dry run of the client":    {[]string{"--from", clitest.DemoCluster, "--dry-run", "-o", "jsonl"}, cli.ExitUsage, "", "error: -o jsonl cannot be combined with --dry-run=client\n"},
		"warns of an accepted gap that blocks nothing": {[]string{"--from", clitest.DemoCluster, "--dry-run", "--accept-gap", "metrics.k8s.io"}, cli.ExitDone, "Nothing was changed", "warning: --accept-gap metrics.k8s.io has no effect"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
