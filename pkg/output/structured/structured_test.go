package structured_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// report has fields that are not in alphabetical order.
type report struct {
	Summary  summary   `json:"summary"`
	Complete bool      `json:"complete"`
	Findings []finding `json:"findings"`
}

type summary struct {
	References int `json:"references"`
}

type finding struct {
	Rule  string `json:"rule"`
	Owner string `json:"owner"`
}

func document(owners ...string) *structured.Document {
	r := report{Complete: true, Summary: summary{60418000}, Findings: []finding{}}
	for i, o := range owners {
		r.Findings = append(r.Findings, finding{Rule: []string{"missing-owner", "self-owner"}[i%2], Owner: o})
	}
	return structured.NewDocument("AuditReport", r,
		object.Identity{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web"},
		object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a\nb"},
		object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "other", Name: "a\nb"},
		object.Identity{APIVersion: "a/b/c", Kind: "Odd", Name: "x"},
	)
}

func printed(t *testing.T, format string, d *structured.Document, terminal bool) string {
	t.Helper()
	p, err := structured.NewFlags(os.ReadFile).ToPrinter(format)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Print(&out, d, terminal); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPrint(t *testing.T) {
	files := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(files, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	two := []string{"Deployment/old", "Pod/x"}
	for name, c := range map[string]struct {
		format   string
		owners   []string
		terminal bool
		want     string
	}{
		"json has the type first and the fields as declared": {
			format: "json", owners: two[:1],
			want: `{
    "apiVersion": "kubectl-gc.dev/v1alpha1",
    "kind": "AuditReport",
    "summary": {
        "references": 60418000
    },
    "complete": true,
    "findings": [
        {
            "rule": "missing-owner",
            "owner": "Deployment/old"
        }
    ]
}
`,
		},
		"json escapes hidden characters, also in a file": {
			format: "json", owners: []string{"\x1b[31m\u009b\u202e\x7f\U000e0041é"},
			want: `{
    "apiVersion": "kubectl-gc.dev/v1alpha1",
    "kind": "AuditReport",
    "summary": {
        "references": 60418000
    },
    "complete": true,
    "findings": [
        {
            "rule": "missing-owner",
            "owner": "\u001b[31m\u009b\u202e\u007f\udb40\udc41é"
        }
    ]
}
`,
		},
		"yaml is sorted as kubectl sorts it": {
			format: "yaml", owners: two[:1],
			want: `apiVersion: kubectl-gc.dev/v1alpha1
complete: true
findings:
- owner: Deployment/old
  rule: missing-owner
kind: AuditReport
summary:
  references: 60418000
`,
		},
		"yaml with something hidden quotes its strings": {
			format: "yaml", owners: []string{"\u202egpj\u009b"},
			want: `---
{
  apiVersion: "kubectl-gc.dev/v1alpha1",
  kind: "AuditReport",
  summary: {
    references: 60418000,
  },
  complete: true,
  findings: [{
    rule: "missing-owner",
    owner: "\u202egpj\u009b",
  }],
}
`,
		},
		"kyaml quotes all strings": {
			format: "kyaml",
			want: `---
{
  apiVersion: "kubectl-gc.dev/v1alpha1",
  kind: "AuditReport",
  summary: {
    references: 60418000,
  },
  complete: true,
  findings: [],
}
`,
		},
		"name prints each object once, escaped":              {format: "name", want: "replicaset.apps/web\nconfigmap/a\\nb\nodd/x\n"},
		"jsonpath works as in kubectl":                       {format: "jsonpath={.findings[*].rule}", owners: two, want: "missing-owner self-owner"},
		"jsonpath ranges over findings":                      {format: `jsonpath={range .findings[*]}{.rule}{"\t"}{.owner}{"\n"}{end}`, owners: two, want: "missing-owner\tDeployment/old\nself-owner\tPod/x\n"},
		"jsonpath prints large numbers whole":                {format: "jsonpath={.summary.references}", want: "60418000"},
		"jsonpath sees the type":                             {format: "jsonpath={.kind}", want: "AuditReport"},
		"jsonpath prints nothing for a missing field":        {format: "jsonpath={.none}", want: ""},
		"jsonpath to a file is untouched":                    {format: "jsonpath={.findings[0].owner}", owners: []string{"\x1b[31m\nx"}, want: "\x1b[31m\nx"},
		"jsonpath on a terminal is escaped":                  {format: "jsonpath={.findings[0].owner}", owners: []string{"\x1b[31m\nx\xe2"}, terminal: true, want: "\\x1b[31m\nx\ufffd"},
		"jsonpath-as-json is JSON, always escaped":           {format: "jsonpath-as-json={.findings[*].owner}", owners: []string{"\u202e"}, want: "[\n    \"\\u202e\"\n]\n"},
		"jsonpath-file reads the template of a file":         {format: "jsonpath-file=" + write("jsonpath", "{.kind}"), want: "AuditReport"},
		"go-template works as in kubectl":                    {format: "go-template={{range .findings}}{{.rule}}{{end}}", owners: two, want: "missing-ownerself-owner"},
		"go-template prints large numbers whole":             {format: "go-template={{.summary.references}}", want: "60418000"},
		"template is another word for it":                    {format: "template={{.kind}}", want: "AuditReport"},
		"go-template on a terminal is escaped":               {format: "go-template={{range .findings}}{{.owner}}{{end}}", owners: []string{"\u202e"}, terminal: true, want: `\u202e`},
		"go-template-file reads the template of a file":      {format: "go-template-file=" + write("template", "{{.kind}}"), want: "AuditReport"},
		"the word json may be in capitals, as kubectl takes": {format: "JSON", want: printed(t, "json", document(), false)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, printed(t, c.format, document(c.owners...), c.terminal)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTemplateFlag(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		format    string
		want      string
	}{
		"a template without a format is a go-template": {[]string{"--template={{.kind}}"}, "", "AuditReport"},
		"a template may be given beside its format":    {[]string{"--template={.kind}"}, "jsonpath", "AuditReport"},
	} {
		t.Run(name, func(t *testing.T) {
			flags, line := structured.NewFlags(os.ReadFile), pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.Add(line)
			if err := line.Parse(c.arguments); err != nil {
				t.Fatal(err)
			}
			p, err := flags.ToPrinter(c.format)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := p.Print(&out, document(), false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUnusableFormats(t *testing.T) {
	for format, want := range map[string]string{
		"xml":              `"xml" is not an output format: choose one of table, wide, json, yaml, kyaml, name, jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file, template, templatefile`,
		"":                 `"" is not an output format: choose one of table, wide, json, yaml, kyaml, name, jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file, template, templatefile`,
		"jsonpath":         "read -o jsonpath: template format specified but no template given",
		"go-template={{":   "read -o go-template: error parsing template {{, template: output:1: unclosed action",
		"jsonpath-file=/-": "read -o jsonpath-file: error reading --template /-, open /-: no such file or directory",
	} {
		t.Run(format, func(t *testing.T) {
			_, err := structured.NewFlags(os.ReadFile).ToPrinter(format, "table", "wide")
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestFailingTemplateWritesNothing(t *testing.T) {
	for format, want := range map[string]string{
		"jsonpath={.findings[7]}":                 "print as jsonpath: error executing jsonpath \"{.findings[7]}\": Error executing template: array index out of bounds: index 7, length 0",
		"go-template={{index .findings 7}}":       "print as go-template: error executing template \"{{index .findings 7}}\": template: output:1:2: executing \"output\" at <index .findings 7>: error calling index: index out of range: 7",
		"go-template={{template \"\u202emiss\"}}": "",
	} {
		t.Run(format, func(t *testing.T) {
			p, err := structured.NewFlags(os.ReadFile).ToPrinter(format)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err = p.Print(&out, document(), false)
			if err == nil || out.Len() > 0 {
				t.Fatalf("wrote %q, error %v", out.String(), err)
			}
			if diff := cmp.Diff(want, err.Error()); want != "" && diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if err.Error() != escape.Terminal(err.Error()) {
				t.Errorf("%q is not escaped", err)
			}
		})
	}
}

func TestValueMustBeAnObject(t *testing.T) {
	p, err := structured.NewFlags(os.ReadFile).ToPrinter("json")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Print(&bytes.Buffer{}, structured.NewDocument("Tree", nil), false); err == nil {
		t.Error("no error")
	}
}

func FuzzPrint(f *testing.F) {
	for _, s := range []string{"", "Deployment/web", "yes", "a: b", "\x00\x1b[31m\x7f", "\u0085\u009b", "\u202e\u2028\u2029", "\u200b\ufeff\ufffe", "\U000e0041🐹", " lead\n- x\n\tend ", "\xff", `\u202e"'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, owner string) {
		d := document(owner, "\u202e")
		for _, d := range []*structured.Document{d, document(owner)} {
			data, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			for format, decode := range map[string]func([]byte, any) error{
				"json": json.Unmarshal,
				"yaml": func(b []byte, v any) error { return yaml.Unmarshal(b, v) },
				"kyaml": func(b []byte, v any) error {
					return yaml.Unmarshal(bytes.TrimPrefix(b, []byte("---\n")), v)
				},
			} {
				got := printed(t, format, d, false)
				if strings.ContainsFunc(got, func(r rune) bool { return escape.Hidden(r) && r != '\n' && r != '\t' }) || !utf8.ValidString(got) {
					t.Errorf("%s is not escaped: %q", format, got)
				}
				var decoded any
				if err := decode([]byte(got), &decoded); err != nil {
					t.Fatalf("%s: %v\n%s", format, err, got)
				}
				if diff := cmp.Diff(want, decoded); diff != "" {
					t.Errorf("%s decodes to another value (-want +got)\n%s\n%q", format, diff, got)
				}
			}
		}
	})
}
