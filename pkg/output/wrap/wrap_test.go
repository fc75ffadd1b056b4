package wrap_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

func TestLines(t *testing.T) {
	const red, dim, reset, normal = "\x1b[31m", "\x1b[2m", "\x1b[0m", "\x1b[22m"
	for name, c := range map[string]struct {
		text        string
		first, rest int
		want        []string
	}{
		"what fits is left alone":                   {"a line  with blanks ", 20, 20, []string{"a line  with blanks "}},
		"blanks at a break go":                      {"one two  three", 7, 7, []string{"one two", "three"}},
		"blanks elsewhere stay":                     {"  one  two three", 10, 10, []string{"  one  two", "three"}},
		"the lines after the first have their own":  {"one two three four", 12, 5, []string{"one two", "three", "four"}},
		"a long word is not broken":                 {"in Pod/web-77bbc49f4c-8lhm2 it", 10, 10, []string{"in", "Pod/web-77bbc49f4c-8lhm2", "it"}},
		"blanks at the end stay, as of a prompt":    {"Type 5 to confirm: ", 12, 12, []string{"Type 5 to", "confirm: "}},
		"a command is not broken":                   {"Undo (objects only): kubectl gc restore 2026", 12, 12, []string{"Undo", "(objects", "only):", "kubectl gc restore 2026"}},
		"a command begins a line":                   {"kubectl gc why pod/a", 9, 9, []string{"kubectl gc why pod/a"}},
		"a command in colors is not broken":         {dim + "Undo:" + normal + " " + red + "kubectl gc restore" + reset, 12, 12, []string{dim + "Undo:" + normal, red + "kubectl gc restore" + reset}},
		"kubectl in a sentence is no command":       {"what kubectl writes to a file", 14, 14, []string{"what kubectl", "writes to a", "file"}},
		"code is not broken":                        {"Try (`kubectl gc audit`), then `a b` or `c", 12, 12, []string{"Try", "(`kubectl gc audit`),", "then `a b`", "or `c"}},
		"what stands apart is no part of a command": {"kubectl gc audit   changed now", 20, 20, []string{"kubectl gc audit", "changed now"}},
		"a color is resumed":                        {dim + "one two" + normal + " " + red + "three four" + reset + " five", 4, 5, []string{dim + "one" + reset, dim + "two" + normal, red + "three" + reset, red + "four" + reset, "five"}},
		"wide characters take two columns":          {"日本 日本 日本", 9, 9, []string{"日本 日本", "日本"}},
		"nothing":                                   {"", 1, 1, []string{""}},
		"no room at all":                            {"a b", 0, -3, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wrap.Lines(c.text, c.first, c.rest)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWriter(t *testing.T) {
	for name, c := range map[string]struct {
		columns    int
		text, want string
	}{
		"lines go on two columns farther right": {20, "one line that is too long\n  and another one with blanks\nshort\n", "one line that is too\n  long\n  and another one\n    with blanks\nshort\n"},
		"a command has a line of its own":       {20, "Repair: kubectl gc repair --dry-run\n", "Repair:\n  kubectl gc repair --dry-run\n"},
		"without a limit nothing changes":       {0, strings.Repeat("word ", 100) + "\n", strings.Repeat("word ", 100) + "\n"},
		"a line without its end stays so":       {10, "Type 5 to confirm: ", "Type 5 to\n  confirm: "},
		"a line that is overwritten stays":      {10, "\r\x1b[Kreading the cluster", "\r\x1b[Kreading the cluster"},
		"empty lines stay":                      {10, "\n\na\n", "\n\na\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			n, err := fmt.Fprint(wrap.NewWriter(&out, func() int { return c.columns }), c.text)
			if err != nil || n != len(c.text) {
				t.Errorf("wrote %d of %d bytes, %v", n, len(c.text), err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
