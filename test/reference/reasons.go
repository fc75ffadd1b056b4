package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// reasonsPage is the page of all reason codes; reasonsSource is the package that declares
// them, from a folder in test.
const (
	reasonsPage   = "reasons.md"
	reasonsSource = "../../pkg/reason"
)

// asReasons returns the page of all reason codes, made from the comments of package
// reason in that folder.
func asReasons(source string) (string, error) {
	docs, groups, states, err := reasonDocs(source)
	if err != nil {
		return "", err
	}
	parameters := map[string][]string{}
	for _, r := range reason.Registered() {
		parameters[string(reason.CodeOf(r))] = parametersOf(reflect.TypeOf(r))
	}
	var out strings.Builder
	out.WriteString(reasonsHead)
	for _, g := range groups {
		fmt.Fprintf(&out, "\n## %s\n\n| reason | it means that | parameters |\n| --- | --- | --- |\n", g.title)
		for _, code := range g.codes {
			names := make([]string, len(parameters[code]))
			for i, p := range parameters[code] {
				names[i] = "`" + p + "`"
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s |\n", code, docs[code], strings.Join(names, ", "))
		}
	}
	out.WriteString("\n## States of an owner\n\n| state | meaning |\n| --- | --- |\n")
	for _, s := range states {
		fmt.Fprintf(&out, "| `%s` | %s |\n", s[0], s[1])
	}
	return out.String(), nil
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

type reasonGroup struct {
	title string
	codes []string
}

// reasonDocs returns what each code means, and the reasons that each file declares: the
// title of such a group is the first sentence of the comment where the file registers those
// with parameters. The states of owners come with their comments.
func reasonDocs(source string) (docs map[string]string, groups []reasonGroup, states [][2]string, err error) {
	files, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return nil, nil, nil, err
	}
	docs = map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("parse %s: %w", name, err)
		}
		var title string
		var codes []string
		for _, d := range file.Decls {
			declaration, ok := d.(*ast.GenDecl)
			if !ok || len(declaration.Specs) == 0 {
				continue
			}
			states = append(states, ownerStates(declaration)...)
			for _, spec := range declaration.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					doc := declaration.Doc
					if declaration.Lparen.IsValid() { // a single constant of a group has the comment of the group
						doc = spec.Comment
					}
					docs[spec.Name.Name] = meaning(spec.Name.Name, doc.Text())
				case *ast.ValueSpec:
					switch function, args := called(spec); function {
					case "register":
						title, _, _ = strings.Cut(strings.Join(strings.Fields(declaration.Doc.Text()), " "), ".")
						for _, arg := range args {
							codes = append(codes, arg.(*ast.CompositeLit).Type.(*ast.Ident).Name)
						}
					case "fixed":
						docs[spec.Names[0].Name] = meaning(spec.Names[0].Name, spec.Doc.Text())
						codes = append(codes, spec.Names[0].Name)
					}
				}
			}
		}
		if len(codes) > 0 {
			slices.Sort(codes)
			groups = append(groups, reasonGroup{title, codes})
		}
	}
	return docs, groups, states, nil
}

// ownerStates returns the constants of type OwnerState that are declared there, each with
// its comment.
func ownerStates(declaration *ast.GenDecl) (out [][2]string) {
	for _, spec := range declaration.Specs {
		of, ok := spec.(*ast.ValueSpec)
		if !ok || len(of.Values) != 1 {
			continue
		}
		kind, isNamed := of.Type.(*ast.Ident)
		value, isLiteral := of.Values[0].(*ast.BasicLit)
		if isNamed && isLiteral && kind.Name == "OwnerState" {
			out = append(out, [2]string{strings.Trim(value.Value, `"`), strings.TrimSpace(of.Comment.Text())})
		}
	}
	return out
}

// called returns the name and the arguments of the function that initializes a variable.
func called(of *ast.ValueSpec) (function string, args []ast.Expr) {
	if len(of.Values) == 1 {
		if call, ok := of.Values[0].(*ast.CallExpr); ok {
			return types.ExprString(call.Fun), call.Args
		}
	}
	return "", nil
}

// meaning returns what follows "X means that" in the comment of X, or all of the comment
// where it leaves that out.
func meaning(name, doc string) string {
	text := strings.TrimPrefix(strings.Join(strings.Fields(doc), " "), name+" means that ")
	return strings.ReplaceAll(strings.TrimSuffix(text, "."), "|", "\\|")
}

// parametersOf returns the JSON names of the fields of a reason.
func parametersOf(of reflect.Type) []string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var out []string
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			out = append(out, parametersOf(f.Type)...)
		case name != "" && name != "-":
			out = append(out, name)
		}
	}
	return out
}
