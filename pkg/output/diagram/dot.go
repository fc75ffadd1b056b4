package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// DOT writes the nodes for Graphviz, with edges from dependents to owners, in the layout
// of the garbage collector's debug endpoint (docs/gc-semantics.md#debug-graph), so that
// the two can be compared. Unlike there, an owner that was not read is drawn once.
func DOT(w io.Writer, g *graph.Graph, nodes graph.Set) error {
	d := newDrawing(g, nodes, nil)
	out := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintln(out, "strict digraph full {")
	if len(d.nodes) > 0 {
		fmt.Fprintln(out, "  // Node definitions.")
	}
	for _, v := range d.nodes {
		fmt.Fprintf(out, "  %q [\n", v.id.UID)
		for _, a := range v.attributes() {
			fmt.Fprintf(out, "    %s=%q\n", a[0], a[1])
		}
		fmt.Fprintln(out, "  ];")
	}
	if len(d.edges) > 0 {
		fmt.Fprintln(out, "  // Edge definitions.")
	}
	for _, e := range d.edges {
		fmt.Fprintf(out, "  %q -> %q;\n", e.dependent.id.UID, e.owner.id.UID)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// attributes returns keys and values in the order of upstream's Attributes.
func (v *box) attributes() [][2]string {
	gvk := v.id.GroupVersionKind()
	return [][2]string{
		{"label", v.label()},
		{"group", gvk.Group},
		{"version", gvk.Version},
		{"kind", gvk.Kind},
		{"namespace", v.id.Namespace},
		{"name", v.id.Name},
		{"uid", string(v.id.UID)},
		{"missing", strconv.FormatBool(v.missing)},
		{"beingDeleted", strconv.FormatBool(v.beingDeleted)},
		{"deletingDependents", strconv.FormatBool(v.deletingDependents)},
		{"virtual", strconv.FormatBool(v.virtual)},
	}
}

func (v *box) label() string {
	gvk := v.id.GroupVersionKind()
	kind := gvk.Kind + "." + gvk.Version
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	label := fmt.Sprintf("uid=%s\nnamespace=%s\n%s/%s\n", v.id.UID, v.id.Namespace, kind, v.id.Name)
	var flags []string
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"beingDeleted", v.beingDeleted},
		{"deletingDependents", v.deletingDependents},
		{"virtual", v.virtual},
		{"missingFromGraph", v.missing},
	} {
		if f.on {
			flags = append(flags, f.name)
		}
	}
	if len(flags) > 0 {
		label += strings.Join(flags, ",") + "\n"
	}
	return label
}
