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

// reasonsPage is the path of the page of all reason codes, and reasonsSource that of the package
// that declares them, relative to a folder in test.
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

// reasonDocs returns the meaning of each code, the groups in which the package registers them,
// and the states of owners with their comments. The title of a group is the first sentence of its
// comment.
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
				of, ok := spec.(*ast.TypeSpec)
				switch {
				case ok && declaration.Lparen.IsValid(): // a single constant of a group has the comment of the group
					docs[of.Name.Name] = meaning(of.Name.Name, of.Comment.Text())
				case ok:
					docs[of.Name.Name] = meaning(of.Name.Name, declaration.Doc.Text())
				}
			}
			if of, ok := declaration.Specs[0].(*ast.ValueSpec); ok {
				if codes := registered(of); len(codes) > 0 {
					title, _, _ := strings.Cut(strings.Join(strings.Fields(declaration.Doc.Text()), " "), ".")
					groups = append(groups, reasonGroup{title, codes})
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

// ownerStates returns the constants of type OwnerState in a declaration, each with its comment.
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

// registered returns the names of the types in a call of register, sorted.
func registered(of *ast.ValueSpec) []string {
	if len(of.Values) != 1 {
		return nil
	}
	call, ok := of.Values[0].(*ast.CallExpr)
	if !ok {
		return nil
	}
	if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "register" {
		return nil
	}
	var out []string
	for _, arg := range call.Args {
		if literal, ok := arg.(*ast.CompositeLit); ok {
			out = append(out, literal.Type.(*ast.Ident).Name)
		}
	}
	return "", nil
}

// meaning returns the text after "X means that" in the comment of X, or the whole comment if it
// does not begin so.
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
