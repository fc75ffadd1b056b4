package report

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestReport(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"writes a page to standard output": {[]string{"--from", clitest.DemoCluster}, cli.ExitDone, "<!DOCTYPE html>", ""},
		"refuses another format than html": {[]string{"--from", clitest.DemoCluster, "-o", "pdf"}, cli.ExitUsage, "", "error: -o \"pdf\": a report is always html\n"},
		"refuses an empty file name":       {[]string{"--from", clitest.DemoCluster, "--output-file", ""}, cli.ExitUsage, "", "error: --output-file has an empty value\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
