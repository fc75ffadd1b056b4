package escape_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

func TestTerminal(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a plain name passes":                          {"web-5f6d8c9b7", "web-5f6d8c9b7"},
		"nothing stays nothing":                        {"", ""},
		"accents, composed or not, pass":               {"é e\u0301 ñ Ω ж", "é e\u0301 ñ Ω ж"},
		"Chinese, Japanese, Korean, Arabic, Thai pass": {"中文 日本語 한국어 عربي ไทย", "中文 日本語 한국어 عربي ไทย"},
		"symbols, tree glyphs and emoji pass":          {"├─ → ✓ 🐹", "├─ → ✓ 🐹"},
		"a backslash passes":                           {`C:\x`, `C:\x`},
		"an ideographic space passes":                  {"a\u3000b", "a\u3000b"},
		"a line break cannot forge a line":             {"a\nPod/b", `a\nPod/b`},
		"a carriage return and a tab are named":        {"a\r\tb", `a\r\tb`},
		"a colour sequence is shown":                   {"\x1b[31mred", `\x1b[31mred`},
		"NUL, bell, backspace and DEL are shown":       {"\x00\x07\x08\x7f", `\x00\x07\x08\x7f`},
		"an eight bit control sequence is shown":       {"\u009b31m\u0085", `\u009b31m\u0085`},
		"a bidi override is shown":                     {"\u202egpj.exe\u2066\u200f\u061c", `\u202egpj.exe\u2066\u200f\u061c`},
		"zero-width characters are shown":              {"a\u200bb\u200d\ufeff\u00ad", `a\u200bb\u200d\ufeff\u00ad`},
		"line and paragraph separators are shown":      {"a\u2028b\u2029", `a\u2028b\u2029`},
		"fillers and variation selectors are shown":    {"\u3164\u115f\ufe0f\U000e0100", `\u3164\u115f\ufe0f\U000e0100`},
		"tag characters are shown":                     {"\U000e0041", `\U000e0041`},
		"private and unassigned characters are shown":  {"\ue000\U0010ffff", `\ue000\U0010ffff`},
		"invalid bytes are shown one by one":           {"a\x9b\xff\xe2\x80", `a\x9b\xff\xe2\x80`},
		"a surrogate in disguise is invalid":           {"\xed\xa0\x80", `\xed\xa0\x80`},
		"a replacement character is only a character":  {"\ufffd", "\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, escape.Terminal(c.in)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOrdinaryTextNeedsNoAllocation(t *testing.T) {
	for _, s := range []string{"web-5f6d8c9b7", "é 日本語 └─ Pod/x"} {
		if n := testing.AllocsPerRun(100, func() { escape.Terminal(s) }); n != 0 {
			t.Errorf("Terminal(%q) allocates %v times", s, n)
		}
		if n := testing.AllocsPerRun(100, func() { escape.Short(s, 100) }); n != 0 {
			t.Errorf("Short(%q) allocates %v times", s, n)
		}
	}
}

// hostile returns seeds of all fuzz targets.
var hostile = []string{
	"", "web", "é 日本", "a\nb\tc\rd", "\x1b]0;title\x07", "\u009b2J", "\u202e\u2066", "\u200b\ufeff", "\xff\xe2\x80", "\U000e0041\U0001f439", "\ufffd", `"\\u0041`,
}

// safe fails the test if s could act on a terminal or hide something.
func safe(t *testing.T, s string, passes ...rune) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%q is not valid UTF-8", s)
	}
next:
	for _, r := range s {
		for _, p := range passes {
			if r == p {
				continue next
			}
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || escape.Hidden(r) {
			t.Errorf("%q holds %U", s, r)
		}
	}
}

func FuzzTerminal(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := escape.Terminal(s)
		safe(t, got)
		if again := escape.Terminal(got); again != got {
			t.Errorf("Terminal(%q) = %q, and of that %q", s, got, again)
		}
	})
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"line breaks and tabs pass":             {"a\tb\nc", "a\tb\nc"},
		"a carriage return does not":            {"a\r\n", "a\\r\n"},
		"escape sequences are shown":            {"\x1b[2J\u009b\u202e", `\x1b[2J\u009b\u202e`},
		"characters of several bytes pass":      {"日本🐹é", "日本🐹é"},
		"an incomplete last character is shown": {"a\xe2\x80", `a\xe2\x80`},
		"invalid bytes are shown":               {"\xff\x80\xf0\x90x", `\xff\x80\xf0\x90x`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(escape.Lines([]byte(c.in)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(escape.Lines([]byte(s)))
		safe(t, got, '\n', '\t')
		want := ""
		for rest := s; ; {
			i := strings.IndexAny(rest, "\n\t")
			if i < 0 {
				want += escape.Terminal(rest)
				break
			}
			want += escape.Terminal(rest[:i]) + rest[i:i+1]
			rest = rest[i+1:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
