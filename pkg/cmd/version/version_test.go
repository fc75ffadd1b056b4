package version

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

func TestVersion(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"prints the version":            {[]string{}, cli.ExitDone, "kubectl-gc ", ""},
		"says what it was built from":   {[]string{"-o", "json"}, cli.ExitDone, "\"goVersion\": \"go1.", ""},
		"names the rules that it knows": {[]string{"-o", "jsonpath={.kubernetes.newest}"}, cli.ExitDone, collector.NewestRelease, ""},
		"refuses an argument":           {[]string{"now"}, cli.ExitUsage, "", "error: unexpected argument \"now\"\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}
