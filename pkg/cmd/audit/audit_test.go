package audit

import (
	"os"
	"path/filepath"
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
		"exits with 1 if there are errors":             {[]string{"--from", clitest.DemoCluster, "-n", "shop"}, cli.ExitFound, "error     replaced-owner          shop: Secret/restored ", "Fix the references: kubectl gc repair --dry-run"},
		"exits with 0 if findings are below --fail-on": {[]string{"--from", clitest.DemoCluster, "-n", "shop", "--rule", "missing-owner"}, cli.ExitDone, "1 warning in 14 objects with 11 owner references. Complete scan", "Explain one object"},
		"fails on warnings if --fail-on says so":       {[]string{"--from", clitest.DemoCluster, "-n", "shop", "--rule", "missing-owner", "--fail-on", "warning"}, cli.ExitFound, "missing-owner", "Explain one object"},
		"has a row per finding with -o wide":           {[]string{"--from", clitest.DemoCluster, "-n", "shop", "-o", "wide"}, cli.ExitFound, "error     replaced-owner          shop       Secret/restored ", "Explain one object"},
		"has a row per finding without groups":         {[]string{"--from", clitest.DemoCluster, "-n", "shop", "--group-by", "none"}, cli.ExitFound, "error     replaced-owner          shop       Secret/restored ", "Explain one object"},
		"refuses a group that does not exist":          {[]string{"--from", clitest.DemoCluster, "--group-by", "owner"}, cli.ExitUsage, "", "error: --group-by \"owner\": must be cause or none\n"},
		"refuses to group what has a row per finding":  {[]string{"--from", clitest.DemoCluster, "--group-by", "none", "-o", "wide"}, cli.ExitUsage, "", "error: --group-by works only with -o table\n"},
		"writes a document and no hints with -o json":  {[]string{"--from", clitest.DemoCluster, "--rule", "owner-cycle", "-o", "json"}, cli.ExitFound, "\"kind\": \"AuditReport\"", ""},
		"refuses a severity that does not exist":       {[]string{"--from", clitest.DemoCluster, "--fail-on", "fatal"}, cli.ExitUsage, "", "error: --fail-on \"fatal\": must be error, warning or never\n"},
		"refuses a rule that does not exist":           {[]string{"--from", clitest.DemoCluster, "--rule", "nonsense"}, cli.ExitUsage, "", "nonsense"},
		"refuses --contexts with --from":               {[]string{"--from", clitest.DemoCluster, "--contexts", "a"}, cli.ExitUsage, "", "error: --contexts cannot be combined with --from\n"},
		"refuses --settle with --from":                 {[]string{"--from", clitest.DemoCluster, "--settle", "30s"}, cli.ExitUsage, "", "error: --settle needs a cluster: the objects of the file cannot be read again\n"},
		"refuses a negative --settle":                  {[]string{"--settle", "-1s"}, cli.ExitUsage, "", "error: --settle must not be negative\n"},
		"refuses a baseline that does not exist":       {[]string{"--from", clitest.DemoCluster, "--baseline", "nowhere.json"}, cli.ExitUsage, "", "error: read the baseline: open nowhere.json"},
		"refuses a baseline without a name":            {[]string{"--from", clitest.DemoCluster, "--baseline", ""}, cli.ExitUsage, "", "error: --baseline has an empty value\n"},
		"refuses a baseline of another kind":           {[]string{"--from", clitest.DemoCluster, "--baseline", clitest.DemoCluster}, cli.ExitUsage, "", "not an AuditReport of kubectl-gc.dev/v1alpha1"},
		"refuses a metrics file without a name":        {[]string{"--from", clitest.DemoCluster, "-o", "prometheus="}, cli.ExitUsage, "", "error: -o prometheus= names no file\n"},
		"refuses --watch with a file":                  {[]string{"--watch", "--from", clitest.DemoCluster}, cli.ExitUsage, "", "error: --watch needs a cluster: the file does not change\n"},
		"refuses --watch with a baseline":              {[]string{"-w", "--baseline", "known.json"}, cli.ExitUsage, "", "error: --watch cannot be combined with --baseline\n"},
		"refuses --watch with several clusters":        {[]string{"-w", "--contexts", "a,b"}, cli.ExitUsage, "", "error: --watch cannot be combined with --contexts\n"},
		"refuses --watch with a table in a pipe":       {[]string{"-w", "-o", "wide"}, cli.ExitUsage, "", "error: --watch with -o wide needs a terminal: elsewhere it writes lines of JSON, which are the default there\n"},
		"refuses --watch with SARIF":                   {[]string{"-w", "-o", "sarif"}, cli.ExitUsage, "", "error: --watch cannot be combined with -o \"sarif\": choose one of table, wide, json\n"},
		"refuses --watch with YAML":                    {[]string{"-w", "-o", "yaml"}, cli.ExitUsage, "", "error: --watch cannot be combined with -o \"yaml\": choose one of table, wide, json\n"},
		"refuses --watch with a template":              {[]string{"-w", "--template", "x"}, cli.ExitUsage, "", "error: --watch cannot be combined with --template\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}

func TestAuditWithItsOwnReportAsBaselineFindsNothingNew(t *testing.T) {
	known := filepath.Join(t.TempDir(), "known.json")
	all := clitest.Run(t, New, "--from", clitest.DemoCluster, "-o", "json")
	if err := os.WriteFile(known, []byte(all.Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.Run(t, New, "--from", clitest.DemoCluster, "--baseline", known).Expect(t, cli.ExitDone, "In the baseline, so not reported: ", "")

	part := clitest.Run(t, New, "--from", clitest.DemoCluster, "--baseline", known, "-o", "json")
	if err := os.WriteFile(known, []byte(part.Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.Run(t, New, "--from", clitest.DemoCluster, "--baseline", known).
		Expect(t, cli.ExitUsage, "", "hint: write a baseline without --baseline: kubectl gc audit -o json")
}
