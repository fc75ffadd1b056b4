package docgen_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docgen"
)

const before = "# Head\n" +
	"<!-- one: written by make soak -->\nearlier figures\n<!-- end of one -->\nbetween\n" +
	"<!-- two: written by make two -->\n<!-- end of two -->\nTail\n"

func TestFillReplacesOnlyOnePart(t *testing.T) {
	for name, test := range map[string]struct{ part, text, want string }{
		"a part that has figures": {"one", "{{.}} runs\n", "# Head\n" +
			"<!-- one: written by make soak -->\n7 runs\n<!-- end of one -->\nbetween\n" +
			"<!-- two: written by make two -->\n<!-- end of two -->\nTail\n"},
		"a part that is empty": {"two", "{{.}} inputs\n", "# Head\n" +
			"<!-- one: written by make soak -->\nearlier figures\n<!-- end of one -->\nbetween\n" +
			"<!-- two: written by make two -->\n7 inputs\n<!-- end of two -->\nTail\n"},
		"a part that is not there": {"three", "{{.}}\n", before},
		"a template that fails":    {"one", "{{.Missing}}\n", before},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			err := docgen.Fill(path, test.part, test.text, 7)
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if string(got) != test.want || (err == nil) != (test.want != before) {
				t.Errorf("the page is %s, and the error %v", got, err)
			}
		})
	}
}
