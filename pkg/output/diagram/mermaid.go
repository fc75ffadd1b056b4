package diagram

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Mermaid writes the nodes as a flowchart with a box for each namespace. Its edges lead
// from owners to dependents, as a deletion does. problem returns the audit rule that
// reports a reference, or an empty string; it may be nil. A reference with a problem is a
// dotted arrow. Most renderers refuse more than a few hundred edges.
func Mermaid(w io.Writer, g *graph.Graph, nodes graph.Set, problem func(graph.Edge) string) error {
	d := newDrawing(g, nodes, problem)
	d.sort(func(a, b *box) int {
		return cmp.Or(
			cmp.Compare(a.id.Namespace, b.id.Namespace), cmp.Compare(a.id.Kind, b.id.Kind),
			cmp.Compare(a.id.Name, b.id.Name), cmp.Compare(a.id.UID, b.id.UID))
	})
	out := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintln(out, "flowchart LR")
	for _, class := range []struct{ name, style string }{
		{missingClass, "stroke:#cc0000,stroke-dasharray:5 5"},
		{terminatingClass, "stroke:#cc8800,stroke-width:3px"},
	} {
		hasClass := func(v *box) bool {
			is, _ := v.state()
			return is == class.name
		}
		if slices.ContainsFunc(d.nodes, hasClass) {
			fmt.Fprintf(out, "  classDef %s %s\n", class.name, class.style)
		}
	}
	indent, boxes, namespace := "  ", 0, ""
	for _, v := range d.nodes {
		if v.id.Namespace != namespace {
			if namespace != "" {
				fmt.Fprintln(out, "  end")
			}
			fmt.Fprintf(out, "  subgraph s%d[\"%s\"]\n", boxes, label("namespace "+v.id.Namespace))
			indent, namespace = "    ", v.id.Namespace
			boxes++
		}
		class, words := v.state()
		if class != "" {
			class = ":::" + class
		}
		fmt.Fprintf(out, "%sn%d[\"%s%s\"]%s\n", indent, v.number, label(v.id.String()), words, class)
	}
	if namespace != "" {
		fmt.Fprintln(out, "  end")
	}
	slices.SortFunc(d.edges, func(a, b edge) int {
		return cmp.Or(a.owner.number-b.owner.number, a.dependent.number-b.dependent.number)
	})
	for _, e := range d.edges {
		arrow := "-->"
		if e.problem != "" {
			arrow = "-.->|" + e.problem + "|"
		}
		fmt.Fprintf(out, "  n%d %s n%d\n", e.owner.number, arrow, e.dependent.number)
	}
	return out.Flush()
}

// The classes of missing and terminating nodes.
const (
	missingClass     = "missing"
	terminatingClass = "terminating"
)

// state returns the class of a node, which has a colour, and the words that say the same.
// Both are empty for a usual node.
func (v *box) state() (class, words string) {
	switch {
	case v.missing:
		return missingClass, ", missing"
	case v.deletingDependents:
		return terminatingClass, ", terminating, waits for its dependents"
	case v.beingDeleted:
		return terminatingClass, ", terminating"
	}
	return "", ""
}

// maxLabel is the length of the longest valid kind and name.
const maxLabel = 63 + len("/") + 253

// label returns text for a quoted Mermaid string. What could have a meaning in Mermaid,
// Markdown or HTML becomes a numeric entity.
func label(s string) string {
	var out strings.Builder
	for _, r := range escape.Short(s, maxLabel) {
		switch {
		case r == '"':
			out.WriteString("#quot;")
		case unicode.In(r, unicode.L, unicode.M, unicode.N), strings.ContainsRune(" -_./:,", r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "#%d;", r)
		}
	}
	return out.String()
}
