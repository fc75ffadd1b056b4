package explainview

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// WriteAll writes every answer, and on a last line when and where the scan was
// made, and whether it was complete.
func (v View) WriteAll(w io.Writer, e *explain.Explanation, server string) error {
	for i, a := range e.Answers {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := v.Write(w, a); err != nil {
			return err
		}
	}
	said := wording.Scan(e.Complete)
	if server != "" { // what kubectl wrote to a file knows neither
		said = fmt.Sprintf("Scanned at %s on a server %s. %s", v.Taken.UTC().Format(time.RFC3339), text(server), said)
	}
	_, err := fmt.Fprintln(w, said)
	return err
}
