package wording_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// FuzzCommand checks that a shell reads the same words back: users paste commands that
// contain names from the cluster.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"", "a", "a b", "'", `'\''`, `\`, "$(reboot)", "`x`", "a\nb", "~", "#", "!", "*", "é", "\xff", "-n", "=", "{a,b}", "a'b\"c"} {
		f.Add("kubectl", s)
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		line := wording.Command(a, b)
		if diff := cmp.Diff([]string{a, b}, words(t, line)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", line, diff)
		}
	})
}

// words splits a line as a shell does (POSIX, 2.2), and fails on anything that a shell would
// expand.
func words(t *testing.T, line string) []string {
	var out []string
	var word strings.Builder
	inside := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				t.Fatalf("a quote is not closed: %s", line)
			}
			word.WriteString(line[i+1 : i+1+end])
			i += end + 1
			inside = true
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			inside = true
		case c == ' ':
			out = append(out, word.String())
			word.Reset()
			inside = false
		case strings.IndexByte("|&;<>()$`\"\t\n*?[#~!{}\\", c) >= 0:
			t.Fatalf("%q stands bare in %s", c, line)
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if !inside {
		t.Fatalf("the line ends with a blank: %s", line)
	}
	return append(out, word.String())
}
