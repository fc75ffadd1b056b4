package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/schema"
)

const folder = "../../docs/schemas"

func TestCheck(t *testing.T) {
	const tree = `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Tree","complete":true,"gaps":[],"targets":[],"objects":[]}`
	const terminating = `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"TerminatingReport","complete":true,"gaps":[],"objects":[]}`
	for name, c := range map[string]struct{ output, wants string }{
		"a document":                 {tree, ""},
		"a document of a watch":      {strings.Replace(terminating, "}", `,"time":"2026-11-20T08:31:04Z"}`, 1), ""},
		"text":                       {"Nothing to report.\n", ""},
		"JSON of another API":        {`{"apiVersion":"v1","kind":"List","items":[]}`, ""},
		"a field without a schema":   {strings.Replace(tree, "}", `,"more":1}`, 1), "'more' not allowed"},
		"a missing field":            {strings.Replace(tree, `"complete":true,`, "", 1), "missing property 'complete'"},
		"null instead of a list":     {strings.Replace(tree, "[]", "null", 1), "got null, want array"},
		"a wrong date":               {strings.Replace(terminating, "}", `,"time":"yesterday"}`, 1), "is not valid date-time"},
		"a kind without a schema":    {strings.Replace(tree, "Tree", "Forest", 1), "no valid schema"},
		"a wrong line after another": {tree + "\n" + strings.Replace(tree, "true", "1", 1), "got number, want boolean"},
	} {
		t.Run(name, func(t *testing.T) {
			err := schema.Check(folder, []byte(c.output))
			if (err != nil) != (c.wants != "") || err != nil && !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v, want %q", err, c.wants)
			}
		})
	}
}

func TestEverySchemaIsValid(t *testing.T) {
	files, err := filepath.Glob(folder + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no schemas: %v", err)
	}
	for _, file := range files {
		kind := strings.TrimSuffix(filepath.Base(file), ".json")
		err := schema.Check(folder, []byte(`{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"`+kind+`"}`))
		if err == nil || !strings.Contains(err.Error(), "missing propert") {
			t.Errorf("a %s without fields: %v", kind, err)
		}
	}
}

func TestDemoMatchesSchemaOfSnapshots(t *testing.T) {
	demo, err := os.ReadFile("../../docs/demo/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Check(folder, demo); err != nil {
		t.Error(err)
	}
}
