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

// Mermaid writes the nodes as a flowchart, a box per namespace, absent owners
// and cluster-scoped objects outside. Its arrows lead from owner to dependent,
// against those of DOT: a flowchart is read along its arrows, and what a
// deletion does runs that way. Renderers refuse more than a few hundred edges
// unless told otherwise.
//
// fault names what is wrong with a reference, in letters and hyphens, or answers
// an empty string; nil finds no fault. A bad reference is a dotted arrow with its
// fault on it: nothing runs along it.
func Mermaid(w io.Writer, g *graph.Graph, nodes graph.Set, fault func(graph.Edge) string) error {
	p := draw(g, nodes, fault)
	id := p.arrange()
	out := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintln(out, "flowchart LR")
	for _, class := range []struct{ name, style string }{
		{missingClass, "stroke:#cc0000,stroke-dasharray:5 5"},
		{terminatingClass, "stroke:#cc8800,stroke-width:3px"},
	} {
		if slices.ContainsFunc(p.vertices, func(v vertex) bool { return v.class() == class.name }) {
			fmt.Fprintf(out, "  classDef %s %s\n", class.name, class.style)
		}
	}
	indent, boxes := "  ", 0
	for i, v := range p.vertices {
		if v.namespace != "" && (i == 0 || p.vertices[i-1].namespace != v.namespace) {
			fmt.Fprintf(out, "  subgraph s%d[\"%s\"]\n", boxes, label("namespace "+v.namespace))
			indent = "    "
			boxes++
		}
		fmt.Fprintf(out, "%sn%d[\"%s\"]", indent, i, v.caption())
		if class := v.class(); class != "" {
			fmt.Fprintf(out, ":::%s", class)
		}
		fmt.Fprintln(out)
		if v.namespace != "" && (i == len(p.vertices)-1 || p.vertices[i+1].namespace != v.namespace) {
			fmt.Fprintln(out, "  end")
			indent = "  "
		}
	}
	slices.SortFunc(p.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(id[a.owner], id[b.owner]), cmp.Compare(id[a.dependent], id[b.dependent]))
	})
	for _, e := range p.edges {
		arrow := "-->"
		if e.fault != "" {
			arrow = "-.->|" + e.fault + "|"
		}
		fmt.Fprintf(out, "  n%d %s n%d\n", id[e.owner], arrow, id[e.dependent])
	}
	return out.Flush()
}

// arrange puts the vertices in the order of a flowchart, by namespace first, and
// answers the new place of each old one.
func (p *picture) arrange() []int {
	old := make([]int, len(p.vertices))
	for i := range old {
		old[i] = i
	}
	slices.SortFunc(old, func(i, j int) int {
		a, b := p.vertices[i], p.vertices[j]
		return cmp.Or(
			cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.gvk.Kind, b.gvk.Kind),
			cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
	})
	place, vertices := make([]int, len(old)), make([]vertex, len(old))
	for i, was := range old {
		place[was], vertices[i] = i, p.vertices[was]
	}
	p.vertices = vertices
	return place
}

// The classes of vertices out of the ordinary.
const (
	missingClass     = "missing"
	terminatingClass = "terminating"
)

func (v vertex) class() string {
	switch {
	case v.missing:
		return missingClass
	case v.beingDeleted:
		return terminatingClass
	}
	return ""
}

// caption says in words what the class says in colour.
func (v vertex) caption() string {
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

// longest is the longest label: a kind and a name as long as they can be.
const longest = 63 + len("/") + 253

// label is text for a quoted Mermaid string. Whatever could mean something to
// Mermaid, to Markdown or to HTML becomes an entity by number.
func label(s string) string {
	var out strings.Builder
	for _, r := range escape.Short(s, longest) {
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
