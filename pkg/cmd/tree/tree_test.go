package tree

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestTree(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"shows the dependents of an object":     {[]string{"--from", clitest.DemoCluster, "deployment/web", "-n", "shop"}, cli.ExitDone, "ReplicaSet/web-77bbc49f4c", ""},
		"refuses an object that does not exist": {[]string{"--from", clitest.DemoCluster, "deployment/nope", "-n", "shop"}, cli.ExitUsage, "", "error: \"deployments.apps/nope\" in namespace \"shop\" does not exist\n"},
		"refuses a negative depth":              {[]string{"--from", clitest.DemoCluster, "deployment/web", "--depth=-1"}, cli.ExitUsage, "", "error: --depth must not be negative\n"},
		"refuses a depth without an object":     {[]string{"--from", clitest.DemoCluster, "--depth", "2"}, cli.ExitUsage, "", "error: --depth, --owners, --dependents and --used-by need an object\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
