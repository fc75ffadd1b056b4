package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// reasonsPage returns the page of all reason codes, from the comments of package reason in a
// folder. Each file there is a part of the page, named by the comment of its first call of register.
func reasonsPage(folder string) (string, error) {
	parameters := map[string]string{}
	for _, r := range reason.Registered() {
		parameters[string(reason.CodeOf(r))] = strings.Join(parametersOf(reflect.TypeOf(r)), ", ")
	}
	var out, states strings.Builder
	out.WriteString(reasonsHead)
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return "", fmt.Errorf("parse %s: %w", name, err)
		}
		title, rows := "", []string{}
		add := func(code string, doc *ast.CommentGroup) error {
			of, registered := parameters[code]
			meaning := strings.TrimPrefix(strings.Join(strings.Fields(doc.Text()), " "), code+" means that ")
			if registered && (meaning == "" || strings.HasPrefix(meaning, code)) {
				return fmt.Errorf("%s: the comment of %s does not say what it means: %q", name, code, meaning)
			}
			if registered {
				delete(parameters, code)
				rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", code, strings.ReplaceAll(strings.TrimSuffix(meaning, "."), "|", `\|`), of))
			}
			return nil
		}
		for _, declared := range file.Decls {
			d, ok := declared.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range d.Specs {
				var err error
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					doc := d.Doc
					if d.Lparen.IsValid() {
						doc = spec.Comment
					}
					err = add(spec.Name.Name, doc)
				case *ast.ValueSpec:
					kind, typed := spec.Type.(*ast.Ident)
					switch {
					case spec.Names[0].Name == "_" && title == "":
						title, _, _ = strings.Cut(strings.Join(strings.Fields(d.Doc.Text()), " "), ".")
					case typed && kind.Name == "OwnerState" && d.Tok == token.CONST:
						fmt.Fprintf(&states, "| `%s` | %s |\n", strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`), strings.TrimSpace(spec.Comment.Text()))
					default:
						err = add(spec.Names[0].Name, spec.Doc)
					}
				}
				if err != nil {
					return "", err
				}
			}
		}
		if len(rows) > 0 {
			slices.Sort(rows)
			fmt.Fprintf(&out, "\n## %s\n\n| reason | it means that | parameters |\n| --- | --- | --- |\n%s", title, strings.Join(rows, ""))
		}
	}
	if len(parameters) > 0 {
		return "", fmt.Errorf("no comment was found in %s for %v", folder, parameters)
	}
	return out.String() + "\n## States of an owner\n\n| state | meaning |\n| --- | --- |\n" + states.String(), nil
}

const reasonsHead = `<!-- Written by "make docs" from the comments in pkg/reason: change those. -->

# Reason codes

Findings, steps, outcomes, blocked objects and results say why: ` + "`reason`" + ` is a stable code that scripts may rely on,
` + "`parameters`" + ` are its typed values, and ` + "`message`" + ` is the sentence for people, which may change with any version. No digest
and no comparison depends on a message. See [output.md](output.md) for the documents.

Parameters that many reasons share:

* An **object** has ` + "`apiVersion`, `kind`, `namespace`, `name` and `uid`" + `.
* An **owner** is what a reference names, with its ` + "`state`" + ` (the last table), and where it applies ` + "`uidHolder`" + ` (the object that has
  the UID), ` + "`nameHolder`" + ` (the object that has the name) and ` + "`servedVersions`" + `.
* A **gap** has ` + "`group`, `resource`, `namespace`, `name` and `errorClass`" + `.
* **because** is a reason itself.
`

// parametersOf returns the JSON names of the fields of a reason, as code.
func parametersOf(of reflect.Type) []string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var out []string
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, "`"+name+"`")
		}
	}
	return out
}

// versionsPage returns the page about differences between releases of Kubernetes.
func versionsPage() string {
	var out strings.Builder
	fmt.Fprintf(&out, versionsHead, collector.NewestRelease)
	for _, c := range collector.Changes {
		fmt.Fprintf(&out, "\n## %s\n\n| | |\n| --- | --- |\n", c.Since)
		for _, row := range [][2]string{
			{"since then", c.Change}, {"before", c.Before}, {"it concerns", c.Concerns}, {"this program", c.Modeled}, {"upstream", c.Upstream},
		} {
			fmt.Fprintf(&out, "| %s | %s |\n", row[0], row[1])
		}
	}
	return out.String()
}

const versionsHead = `<!-- Written by "make docs" from pkg/collector/version.go: change that. -->

# Versions of Kubernetes

The garbage collector, the namespace controller and the API server behave differently in some releases. This page lists what
is known to differ, newest last. [The rules](gc-semantics.md) describe the newest release.

This program knows the garbage collector up to Kubernetes %[1]s. If a server is newer, or if its version is unknown, it predicts
the server as if it were %[1]s and says so: in a warning, and in the caveats of ` + "`why`" + `. A scan records the version of the
server; a file from ` + "`kubectl get`" + ` does not.
`
