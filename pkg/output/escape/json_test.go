package escape_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a plain document is itself":     {"{\n\t\"a\": \"é日本🐹\"\r\n}", "{\n\t\"a\": \"é日本🐹\"\r\n}"},
		"nothing is nothing":             {"", ""},
		"DEL is escaped":                 {"\"\x7f\"", `"\u007f"`},
		"eight bit controls are escaped": {"\"\u009b31m\"", `"\u009b31m"`},
		"bidi controls are escaped":      {"\"\u202egpj\u2069\"", `"\u202egpj\u2069"`},
		"a surrogate pair beyond U+FFFF": {"\"\U000e0041\"", `"\udb40\udc41"`},
		"escapes that are there stay":    {`"\u001b\\n"`, `"\u001b\\n"`},
		"keys are escaped too":           {"{\"a\u200b\":1}", `{"a\u200b":1}`},
		"an invalid byte":                {"\"\x9b\"", `"\ufffd"`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(escape.JSON([]byte(c.in)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		document, err := json.MarshalIndent(map[string]any{key: value, "n": []any{1, nil, value}}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		got := escape.JSON(document)
		safe(t, string(got), '\n', '\t')
		var want, decoded any
		if err := json.Unmarshal(document, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &decoded); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if diff := cmp.Diff(want, decoded); diff != "" {
			t.Errorf("another value (-want +got)\n%s", diff)
		}
	})
}
