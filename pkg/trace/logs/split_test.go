package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func units(t *testing.T, text string) (got []string) {
	t.Helper()
	s, err := newSplitter(t.Context(), iotest.OneByteReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		u, err := s.next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text[u.offset:], string(u.text)) {
			t.Errorf("%q is not at %d", u.text, u.offset)
		}
		got = append(got, fmt.Sprintf("%d %q%s", u.line, u.indent, u.text))
	}
}

func TestATextIsCutIntoLinesAndObjects(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                  {"\n \n", nil},
		"lines":                    {"a\n\n \tb c \r\n[pod/x] d", []string{`1 ""a`, `3 " \t"b c`, `4 ""[pod/x] d`}},
		"objects":                  {`{"a":1}` + "\n" + ` {"b":"}"} {"c":[]}`, []string{`1 ""{"a":1}`, `2 " "{"b":"}"}`, `2 " "{"c":[]}`}},
		"an object of many lines":  {"{\n  \"a\": {\n    \"b\": 1\n  }\n}\n{}\n", []string{"1 \"\"{\n  \"a\": {\n    \"b\": 1\n  }\n}", `6 ""{}`}},
		"an array":                 {`[{"a":1},{"b":2}]`, []string{`1 ""{"a":1}`, `1 ""{"b":2}`}},
		"an array of many lines":   {"[\n {\"a\":1},\n {\"b\":2}\n]\nx", []string{`2 " "{"a":1}`, `3 " "{"b":2}`, `5 ""x`}},
		"an array in an object":    {`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{"items":[{}]},"items":[{"a":[1]},{"b":2}],"next":{"items":[]}}` + "\n{}", []string{`1 ""{"a":[1]}`, `1 ""{"b":2}`, `2 ""{}`}},
		"two arrays in an object":  {`{"events":[{"a":1}],"x":[3],"records":[{"b":2}]}`, []string{`1 ""{"a":1}`, `1 ""{"b":2}`}},
		"an array of an object":    {`{"apiVersion":"a/v1","events":[{"a":1}],"items":[{"b":2}]}`, []string{`1 ""{"apiVersion":"a/v1","events":[{"a":1}],"items":[{"b":2}]}`}},
		"a list of objects":        {`{"apiVersion":"v1","items":[{"events":[{"a":1}]},{"b":2}],"kind":"List"}` + "\n{}", []string{`1 ""{"events":[{"a":1}]}`, `1 ""{"b":2}`, `2 ""{}`}},
		"rows of a table":          {`{"tables":[{"columns":[{"name":"t"}],"rows":[["2026",1,"{}"],[null,true,"x"]]}]}`, []string{`1 """2026"`, `1 """{}"`, `1 """x"`}},
		"an object that is cut":    {`{"a":"b` + "\n" + `{"c":1}`, []string{`1 ""{"a":"b`, `2 ""{"c":1}`}},
		"... after a colon":        {`{"a":` + "\n" + `{"c":1}` + "\n" + `{"d":1}`, []string{`1 ""{"a":`, `2 ""{"c":1}`, `3 ""{"d":1}`}},
		"... after a bracket":      {`{"a":[` + "\n" + `{"c":1}` + "\n" + `{"d":1}`, []string{`1 ""{"a":[`, `2 ""{"c":1}`, `3 ""{"d":1}`}},
		"... at the end":           {`{}` + "\n" + `{"a":[{"b":1}`, []string{`1 ""{}`, `2 ""{"a":[{"b":1}`}},
		"an array that is cut":     {`[{"a":1},` + "\nI1127 x\n{\"b\":2}", []string{`1 ""{"a":1}`, `2 ""I1127 x`, `3 ""{"b":2}`}},
		"a line that is no object": {"{ a }\nb", []string{`1 ""{ a }`, `2 ""b`}},
		"objects with commas":      {"{},\n{},\n", []string{`1 ""{}`, `2 ""{}`}},
	} {
		if diff := cmp.Diff(tt.want, units(t, tt.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// endless is a text without an end, which somebody interrupts after some MiB.
type endless struct {
	text      string
	interrupt context.CancelCauseFunc
	left      int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left -= len(p); e.left < 0 {
		e.interrupt(errors.New("enough"))
	}
	for n := 0; n < len(p); {
		n += copy(p[n:], e.text)
	}
	return len(p), nil
}

// A line, an object and a list without an end stay within memory, and can be interrupted, also after what is known.
func TestInputWithoutAnEndIsReadUntilItIsInterrupted(t *testing.T) {
	event := line(t, nil) + "\n"
	for begin, text := range map[string]string{
		event:                                 "x",
		event + `{"a":"`:                      "x",
		event + `[[`:                          "[",
		event + `{}`:                          `{"events":[`,
		event + `{"a":[`:                      "[",
		event + `[`:                           `"x",`,
		`{"events":[` + event:                 ",",
		event + strings.TrimSpace(event[:40]): "\x00",
		event + " ":                           " ",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		in := io.MultiReader(strings.NewReader(begin), &endless{text, cancel, 20 << 20})
		if _, err := Read(ctx, in, "log", 0, nobody{}); err == nil || !strings.HasSuffix(err.Error(), "enough") {
			t.Errorf("%.60q…%q: %v", begin, text, err)
		}
	}
}
