package manifest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
)

// FuzzRead checks that every object has a kind, and that the number of objects is limited
// by the length of the file.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "---\n", "null", "{}", "[]", configMap("a"), configMap("a") + "---\n" + configMap("b"), "\ufeff" + configMap("a"), utf16LE(configMap("a")),
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u","namespace":"n"}}{"kind":"Secret"}`,
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: [{}, null, {kind: 1}]}\n- null\n",
		"apiVersion: v1\nkind: PodList\nitems:\n- {metadata: {name: a}}\n", `{"kind":"List","items":{}}`, `{"kind":"A","metadata":[]}`, `{"kind":"A","metadata":{"name":1}}`,
		"kind: &a A\nname: *a\n", "a: &a [*a]\n", "--- x\n", "{kind: A\n}", strings.Repeat("[", 100), strings.Repeat(`{"kind":"List","items":[`, 50),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := manifest.Files{Names: []string{"-"}}.Read(t.Context(), bytes.NewReader(text))
		if err != nil {
			if !strings.Contains(err.Error(), "standard input") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		if len(all) > 4*len(text)+1<<20 {
			t.Errorf("%d objects in %d bytes", len(all), len(text))
		}
		for _, n := range all {
			if n.Kind == "" || n.Source != "standard input" {
				t.Errorf("%+v", n)
			}
		}
	})
}
