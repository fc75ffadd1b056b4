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
	id := d.sortByNamespace()
	out := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintln(out, "flowchart LR")
	for _, class := range []struct{ name, style string }{
		{missingClass, "stroke:#cc0000,stroke-dasharray:5 5"},
		{terminatingClass, "stroke:#cc8800,stroke-width:3px"},
	} {
		if slices.ContainsFunc(d.nodes, func(v node) bool { return v.class() == class.name }) {
			fmt.Fprintf(out, "  classDef %s %s\n", class.name, class.style)
		}
	}
	indent, boxes := "  ", 0
	for i, v := range d.nodes {
		if v.namespace != "" && (i == 0 || d.nodes[i-1].namespace != v.namespace) {
			fmt.Fprintf(out, "  subgraph s%d[\"%s\"]\n", boxes, label("namespace "+v.namespace))
			indent = "    "
			boxes++
		}
		fmt.Fprintf(out, "%sn%d[\"%s\"]", indent, i, v.caption())
		if class := v.class(); class != "" {
			fmt.Fprintf(out, ":::%s", class)
		}
		fmt.Fprintln(out)
		if v.namespace != "" && (i == len(d.nodes)-1 || d.nodes[i+1].namespace != v.namespace) {
			fmt.Fprintln(out, "  end")
			indent = "  "
		}
	}
	slices.SortFunc(d.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(id[a.owner], id[b.owner]), cmp.Compare(id[a.dependent], id[b.dependent]))
	})
	for _, e := range d.edges {
		arrow := "-->"
		if e.problem != "" {
			arrow = "-.->|" + e.problem + "|"
		}
		fmt.Fprintf(out, "  n%d %s n%d\n", id[e.owner], arrow, id[e.dependent])
	}
	return out.Flush()
}

// sortByNamespace puts the nodes in the order of a flowchart, and returns the new index of
// each old one.
func (d *drawing) sortByNamespace() []int {
	old := make([]int, len(d.nodes))
	for i := range old {
		old[i] = i
	}
	slices.SortFunc(old, func(i, j int) int {
		a, b := d.nodes[i], d.nodes[j]
		return cmp.Or(
			cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.gvk.Kind, b.gvk.Kind),
			cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
	})
	index, nodes := make([]int, len(old)), make([]node, len(old))
	for to, from := range old {
		index[from], nodes[to] = to, d.nodes[from]
	}
	d.nodes = nodes
	return index
}

// The classes of missing and terminating nodes.
const (
	missingClass     = "missing"
	terminatingClass = "terminating"
)

func (v node) class() string {
	switch {
	case v.missing:
		return missingClass
	case v.beingDeleted:
		return terminatingClass
	}
	return ""
}

// caption says in words what the class says in colour.
func (v node) caption() string {
	text := label(v.gvk.Kind + "/" + v.name)
	switch {
	case v.missing:
		return text + ", missing"
	case v.deletingDependents:
		return text + ", terminating, waits for its dependents"
	case v.beingDeleted:
		return text + ", terminating"
	}
	return text
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
