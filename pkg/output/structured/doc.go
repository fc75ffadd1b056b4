// Package structured writes values for programs: -o json, yaml, kyaml, name, jsonpath and
// go-template, with kubectl's flags and printers. JSON and YAML never contain a raw
// control or hidden character; they have escapes that decode to the same value. The output
// of a template or jsonpath is the user's own text, so it is escaped only on a terminal.
package structured
