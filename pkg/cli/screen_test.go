package cli

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		height int
		want   []string
	}{
		"keeps a text that fits":                    {"one\ntwo\n", 3, []string{"one", "two"}},
		"leaves the last line of the terminal free": {"one\ntwo\nthree\n", 3, []string{"one", "… 2 lines do not fit"}},
		"a blank line is one":                       {"a\n\nb\n", 4, []string{"a", "", "b"}},
		"has no limit if the size is unknown":       {"one\ntwo\nthree\n", 0, []string{"one", "two", "three"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, fit(c.text, c.height)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestScreen(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, height: func() int { return 4 }}
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
	written("the first text opens it", s.draw("one\ntwo\n"), "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[Kone\r\n\x1b[Ktwo\r\n\x1b[J")
	written("the next one replaces it", s.draw("three\n"), "\x1b[H\x1b[Kthree\r\n\x1b[J")
	written("closing leaves the whole text", s.close(), "\x1b[?7h\x1b[?25h\x1b[?1049lthree\n")
}
