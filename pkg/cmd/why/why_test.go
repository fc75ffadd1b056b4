package why

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestWhy(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"explains an object":                            {[]string{"--from", clitest.DemoCluster, "deployment/web", "-n", "shop"}, cli.ExitDone, "Deployment/web stays: it has no owner", ""},
		"exits with 1 if nothing is known of an object": {[]string{"--from", clitest.DemoCluster, "deployment/nope", "-n", "shop"}, cli.ExitFound, "No Deployment/nope in namespace shop exists", ""},
		"refuses a type without a name":                 {[]string{"--from", clitest.DemoCluster, "deployment"}, cli.ExitUsage, "", "error: \"deployment\" is a type: why explains single objects"},
		"refuses a name together with a UID":            {[]string{"--from", clitest.DemoCluster, "deployment/web", "--uid", "u"}, cli.ExitUsage, "", "error: targets by name cannot be combined with --uid\n"},
		"refuses an empty command line":                 {[]string{}, cli.ExitUsage, "", "See 'kubectl gc why --help'."},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
