package logs

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What is cut out of an object is what encoding/json finds there.
func FuzzObject(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":1}`, ` {"a" : [ {"b":"}]\"" } , null,true ], "a\u0062":"\\", "a":"\ud83d\ude00\/" }`, `{"a":{"b":[[],{}]},"a":-1.5e3}`, `{"a":"x}`, `{"a"}`, `{"a":1,}`, `[]`, `{"a":"b` + "\n" + `c"}`, `{"":""}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := value(text).space()
		got, err := v.object(nil)
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil || want == nil {
			return // what is not needed is not checked
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if n, err := v.end(); err != nil || len(bytes.TrimSpace(v[n:])) > 0 {
			t.Errorf("%q: ends at %d, %v", text, n, err)
		}
		for key, raw := range want {
			is := got.get(key)
			if alone := v.get(key); string(alone) != string(is) {
				t.Errorf("%q: %q is %q and %q", text, key, is, alone)
			}
			if is == nil && string(raw) == "null" || bytes.ContainsRune([]byte(key), '\ufffd') {
				continue
			}
			if !bytes.Equal(is, bytes.TrimSpace(raw)) {
				t.Errorf("%q: %q is %q, want %q", text, key, is, raw)
			}
			var s string
			if json.Unmarshal(raw, &s) == nil && raw[0] == '"' && string([]rune(is.text())) != s {
				t.Errorf("%q: %q is %q, want %q", text, key, is.text(), s)
			}
		}
	})
}
