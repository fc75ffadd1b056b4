// Package structured writes values for programs: -o json, yaml, kyaml, name,
// jsonpath and go-template, with the flags and printers of kubectl.
//
// A value is wrapped in a Document, which is its public form. JSON and YAML
// never carry a raw control or an invisible character: such are written as
// escapes that decode to the same value, on a terminal or not. What a template
// or jsonpath writes is the user's own text: it is escaped on a terminal only.
//
// The package asks no cluster. It reads a file only where the user named one
// (jsonpath-file, go-template-file).
package structured
