package repair

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestRepair(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"previews the repairs of a namespace":     {[]string{"--from", clitest.DemoCluster, "--dry-run", "-n", "shop"}, cli.ExitDone, "relink 1, update-version 1, unlink 1 in namespace shop (file ../../../docs/demo/cluster.json). Complete scan.", ""},
		"makes only the repair of --fix":          {[]string{"--from", clitest.DemoCluster, "--dry-run", "-n", "shop", "--fix", "relink"}, cli.ExitDone, "relink 1", ""},
		"refuses a rule about a deletion":         {[]string{"--from", clitest.DemoCluster, "--dry-run", "--rule", "stuck-finalizer"}, cli.ExitUsage, "", "error: repair cannot repair what rule \"stuck-finalizer\" flags\n"},
		"names what needs a choice":               {[]string{"--from", clitest.DemoCluster, "--dry-run", "-n", "shop"}, cli.ExitDone, "\n1 error needs your choice: ConfigMap/chicken is in an owner cycle: kubectl gc why configmap/chicken -n shop", ""},
		"names it for the single target":          {[]string{"--from", clitest.DemoCluster, "--dry-run", "-n", "shop", "configmap/egg"}, cli.ExitDone, "1 error needs your choice: ConfigMap/egg is in an owner cycle: kubectl gc why configmap/egg -n shop", ""},
		"refuses a repair that does not exist":    {[]string{"--from", clitest.DemoCluster, "--dry-run", "--fix", "delete"}, cli.ExitUsage, "", "error: --fix \"delete\": must be one of auto, unlink, relink, update-version\n"},
		"refuses a rule that it cannot repair":    {[]string{"--from", clitest.DemoCluster, "--dry-run", "--rule", "owner-cycle"}, cli.ExitUsage, "", "error: repair cannot choose which reference to remove for rule \"owner-cycle\"\nhint: to see the command for one object: kubectl gc why TYPE/NAME --from "},
		"refuses a reference without an object":   {[]string{"--from", clitest.DemoCluster, "--dry-run", "--reference", "u"}, cli.ExitUsage, "", "error: --reference needs exactly one TYPE/NAME and --fix unlink"},
		"refuses a selector that matches nothing": {[]string{"--from", clitest.DemoCluster, "--dry-run", "-l", "app=nope"}, cli.ExitUsage, "", "error: nothing matched: no object has the labels \"app=nope\"\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
