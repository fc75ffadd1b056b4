package html

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Page is what a page shows.
type Page struct {
	Judge    *collector.Judge // of the scan's graph
	Report   *audit.Report
	Pass     *plan.Plan // of a collection of the whole scan
	Plan     *plan.Plan // its steps are shown; may be nil
	Source   Source
	Hints    string // what to do next, in a line; may be empty
	Warnings []string
	Version  string // of this program
}

// Source says of what the scan was made. Each field may be empty.
type Source struct {
	Context, Address, File string
	Namespace, Selector    string
}

//go:embed page.html
var skeleton string

// Write writes the page.
func Write(w io.Writer, p Page) error {
	out := bufio.NewWriterSize(w, 1<<16)
	head, tail, _ := strings.Cut(skeleton, "{{data}}")
	out.WriteString(fill(head)) // the writer keeps its first error for Flush
	if err := encode(out, documentOf(p)); err != nil {
		return fmt.Errorf("encode the page's data: %w", err)
	}
	out.WriteString(fill(tail))
	return out.Flush()
}

// encode writes data that cannot leave its script element: encoding/json escapes <, > and
// &, and the two line separators.
func encode(w io.Writer, data any) error { return json.NewEncoder(w).Encode(data) }
