package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"

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
	if p.printer == nil {
		return Names(w, d.Named)
	}
	text, err := p.render(d)
	if err != nil {
		return fmt.Errorf("print as %s: %w", p.format, err)
	}
	if p.template && p.format != "jsonpath-as-json" && terminal {
		out := escape.Writer(w)
		if _, err := out.Write(text); err != nil {
			return err
		}
		return out.Close()
	}
	_, err = w.Write(text)
	return err
}

func (p *Printer) render(d *Document) ([]byte, error) {
	var object runtime.Object = d
	var err error
	switch {
	case p.template:
		object, err = generic(d)
	case p.format != "json":
		object, err = readable(d)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := p.printer.PrintObj(object, &out); err != nil {
		return nil, brief(err)
	}
	switch p.format {
	case "json", "jsonpath-as-json":
		return escape.JSON(out.Bytes()), nil
	case "yaml":
		return visibleYAML(object, out.Bytes())
	case "kyaml":
		return quoted(out.Bytes())
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
