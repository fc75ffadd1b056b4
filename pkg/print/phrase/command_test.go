package phrase_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

func TestCommandQuotesWhatAShellWouldTakeApart(t *testing.T) {
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
			if got := phrase.Command(c.words...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
