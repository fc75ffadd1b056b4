package markdown

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

func TestText(t *testing.T) {
	const page = "# a-rule\n\nA paragraph of\ntwo lines, with `code`, **weight** and a [link to\nanother page](repair.md).\n\n" +
		"## What it means\n\n* One item\n  goes on, see [the web](https://example.com/x).\n* Another\n1. First\n\n" +
		"```yaml\na: [1](2)\n\n  b: **2**\n```\n\n| the object | severity |\n| --- | --- |\n| is `a \\| b` | error |\n| is [gone](#gone) | **info** |\n\nEnd.\n"
	const want = "a-rule\n\nA paragraph of two lines, with code, weight and a link to another page (docs/repair.md).\n\n" +
		"WHAT IT MEANS\n\n* One item goes on, see the web (https://example.com/x).\n* Another\n1. First\n\n" +
		"    a: [1](2)\n\n      b: **2**\n\nTHE OBJECT  SEVERITY\nis a | b    error\nis gone     info\n\nEnd.\n"
	var out strings.Builder
	if err := Text(&out, page); err != nil || out.String() != want {
		t.Errorf("error %v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestTextFitsATerminalExceptForItsCode(t *testing.T) {
	const page = "Words that are wider than this terminal, so that they are broken.\n\n```\ncode that is wider than it, which could not be pasted\n```\n\n" +
		"| a | what it says |\n| --- | --- |\n| b | more words than fit into one row of the table |\n"
	const want = "Words that are wider than this terminal,\nso that they are broken.\n\n    code that is wider than it, which could not be pasted\n\n" +
		"A  WHAT IT SAYS\nb  more words than fit into one row of\n   the table\n"
	var out strings.Builder
	if err := Text(wrap.NewWriter(&out, func() int { return 40 }), page); err != nil || out.String() != want {
		t.Errorf("error %v\n%s\nwant\n%s", err, out.String(), want)
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestTextReturnsTheErrorOfItsWriter(t *testing.T) {
	full := errors.New("full")
	for _, page := range []string{"a\n", "# a\n", "```\na\n```\n", "| a |\n| --- |\n| b |\n"} {
		if err := Text(broken{full}, page); !errors.Is(err, full) {
			t.Errorf("%q: %v", page, err)
		}
	}
}
