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
		"refuses a format":                 {[]string{"--from", clitest.DemoCluster, "-o", "json"}, cli.ExitUsage, "", "error: -o \"json\": report writes a file, so -o names it\nhint: for a format: kubectl gc audit -o FORMAT"},
		"refuses an empty file name":       {[]string{"--from", clitest.DemoCluster, "-o", ""}, cli.ExitUsage, "", "error: --output has an empty value\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
