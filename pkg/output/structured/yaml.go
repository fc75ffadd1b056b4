package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

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
	return quoted(again.Bytes())
}

// quoted escapes what the KYAML encoder leaves hidden. It is in double quotes, where YAML
// has the same escapes as text.
func quoted(kyaml []byte) ([]byte, error) {
	var out bytes.Buffer
	w := escape.Writer(&out)
	if _, err := w.Write(kyaml); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
