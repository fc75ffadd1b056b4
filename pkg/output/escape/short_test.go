package escape_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

func TestShort(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		max  int
		want string
	}{
		"short text is unchanged":               {"web", 3, "web"},
		"longer text is cut, with its length":   {"webs", 3, "web…(4 bytes)"},
		"characters count, not bytes":           {"日本語", 3, "日本語"},
		"a cut falls between characters":        {"日本語", 2, "日本…(9 bytes)"},
		"a cut never falls into an escape":      {"ab\x1b[31m", 4, "ab…(7 bytes)"},
		"an escape counts as it is shown":       {"\x1b", 4, `\x1b`},
		"a hundred kilobytes become one line":   {strings.Repeat("x", 102400), 5, "xxxxx…(102400 bytes)"},
		"nothing fits into no space":            {"x", 0, "…(1 bytes)"},
		"nothing is nothing, whatever the room": {"", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, escape.Short(c.in, c.max)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzShort(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, max uint8) {
		got, whole := escape.Short(s, int(max)), escape.Terminal(s)
		safe(t, got)
		if got == whole {
			return
		}
		shown := got[:strings.LastIndex(got, "…(")]
		if utf8.RuneCountInString(shown) > int(max) || !strings.HasPrefix(whole, shown) {
			t.Errorf("Short(%q, %d) = %q", s, max, got)
		}
	})
}
