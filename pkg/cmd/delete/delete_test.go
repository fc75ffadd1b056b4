package delete

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestDelete(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"previews everything that is deleted with an object":        {[]string{"--from", clitest.DemoCluster, "--dry-run", "deployment/web", "-n", "shop"}, cli.ExitDone, "delete 6, keep 2 in namespace shop and at the cluster scope (file ../../../docs/demo/cluster.json). Complete scan.", ""},
		"keeps dependents with --cascade=orphan":                    {[]string{"--from", clitest.DemoCluster, "--dry-run", "deployment/web", "-n", "shop", "--cascade=orphan"}, cli.ExitDone, "keep 4", ""},
		"refuses an object that does not exist":                     {[]string{"--from", clitest.DemoCluster, "--dry-run", "deployment/nope", "-n", "shop"}, cli.ExitUsage, "", "hint: to treat it as deleted, use --ignore-not-found; what is known of it: kubectl gc why deployment/nope "},
		"accepts a missing object with --ignore-not-found":          {[]string{"--from", clitest.DemoCluster, "--dry-run", "deployment/nope", "-n", "shop", "--ignore-not-found"}, cli.ExitDone, "Nothing was changed", ""},
		"refuses an empty command line":                             {[]string{}, cli.ExitUsage, "", "error: nothing to delete given\n"},
		"refuses a type without a selection":                        {[]string{"--from", clitest.DemoCluster, "--dry-run", "deployments"}, cli.ExitUsage, "", "error: \"deployments\" is a type: specify which of its objects\n"},
		"refuses a cascade that does not exist":                     {[]string{"deployment/web", "--cascade=all"}, cli.ExitUsage, "", "error: --cascade \"all\": must be background, foreground or orphan\n"},
		"refuses files together with targets":                       {[]string{"deployment/web", "-f", "x.yaml"}, cli.ExitUsage, "", "error: -f cannot be combined with targets, -l or --all\n"},
		"says that a namespace will hang":                           {[]string{"namespace/shop", "--from", clitest.DemoCluster, "--dry-run"}, cli.ExitDone, "Namespace/shop will hang in Terminating until a controller removes example.com/hold from PersistentVolumeClaim/import-scratch: kubectl gc why persistentvolumeclaim/import-scratch -n shop", ""},
		"says what is already being deleted":                        {[]string{"namespace/shop", "--from", clitest.DemoCluster, "--dry-run"}, cli.ExitDone, "Job/import                            deleted with it (already being deleted)\n", ""},
		"says nothing of dependents that are already being deleted": {[]string{"job/import", "-n", "shop", "--from", clitest.DemoCluster, "--dry-run"}, cli.ExitDone, "requested, although it is already being deleted: it no longer waits for its dependents\n", ""},
		"counts an uncertain deletion once":                         {[]string{"deployment/web", "-n", "shop", "--cascade=orphan", "--from", clitest.DemoCluster, "--dry-run"}, cli.ExitDone, "delete 2 (1 uncertain), keep 4 in namespace shop and at the cluster scope", ""},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
