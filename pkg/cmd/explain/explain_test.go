package explain

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"lists the rules":                    {nil, cli.ExitDone, "self-owner                   An object names itself as its owner.", ""},
		"ends the list with what to run":     {nil, cli.ExitDone, "\n\nMore about one: kubectl gc explain RULE\n", ""},
		"explains a rule":                    {[]string{"self-owner"}, cli.ExitDone, "\nHOW TO REPAIR IT\n", ""},
		"refuses a rule that does not exist": {[]string{"README"}, cli.ExitUsage, "", "there is no rule \"README\""},
		"refuses a second rule":              {[]string{"self-owner", "owner-cycle"}, cli.ExitUsage, "", "error: unexpected argument \"owner-cycle\"\n"},
	} {
		t.Run(name, func(t *testing.T) { clitest.Run(t, New, c.args...).Expect(t, c.code, c.stdout, c.stderr) })
	}
}

func TestExplainListsAndExplainsEveryRule(t *testing.T) {
	all := clitest.Run(t, New).Stdout
	for _, r := range audit.Rules {
		if !strings.Contains(all, r.ID+" ") || !strings.Contains(all, r.Summary) {
			t.Errorf("the list lacks %s", r.ID)
		}
		page := clitest.Run(t, New, r.ID)
		page.Expect(t, cli.ExitDone, r.ID+"\n\n", "")
		for _, markup := range []string{"](", "```", "| ---", "\n#"} {
			if strings.Contains(page.Stdout, markup) {
				t.Errorf("the page of %s has %q", r.ID, markup)
			}
		}
	}
}
