package html

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Page is what a page shows.
type Page struct {
	Graph    *graph.Graph
	Report   *audit.Report
	Pass     *plan.Plan // of the collector, over all that was read: what becomes of each object
	Plan     *plan.Plan // whose steps are shown; nil for none
	Source   Source
	Hints    string // what to do next, in a line; may be empty
	Warnings []string
	Version  string // of this program
}

// Source says where the scan was made, and of what. Each may be empty.
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
	out.WriteString(furnished(head)) // the writer keeps its first error for Flush
	if err := encode(out, documentOf(p)); err != nil {
		return fmt.Errorf("encode the page's data: %w", err)
	}
	out.WriteString(furnished(tail))
	return out.Flush()
}

// encode writes data that stays data within a script element: encoding/json escapes <, >
// and &, so that nothing in it can end the element or begin a comment, and the two line
// separators.
func encode(w io.Writer, data any) error { return json.NewEncoder(w).Encode(data) }
