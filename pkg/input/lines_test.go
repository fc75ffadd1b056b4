package input_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
)

func TestEachLine(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		"a\n\nb":                 {"1@0 a", "2@2 ", "3@3 b"},
		"\xef\xbb\xbfa\r\n b \n": {"1@0 a", "2@3  b "},
		"12345678\nlong line\n":  {"1@0 12345678", "2@9 too long"},
	} {
		var got []string
		err := input.EachLine(t.Context(), strings.NewReader(text), 9, func(l input.Line) error {
			if l.TooLong {
				l.Text = []byte("too long")
			}
			got = append(got, fmt.Sprintf("%d@%d %s", l.Number, l.Offset, l.Text))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
