package why

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/why"
)

// WriteAll writes every answer, and on a last line when and where things were
// seen so, and whether that was all there is.
func (v View) WriteAll(w io.Writer, e *why.Explanation, server string) error {
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
	view := "Whole view."
	if !e.Complete {
		view = "Not the whole view."
	}
	if server != "" { // what kubectl wrote to a file knows neither
		view = fmt.Sprintf("Seen at %s on a server %s. %s", v.Taken.UTC().Format(time.RFC3339), text(server), view)
	}
	_, err := fmt.Fprintln(w, view)
	return err
}
