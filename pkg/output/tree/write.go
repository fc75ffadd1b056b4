package tree

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// RowView says how rows are written.
type RowView struct {
	Graph    *graph.Graph
	Judge    *collector.Judge
	Cells    map[types.UID]object.Columns // nil without a server
	Users    []reason.UsedByOthers        // of the targets, on request
	Palette  *color.Palette
	Wide     bool
	Isolated int // number of objects without owner and dependent, which are not shown
}

// maxText limits the characters shown of a string from the cluster.
const maxText = 120

// Write writes the rows as a table, then a line for each kind of use, and a summary on the last line. It escapes
// everything.
func (v RowView) Write(w io.Writer, rows []Row) error {
	header := []string{"NAMESPACE", "NAME", "READY", "STATUS", "AGE"}
	if v.Wide {
		header = append(header, "REFERENCE", "UID")
	}
	header = append(header, "")
	cells := make([][]string, len(rows))
	above := "\x00" // no namespace is called so
	for i, r := range rows {
		namespace := ""
		if r.Prefix == "" || r.Namespace != above {
			namespace = v.namespace(r)
		}
		above = r.Namespace
		cells[i] = v.cells(r, namespace)
	}
	header, cells = table.DropEmpty(header, cells, "READY", "STATUS", "AGE")
	if err := table.Write(w, header, cells, "", "NAME", "NAMESPACE"); err != nil {
		return err
	}
	for _, used := range v.Users {
		if _, err := fmt.Fprintln(w, v.Palette.Changed(escape.Sentence(used.Message())+".")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, v.summary(rows))
	return err
}

func (v RowView) namespace(r Row) string {
	if r.Namespace == "" {
		return "-" // cluster-scoped
	}
	return escape.Short(r.Namespace, maxText)
}

func (v RowView) cells(r Row, namespace string) []string {
	o := v.Graph.Object(r.Node)
	var served object.Columns
	if o != nil && !r.Repeated {
		served = v.Cells[o.UID]
		if served.Age == "" && !o.Created.IsZero() {
			served.Age = duration.HumanDuration(v.Graph.Snapshot().Taken.Sub(o.Created))
		}
	}
	out := []string{
		namespace, r.Prefix + v.name(r),
		escape.Short(served.Ready, maxText), escape.Short(served.Status, maxText), escape.Short(served.Age, maxText),
	}
	if v.Wide {
		out = append(out, v.reference(r), v.uid(r))
	}
	return append(out, v.notes(r))
}

func (v RowView) name(r Row) string {
	name := escape.Short(r.Name, maxText)
	switch {
	case r.Claim != nil: // its only note is why it is none
		return v.paint(r.Notes[0].Tone, name)
	case r.Repeated:
		return v.Palette.Dim(name)
	case r.Target:
		return v.Palette.Bold(name)
	}
	return name
}

func (v RowView) notes(r Row) string {
	var out []string
	if r.Target && !r.Repeated {
		out = append(out, v.Palette.Bold("← target"))
	}
	for _, n := range r.Notes {
		out = append(out, v.paint(n.Tone, escape.Short(n.Text, 2*maxText)))
	}
	return strings.Join(out, "; ")
}

func (v RowView) paint(tone Tone, text string) string {
	return []func(string) string{Plain: v.Palette.Dim, Waits: v.Palette.Changed, Bad: v.Palette.Deleted}[tone](text)
}

// reference returns the flags and the verdict of the reference that a row shows.
func (v RowView) reference(r Row) string {
	if r.Edge.Node == graph.None {
		return ""
	}
	var flags []string
	ref := v.Graph.Reference(r.Edge)
	if ref.Controls() {
		flags = append(flags, "controller")
	}
	if ref.Blocks() {
		flags = append(flags, "blocking")
	}
	return strings.Join(append(flags, wording.Verdict(v.Judge.Reference(r.Edge).Verdict)), ",")
}

func (v RowView) uid(r Row) string {
	if r.Claim != nil {
		return escape.Short(string(r.Claim.UID), maxText)
	}
	return escape.Short(string(v.Graph.UID(r.Node)), maxText)
}

// summary counts what was shown, every object once.
func (v RowView) summary(rows []Row) string {
	var objects, terminating, claims int
	for _, r := range rows {
		switch o := v.Graph.Object(r.Node); {
		case r.Claim != nil:
			claims++
		case r.Repeated || o == nil:
		case o.Terminating():
			terminating++
			objects++
		default:
			objects++
		}
	}
	parts := []string{wording.Count(objects, "object")}
	if terminating > 0 {
		parts = append(parts, wording.Thousands(terminating)+" terminating")
	}
	if claims > 0 {
		parts = append(parts, wording.Count(claims, "unresolved owner"))
	}
	text := strings.Join(parts, ", ")
	if v.Isolated > 0 {
		text += "; " + wording.Count(v.Isolated, "unrelated object") + " hidden (--all)"
	}
	if !v.Graph.Snapshot().Complete() {
		text += ". " + wording.Scan(false)
	}
	return text
}
