// Package structured writes values for programs: -o json, yaml, kyaml, name, jsonpath and
// go-template, with kubectl's flags and printers. JSON and YAML never contain a raw
// control or hidden character; they have escapes that decode to the same value. The output
// of a template or jsonpath is the user's own text, so it is escaped only on a terminal.
package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Printer writes documents in one format.
type Printer struct {
	format   string
	printer  printers.ResourcePrinter // nil for names
	template bool
}

// Print writes one document, or nothing if it cannot be encoded. terminal reports whether
// w is a terminal, which matters only to templates.
func (p *Printer) Print(w io.Writer, d *Document, terminal bool) error {
	text, err := p.render(d)
	if err != nil {
		return fmt.Errorf("print as %s: %w", p.format, err)
	}
	if p.template && p.format != "jsonpath-as-json" && terminal {
		text = escape.Lines(text)
	}
	_, err = w.Write(text)
	return err
}

func (p *Printer) render(d *Document) ([]byte, error) {
	var value runtime.Object = d
	var err error
	switch {
	case p.printer == nil:
		return names(d.Named), nil
	case p.template:
		value, err = generic(d)
	case p.format != "json":
		value, err = readable(d)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := p.printer.PrintObj(value, &out); err != nil {
		return nil, brief(err)
	}
	switch p.format {
	case "json", "jsonpath-as-json":
		return escape.JSON(out.Bytes()), nil
	case "yaml":
		return visibleYAML(value, out.Bytes())
	case "kyaml": // all strings are in double quotes, where YAML has the same escapes as text
		return escape.Lines(out.Bytes()), nil
	}
	return out.Bytes(), nil
}

// generic returns the document as kubectl passes objects to templates: whole numbers stay
// whole, where plain decoding would print 60418000 as 6.0418e+07.
func generic(d *Document) (runtime.Object, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: object}, nil
}

// brief removes the template and the data from a printer's error: the data may be as large
// as the cluster, and is not escaped.
func brief(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line, _, _ = strings.Cut(line, ". Printing more information")
	return fmt.Errorf("%s", escape.Short(line, 400))
}

// readable returns the document as JSON that YAML readers accept. They refuse raw controls
// and surrogate pairs, so hidden characters beyond U+FFFF stay.
func readable(d *Document) (runtime.Object, error) {
	document, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, 0, len(document))
	for rest := document; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if escape.Hidden(r) && r <= 0xffff {
			raw = fmt.Appendf(raw, `\u%04x`, r)
		} else {
			raw = append(raw, rest[:size]...)
		}
		rest = rest[size:]
	}
	return &runtime.Unknown{Raw: raw}, nil
}

// visibleYAML returns the YAML as it was encoded, unless it has hidden characters. Those
// can be escaped only in double quotes, so such a document is written as KYAML, which
// quotes all strings.
func visibleYAML(document runtime.Object, encoded []byte) ([]byte, error) {
	hidden := func(r rune) bool { return escape.Hidden(r) && r != '\n' && r != '\t' }
	if !bytes.ContainsFunc(encoded, hidden) {
		return encoded, nil
	}
	var again bytes.Buffer
	if err := (&printers.KYAMLPrinter{}).PrintObj(document, &again); err != nil {
		return nil, err
	}
	return escape.Lines(again.Bytes()), nil
}

// names returns objects as kubectl -o name writes them: kind.group/name, the kind in lower
// case, without the core group. Repeated lines are there once.
func names(objects []object.Identity) []byte {
	var out []byte
	written := map[string]bool{}
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		line := strings.ToLower(gvk.Kind)
		if gvk.Group != "" {
			line += "." + gvk.Group
		}
		line = escape.Terminal(line+"/"+o.Name) + "\n"
		if !written[line] {
			written[line] = true
			out = append(out, line...)
		}
	}
	return out
}
