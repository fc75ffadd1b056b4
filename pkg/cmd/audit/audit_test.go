package audit

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestAudit(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"exits with 1 if there are errors":             {[]string{"--from", clitest.DemoCluster, "-n", "shop"}, cli.ExitFound, "error     replaced-owner          shop       Secret/restored", "Repair references: kubectl gc repair --dry-run"},
		"exits with 0 if findings are below --fail-on": {[]string{"--from", clitest.DemoCluster, "-n", "shop", "--rule", "missing-owner"}, cli.ExitDone, "1 warning in 14 objects with 11 references. Complete scan", "Explain one object"},
		"fails on warnings if --fail-on says so":       {[]string{"--from", clitest.DemoCluster, "-n", "shop", "--rule", "missing-owner", "--fail-on", "warning"}, cli.ExitFound, "missing-owner", "Explain one object"},
		"writes a document and no hints with -o json":  {[]string{"--from", clitest.DemoCluster, "--rule", "owner-cycle", "-o", "json"}, cli.ExitFound, "\"kind\": \"AuditReport\"", ""},
		"refuses a severity that does not exist":       {[]string{"--from", clitest.DemoCluster, "--fail-on", "fatal"}, cli.ExitUsage, "", "error: --fail-on \"fatal\": must be error, warning or never\n"},
		"refuses a rule that does not exist":           {[]string{"--from", clitest.DemoCluster, "--rule", "nonsense"}, cli.ExitUsage, "", "nonsense"},
		"refuses --contexts with --from":               {[]string{"--from", clitest.DemoCluster, "--contexts", "a"}, cli.ExitUsage, "", "error: --contexts cannot be combined with --from\n"},
		"refuses a metrics file without a name":        {[]string{"--from", clitest.DemoCluster, "-o", "prometheus="}, cli.ExitUsage, "", "error: -o prometheus= names no file\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
