package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		text           string
		columns, lines int
		want           []string
	}{
		"keeps a text that fits":                      {"one\ntwo\n", 10, 3, []string{"one", "two"}},
		"leaves the last line of the terminal free":   {"one\ntwo\nthree\n", 10, 3, []string{"one", "… 2 lines do not fit"}},
		"counts a line in the singular":               {"one\ntwo\nthree\nfour\nlong line\n", 6, 6, []string{"one", "two", "three", "four", "… 1 line does not fit"}},
		"continues a long line on the next one":       {"abcdef\n", 4, 5, []string{"abcd", "ef"}},
		"counts the rows of long lines":               {"abcdef\nabcdef\nx\n", 4, 4, []string{"abcd", "ef", "… 2 lines do not fit"}},
		"shows no part of a line":                     {"abcdefghi\n", 2, 3, []string{"… 1 line does not fit"}},
		"a blank line is one":                         {"a\n\nb\n", 4, 5, []string{"a", "", "b"}},
		"wide characters take two columns":            {"日本語\n", 4, 5, []string{"日本", "語"}},
		"a colour takes none and is not split":        {"\x1b[31mabcd\x1b[0mef\n", 4, 5, []string{"\x1b[31mabcd\x1b[0m", "ef"}},
		"has no limit if the size is unknown":         {"one\ntwo\nthree\n", 0, 0, []string{"one", "two", "three"}},
		"a character wider than the terminal is kept": {"日本\n", 1, 0, []string{"日", "本"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, fit(c.text, c.columns, c.lines)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Nothing is lost or changed where everything fits, and nothing is drawn below the terminal.
func TestFitNeverDrawsMoreThanTheTerminalHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a日 \n]|\x1b\[3[0-9]m){0,60}`).Draw(t, "text")
		columns, lines := rapid.IntRange(2, 12).Draw(t, "columns"), rapid.IntRange(2, 12).Draw(t, "lines")
		got := fit(text, columns, lines)
		if len(got) > lines-1 {
			t.Fatalf("%d lines on a terminal of %d: %q", len(got), lines, got)
		}
		whole := strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "")
		if !strings.HasPrefix(got[len(got)-1], "… ") && strings.Join(got, "") != whole {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestScreen(t *testing.T) {
	var out bytes.Buffer
	columns, lines := 20, 4
	s := &screen{out: &out, size: func() (int, int) { return columns, lines }}
	written := func(what string, err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
		out.Reset()
	}
	written("a screen that was not opened is not closed", s.close(), "")
	written("the first text opens it", s.draw("one\ntwo\n"), "\x1b[?1049h\x1b[?25l\x1b[H\x1b[Kone\r\n\x1b[Ktwo\r\n\x1b[J")
	written("the next one replaces it", s.draw("three\n"), "\x1b[H\x1b[Kthree\r\n\x1b[J")
	if s.resized() {
		t.Error("the same size is none to draw again for")
	}
	columns = 3
	if !s.resized() {
		t.Error("another size is one to draw again for")
	}
	written("it is drawn for the new size", s.draw("three\n"), "\x1b[H\x1b[Kthr\r\n\x1b[Kee\r\n\x1b[J")
	written("closing leaves the whole text", s.close(), "\x1b[?25h\x1b[?1049lthree\n")
}
