package escape_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// through writes s to a Writer in pieces of at most size bytes.
func through(t *testing.T, s string, size int) string {
	t.Helper()
	return piecewise(t, escape.Writer, s, size)
}

func piecewise(t *testing.T, writer func(io.Writer) io.WriteCloser, s string, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := writer(&out)
	for rest := []byte(s); len(rest) > 0; {
		piece := rest[:min(size, len(rest))]
		if n, err := w.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", piece, n, err)
		}
		rest = rest[len(piece):]
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return out.String()
}

func TestWriter(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"line breaks and tabs pass":             {"a\tb\nc", "a\tb\nc"},
		"a carriage return does not":            {"a\r\n", "a\\r\n"},
		"escape sequences are shown":            {"\x1b[2J\u009b\u202e", `\x1b[2J\u009b\u202e`},
		"a character in pieces is put together": {"日本🐹é", "日本🐹é"},
		"an incomplete last character is shown": {"a\xe2\x80", `a\xe2\x80`},
		"invalid bytes are shown":               {"\xff\x80\xf0\x90x", `\xff\x80\xf0\x90x`},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= 5; size++ {
				if diff := cmp.Diff(c.want, through(t, c.in, size)); diff != "" {
					t.Errorf("in pieces of %d (-want +got)\n%s", size, diff)
				}
			}
		})
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriterReturnsErrors(t *testing.T) {
	want := errors.New("pipe closed")
	if _, err := escape.Writer(broken{want}).Write([]byte("x")); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func FuzzWriter(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		got := through(t, s, int(size)+1)
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
			t.Errorf("in pieces of %d (-want +got)\n%s", int(size)+1, diff)
		}
	})
}

func TestJSONWriterOfSplitDocument(t *testing.T) {
	for _, document := range []string{
		"", "{\n\t\"a\": 1\n}\n", "{\"\u202e\":\"\u009b31m\U000e0041é日本🐹\"}\n", "\"\x9b\"", "\"cut off\xe2\x80",
	} {
		for size := 1; size <= 5; size++ {
			if diff := cmp.Diff(string(escape.JSON([]byte(document))), piecewise(t, escape.JSONWriter, document, size)); diff != "" {
				t.Errorf("%q in pieces of %d (-want +got)\n%s", document, size, diff)
			}
		}
	}
}

func FuzzJSONWriter(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		got := piecewise(t, escape.JSONWriter, s, int(size)+1)
		safe(t, got, '\n', '\t', '\r')
		if diff := cmp.Diff(string(escape.JSON([]byte(s))), got); diff != "" {
			t.Errorf("in pieces of %d (-want +got)\n%s", int(size)+1, diff)
		}
	})
}
