package wording_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

func TestCommand(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"plain words stand as they are":   {[]string{"kubectl", "gc", "why", "deploy/web", "-n", "shop"}, "kubectl gc why deploy/web -n shop"},
		"blanks and colons of a role":     {[]string{"role/system:a b"}, "'role/system:a b'"},
		"what a shell would run":          {[]string{"$(reboot)", "`x`", "a;b"}, "'$(reboot)' '`x`' 'a;b'"},
		"a quote within":                  {[]string{"it's"}, `'it'\''s'`},
		"an empty word":                   {[]string{"-n", ""}, "-n ''"},
		"a JSON patch":                    {[]string{`-p=[{"op":"remove"}]`}, `'-p=[{"op":"remove"}]'`},
		"a home directory is not spelled": {[]string{"~/x"}, "'~/x'"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wording.Command(c.words...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCommandOnWindows(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"plain words stand as they are":          {[]string{"gc", "why", "deploy/web", "-n", "shop", "a,b"}, "gc why deploy/web -n shop a,b"},
		"a path":                                 {[]string{`C:\Users\me\.kube\gc-backup\prod`}, `C:\Users\me\.kube\gc-backup\prod`},
		"a path with blanks":                     {[]string{`C:\Program Files\x.json`}, `"C:\Program Files\x.json"`},
		"a folder with blanks":                   {[]string{`C:\my files\`}, `"C:\my files\\"`},
		"a context that is spelled":              {[]string{`gc-backup\arn%3aaws%3aeks`}, `"gc-backup\arn%3aaws%3aeks"`},
		"a single quote":                         {[]string{"it's"}, `"it's"`},
		"what cmd would run":                     {[]string{"a&b", "a|b", "a>b", "(a)", "a^b"}, `"a&b" "a|b" "a>b" "(a)" "a^b"`},
		"what PowerShell would put in":           {[]string{"$(reboot)", "`x`", "it's $x"}, "'$(reboot)' '`x`' 'it''s $x'"},
		"a list of PowerShell":                   {[]string{"@x"}, `"@x"`},
		"quotes that PowerShell takes for those": {[]string{"“a” ‘b’"}, "'“a” ‘‘b’’'"},
		"an empty word":                          {[]string{"-n", ""}, `-n ""`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wording.CommandOnWindows(c.words...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
