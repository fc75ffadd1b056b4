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

// readable is the document as JSON that YAML readers accept, which is how the
// printers make YAML: raw controls they refuse, and surrogate pairs too, so
// that what is hidden beyond U+FFFF stays.
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

// visibleYAML is the YAML as it was encoded, unless it holds something hidden.
// That can be escaped only in double quotes, which the encoder does not use for
// it. So such a document is written as KYAML, the dialect that quotes all strings.
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

// quoted makes visible what the KYAML encoder leaves hidden. It stands in
// double quotes, where the escapes of text are those of YAML.
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
