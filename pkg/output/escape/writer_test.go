package escape_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// piecewise writes s to a JSONWriter in pieces of at most size bytes.
func piecewise(t *testing.T, s string, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := escape.JSONWriter(&out)
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

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriterReturnsErrors(t *testing.T) {
	want := errors.New("pipe closed")
	if _, err := escape.JSONWriter(broken{want}).Write([]byte("x\n")); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestJSONWriterOfSplitDocument(t *testing.T) {
	for _, document := range []string{
		"", "{\n\t\"a\": 1\n}\n", "{\"\u202e\":\"\u009b31m\U000e0041é日本🐹\"}\n", "\"\x9b\"", "\"cut off\xe2\x80",
		"日本🐹é", "a\xe2\x80", "\xff\x80\xf0\x90x",
	} {
		for size := 1; size <= 5; size++ {
			if diff := cmp.Diff(string(escape.JSON([]byte(document))), piecewise(t, document, size)); diff != "" {
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
		got := piecewise(t, s, int(size)+1)
		safe(t, got, '\n', '\t', '\r')
		if diff := cmp.Diff(string(escape.JSON([]byte(s))), got); diff != "" {
			t.Errorf("in pieces of %d (-want +got)\n%s", int(size)+1, diff)
		}
	})
}
