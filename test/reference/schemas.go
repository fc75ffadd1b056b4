package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// documents are what -o json writes, with the type that is encoded. Those that --watch also writes in
// lines may have the time of the scan.
var documents = []struct {
	kind, encodes, command string
	watched                bool
}{
	{"Overview", "overview.Overview", "-o json", false},
	{"Version", "cmd-version.versionInfo", "version -o json", false},
	{"AuditReport", "audit.Report", "audit -o json", true},
	{"TerminatingReport", "audit.TerminatingReport", "stuck -o json", true},
	{"Tree", "tree.FamilyData", "tree -o json", false},
	{"Explanation", "explain.Explanation", "why -o json", false},
	{"TraceReport", "trace.DeletionReport", "trace -o json", false},
	{"Diagnosis", "doctor.Diagnosis", "doctor -o json", false},
	{"Plan", "plan.Plan", "delete --dry-run -o json", false},
	{"Result", "cli.result", "delete --yes -o json", false},
	{"Snapshot", "snapshot.file", "snapshot", false},
}

// schema is a JSON Schema, or a part of one.
type schema map[string]any

// known are the schemas of types that other modules declare, or whose JSON their declaration does not show.
var known = map[string]schema{
	"string": {"type": "string"}, "bool": {"type": "boolean"}, "int": {"type": "integer"}, "int64": {"type": "integer"},
	"types.UID": {"type": "string"}, "metav1.Duration": {"type": "string"}, "time.Time": {"type": "string", "format": "date-time"},
	"any":         {"type": "object"}, // the parameters of a reason
	"reason.Text": {"type": "string"},
	"metav1.OwnerReference": {
		"type": "object", "required": []string{"apiVersion", "kind", "name", "uid"}, "additionalProperties": false,
		"properties": schema{
			"apiVersion": schema{"type": "string"}, "kind": schema{"type": "string"}, "name": schema{"type": "string"}, "uid": schema{"type": "string"},
			"controller": schema{"type": "boolean"}, "blockOwnerDeletion": schema{"type": "boolean"},
		},
	},
}

// declarations are the types and constants of all packages, by package and name. The package of a command
// is cmd-NAME: others have its name.
type declarations struct {
	types     map[string]ast.Expr   // as they are encoded
	constants map[string]ast.Expr   // their values
	values    map[string][]ast.Expr // the values of the constants of a type
	codes     []any                 // of reasons
	used      map[string]schema     // the types that the present document uses
}

// schemas returns the JSON Schema of each document by its path in docs, from the sources below a
// folder. codes are the codes of reasons.
func schemas(sources string, codes []any) (map[string]string, error) {
	d := &declarations{types: map[string]ast.Expr{}, values: map[string][]ast.Expr{}, constants: map[string]ast.Expr{}, codes: codes}
	err := filepath.WalkDir(sources, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		files, err := parseFolder(path)
		for _, file := range files {
			in := file.Name.Name + "."
			if filepath.Base(filepath.Dir(path)) == "cmd" {
				in = "cmd-" + in
			}
			d.read(file, in)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, doc := range documents {
		d.used = map[string]schema{}
		root, err := d.named(doc.encodes)
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", doc.kind, err)
		}
		fields := root["properties"].(schema)
		fields["apiVersion"], fields["kind"] = schema{"const": "kubectl-gc.dev/v1alpha1"}, schema{"const": doc.kind}
		root["required"] = slices.Compact(slices.Sorted(slices.Values(append(root["required"].([]string), "apiVersion", "kind"))))
		if doc.watched {
			fields["time"] = known["time.Time"]
		}
		delete(d.used, doc.encodes)
		root["$schema"], root["$defs"], root["title"] = "https://json-schema.org/draft/2020-12/schema", d.used, doc.kind
		root["$id"] = "https://raw.githubusercontent.com/kubectl-gc/kubectl-gc/main/docs/schemas/" + doc.kind + ".json"
		root["description"] = "What kubectl gc " + doc.command + " writes; see https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/output.md#" + strings.ToLower(doc.kind)
		encoded, err := json.MarshalIndent(root, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encode the schema of %s: %w", doc.kind, err)
		}
		out["schemas/"+doc.kind+".json"] = string(encoded) + "\n"
	}
	return out, nil
}

// read adds the declarations of a file. A type with MarshalJSON counts as the struct that this encodes.
func (d *declarations) read(file *ast.File, in string) {
	for _, declared := range file.Decls {
		switch declared := declared.(type) {
		case *ast.FuncDecl:
			if declared.Recv == nil || declared.Name.Name != "MarshalJSON" {
				continue
			}
			ast.Inspect(declared, func(n ast.Node) bool {
				if literal, ok := n.(*ast.CompositeLit); ok {
					if s, ok := literal.Type.(*ast.StructType); ok {
						d.types[in+pointed(declared.Recv.List[0].Type).(*ast.Ident).Name] = s
					}
					return false
				}
				return true
			})
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if name := in + spec.Name.Name; d.types[name] == nil { // MarshalJSON may be in an earlier file
						d.types[name] = spec.Type
					}
				case *ast.ValueSpec:
					if declared.Tok == token.CONST && len(spec.Values) == 1 {
						d.constant(in, spec.Names[0].Name, spec.Type, spec.Values[0])
					}
				}
			}
		}
	}
}

// constant adds a constant, whose type may be that of a conversion.
func (d *declarations) constant(in, name string, of, value ast.Expr) {
	if conversion, ok := value.(*ast.CallExpr); ok {
		of, value = conversion.Fun, conversion.Args[0]
	}
	d.constants[in+name] = value
	if of, ok := of.(*ast.Ident); ok {
		d.values[in+of.Name] = append(d.values[in+of.Name], value)
	}
}

// enum returns the values of a type, none if it has no constants.
func (d *declarations) enum(name string) (out []any) {
	if name == "reason.Code" {
		return append([]any{""}, d.codes...)
	}
	if name == "collector.Verdict" { // no reference, no verdict
		out = append(out, "")
	}
	for _, value := range d.values[name] {
		if _, named := value.(*ast.SelectorExpr); named {
			value = d.constants[d.name(value, "")]
		}
		out = append(out, text(value))
	}
	return out
}

// pointed returns what an expression of a pointer type points to, and any other as it is.
func pointed(e ast.Expr) ast.Expr {
	if pointer, ok := e.(*ast.StarExpr); ok {
		return pointer.X
	}
	return e
}

// named returns the schema of a declared type, and records it as used.
func (d *declarations) named(name string) (schema, error) {
	if s := d.used[name]; s != nil {
		return s, nil
	}
	s := schema{}
	d.used[name] = s // before its fields: they may be of this type
	if values := d.enum(name); values != nil {
		s["type"], s["enum"] = "string", values
		return s, nil
	}
	declared, ok := d.types[name]
	if !ok {
		return nil, fmt.Errorf("%s is not declared in this module", name)
	}
	in, _, _ := strings.Cut(name, ".")
	found, err := d.of(declared, in)
	for key, value := range found {
		s[key] = value
	}
	return s, err
}

// of returns the schema of a type expression in a package.
func (d *declarations) of(e ast.Expr, in string) (schema, error) {
	switch e := e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		name := d.name(e, in)
		if s := known[name]; s != nil {
			if ref, ok := s["$ref"].(string); ok {
				_, err := d.named(strings.TrimPrefix(ref, "#/$defs/"))
				return s, err
			}
			return s, nil
		}
		_, err := d.named(name)
		return schema{"$ref": "#/$defs/" + name}, err
	case *ast.StarExpr:
		s, err := d.of(e.X, in)
		return schema{"anyOf": []schema{s, {"type": "null"}}}, err
	case *ast.ArrayType:
		items, err := d.of(pointed(e.Elt), in)
		return schema{"type": "array", "items": items}, err
	case *ast.MapType:
		values, err := d.of(e.Value, in)
		return schema{"type": "object", "additionalProperties": values}, err
	case *ast.StructType:
		fields, required := schema{}, []string{}
		if err := d.fields(e, in, fields, &required); err != nil {
			return nil, err
		}
		slices.Sort(required)
		return schema{"type": "object", "properties": fields, "required": slices.Compact(required), "additionalProperties": false}, nil
	}
	return nil, fmt.Errorf("package %s has a type %T in a document", in, e)
}

// name returns the name of a type by which it is declared or known.
func (d *declarations) name(e ast.Expr, in string) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.Ident:
		if known[e.Name] == nil {
			return in + "." + e.Name
		}
		return e.Name
	}
	return ""
}

// fields adds the fields of a struct that are encoded, and those of what it embeds.
func (d *declarations) fields(s *ast.StructType, in string, fields schema, required *[]string) error {
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-", name == "" && len(f.Names) > 0 && !f.Names[0].IsExported():
		case len(f.Names) == 0 && name == "":
			embedded := d.name(pointed(f.Type), in)
			from, _, _ := strings.Cut(embedded, ".")
			if outside, ok := known[d.name(d.types[embedded], from)]; ok { // a type with the fields of another module's
				maps.Copy(fields, outside["properties"].(schema))
				*required = append(*required, outside["required"].([]string)...)
				break
			}
			inner, ok := d.types[embedded].(*ast.StructType)
			if !ok {
				return fmt.Errorf("package %s embeds %s, which is no struct", in, embedded)
			}
			if err := d.fields(inner, from, fields, required); err != nil {
				return err
			}
		case name == "":
			return fmt.Errorf("a field %v of package %s has no name in JSON", f.Names, in)
		default:
			optional := strings.Contains(options, "omit")
			value := f.Type
			if optional {
				value = pointed(value)
			} else {
				*required = append(*required, name)
			}
			of, err := d.of(value, in)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fields[name] = of
		}
	}
	return nil
}
