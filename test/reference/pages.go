package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reasonsPage returns the page of all reason codes, from the source of package reason in a folder.
// Each file there is a part of the page, named by the comment of its first group. What a code means is
// its comment, or its sentence if it has none. codes are all codes, sorted.
func reasonsPage(folder string) (page string, codes []any, err error) {
	files, err := parseFolder(folder)
	if err != nil {
		return "", nil, err
	}
	p := reasons{structs: map[string]*ast.StructType{}, said: map[string]bool{}}
	for _, file := range files {
		p.collect(file)
	}
	var out, states strings.Builder
	out.WriteString(reasonsHead)
	for _, file := range files {
		title, rows := "", []string{}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			if title == "" && group.Lparen.IsValid() && (group.Tok == token.VAR || group.Tok == token.TYPE) {
				title, _, _ = strings.Cut(strings.Join(strings.Fields(group.Doc.Text()), " "), ".")
			}
			for _, spec := range group.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && group.Tok == token.CONST && isNamed(v.Type, "OwnerState") {
					fmt.Fprintf(&states, "| `%s` | %s |\n", text(v.Values[0]), strings.TrimSpace(v.Comment.Text()))
				} else if row, err := p.row(group, spec); err != nil {
					return "", nil, err
				} else if row != "" {
					rows, codes = append(rows, row), append(codes, strings.Split(row, "`")[1])
				}
			}
		}
		if len(rows) > 0 {
			slices.Sort(rows)
			fmt.Fprintf(&out, "\n## %s\n\n| reason | it means that | parameters |\n| --- | --- | --- |\n%s", title, strings.Join(rows, ""))
		}
	}
	slices.SortFunc(codes, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
	return out.String() + "\n## States of an owner\n\n| state | meaning |\n| --- | --- |\n" + states.String(), codes, nil
}

// parseFolder returns the Go files of a folder in the order of their names, without the tests.
func parseFolder(folder string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		out = append(out, file)
	}
	return out, err
}

// reasons finds the reasons among the declarations of a package.
type reasons struct {
	structs map[string]*ast.StructType
	said    map[string]bool // the types that have a Message
}

func (p reasons) collect(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && d.Name.Name == "Message" {
				if of, ok := d.Recv.List[0].Type.(*ast.Ident); ok {
					p.said[of.Name] = of.Name != "words"
				}
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					if s, ok := t.Type.(*ast.StructType); ok {
						p.structs[t.Name.Name] = s
					}
				}
			}
		}
	}
}

// row returns the line of the page about one declaration, empty if that is no reason.
func (p reasons) row(group *ast.GenDecl, spec ast.Spec) (string, error) {
	var code, sentence string
	var doc *ast.CommentGroup
	var parameters []string
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if code = spec.Name.Name; !p.said[code] {
			return "", nil
		}
		doc, parameters = spec.Doc, p.parameters(code)
	case *ast.ValueSpec:
		if len(spec.Values) != 1 || group.Tok != token.VAR {
			return "", nil
		}
		call, ok := spec.Values[0].(*ast.CallExpr)
		if !ok {
			return "", nil
		}
		code, doc = spec.Names[0].Name, spec.Doc
		of := call.Fun
		if types, ok := of.(*ast.IndexExpr); ok {
			of = types.X
		}
		switch {
		case isNamed(of, "with"):
			parameters = []string{text(call.Args[1])}
			sentence = verb.ReplaceAllString(text(call.Args[2]), "{"+parameters[0]+"}")
		case isNamed(of, "says2"):
			parameters = strings.Fields(strings.ReplaceAll(text(call.Args[1]), ",omitzero", ""))
		case isNamed(call.Fun, "fixed"):
			sentence = text(call.Args[1])
		case isNamed(call.Fun, "failed"):
			parameters, sentence = p.parameters("Failure"), text(call.Args[1])+"{detail}"
		case isNamed(call.Fun, "says"), isNamed(call.Fun, "either"):
			parameters = []string{strings.TrimSuffix(text(call.Args[1]), ",omitzero")}
		default:
			return "", nil
		}
		if declared := text(call.Args[0]); declared != code {
			return "", fmt.Errorf("%s has the code %s", code, declared)
		}
	default:
		return "", nil
	}
	if doc == nil && !group.Lparen.IsValid() {
		doc = group.Doc
	}
	meaning := cmp.Or(strings.TrimPrefix(strings.Join(strings.Fields(doc.Text()), " "), code+" means that "), sentence)
	if meaning == "" || strings.HasPrefix(meaning, code) {
		return "", fmt.Errorf("the comment of %s does not say what it means: %q", code, meaning)
	}
	for i, name := range parameters {
		parameters[i] = "`" + name + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", code, strings.ReplaceAll(strings.TrimSuffix(meaning, "."), "|", `\|`), strings.Join(parameters, ", ")), nil
}

// parameters returns the JSON names of the fields of a struct.
func (p reasons) parameters(of string) []string {
	var out []string
	for _, f := range p.structs[of].Fields.List {
		switch {
		case len(f.Names) == 0:
			embedded := f.Type
			if pointer, ok := embedded.(*ast.StarExpr); ok {
				embedded = pointer.X
			}
			out = append(out, p.parameters(embedded.(*ast.Ident).Name)...)
		case f.Tag != nil:
			name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			out = append(out, name)
		}
	}
	return out
}

var verb = regexp.MustCompile(`%(\[1\])?[sd]`)

func isNamed(e ast.Expr, name string) bool {
	i, ok := e.(*ast.Ident)
	return ok && i.Name == name
}

// text returns the value of a string literal.
func text(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok {
		if s, err := strconv.Unquote(l.Value); err == nil {
			return s
		}
	}
	return ""
}

const reasonsHead = `<!-- Written by "make docs" from the sources of pkg/reason: change those. -->

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

Where the sentence of a reason says what it means, the tables have that: it is about the object of the finding, the step or the
result, and ` + "`{owner}`" + ` stands for a parameter.
`
