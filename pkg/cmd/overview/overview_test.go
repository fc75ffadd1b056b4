package overview

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestOverview(t *testing.T) {
	const demo = clitest.DemoCluster
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"exits with 0 whatever it finds":          {[]string{"--from", demo}, cli.ExitDone, "WILL BE DELETED by the garbage collector", ""},
		"suggests commands that read the file":    {[]string{"--from", demo}, cli.ExitDone, "kubectl gc why secret/restored -n shop --from " + demo, ""},
		"says nothing of a collector for a file":  {[]string{"--from", demo, "-o", "jsonpath=[{.controllerManager}]"}, cli.ExitDone, "[]", ""},
		"shows one namespace":                     {[]string{"--from", demo, "-n", "kube-system"}, cli.ExitDone, "cluster.json (v1.36.3), namespace kube-system   20 objects", ""},
		"writes a document":                       {[]string{"--from", demo, "-o", "json"}, cli.ExitDone, `"kind": "Overview"`, ""},
		"names objects":                           {[]string{"--from", demo, "-o", "name"}, cli.ExitDone, "secret/restored\n", ""},
		"accepts -A":                              {[]string{"--from", demo, "-A"}, cli.ExitDone, "220 objects", ""},
		"exits with 0 after a complete scan":      {[]string{"--from", demo, "--strict"}, cli.ExitDone, "NEVER COLLECTED, as their owner references cannot work", ""},
		"refuses -n with -A":                      {[]string{"--from", demo, "-A", "-n", "shop"}, cli.ExitUsage, "", "error: -n cannot be combined with -A\n"},
		"refuses a format that does not exist":    {[]string{"--from", demo, "-o", "table"}, cli.ExitUsage, "", `error: "table" is not an output format`},
		"refuses a file that does not exist":      {[]string{"--from", "nowhere.json"}, cli.ExitUsage, "", "error: read snapshot nowhere.json"},
		"refuses a namespace that does not exist": {[]string{"--from", demo, "-n", "nope"}, cli.ExitUsage, "", "error: the file has no object in namespace"},
		"refuses an argument":                     {[]string{"bogus", "--from", demo}, cli.ExitUsage, "", "error: unexpected argument \"bogus\"\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
