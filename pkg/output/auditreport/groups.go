package auditreport

import (
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// GroupTable writes a row per group of findings: "shop: Secret/restored" alone, or the first objects of
// several and how many more there are. In a report on several clusters each row begins with its
// cluster. It writes nothing if there are no findings.
func GroupTable(w io.Writer, r *audit.Report, p *color.Palette) error {
	if len(r.Findings) == 0 {
		return nil
	}
	header := withoutRule(w, []string{"SEVERITY", "RULE", "OBJECT", "PROBLEM", "RESULT"})
	if r.Clusters != nil {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	var rows [][]string
	for _, g := range audit.Groups(r.Findings) {
		first := g.Findings[0]
		cells := cellsOf(first)
		cells["OBJECT"] = objects(&g)
		cells["PROBLEM"] = Problem(&g)
		cells["RESULT"] = Result(&g)
		rows = append(rows, row(header, cells, first, p))
	}
	return table.Write(w, header, rows, shrink...)
}

// Problem returns what was found of a group in a few words.
func Problem(g *audit.Group) string {
	return several(g.Findings, func(f *audit.Finding) string {
		if len(g.Findings) > 1 {
			return f.Reason.Shared()
		}
		return f.Reason.Brief()
	})
}

// Result returns what the garbage collector does about a group in a few words.
func Result(g *audit.Group) string {
	return several(g.Findings, func(f *audit.Finding) string { return f.Effect.Brief() })
}

// several returns the text of the first finding, and how many others there are.
func several(findings []*audit.Finding, text func(*audit.Finding) string) string {
	texts := map[string]bool{}
	for _, f := range findings {
		texts[text(f)] = true
	}
	return escape.Word(text(findings[0])) + more(len(texts)-1)
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return " + " + wording.Thousands(n) + " more"
}

// maxObjects is how many objects of a group are named.
const maxObjects = 3

// objects names the first objects of a group, by namespace: "big: ConfigMap/c-1, c-2 + 58 more; shop:
// Secret/x".
func objects(g *audit.Group) string {
	named := g.Namespaces[:min(maxObjects, len(g.Namespaces))]
	limit, left := maxObjects-len(named)+1, len(g.Objects)
	parts := make([]string, len(named))
	for i, in := range named {
		left -= in.Objects
		parts[i] = namedIn(g.Objects, in, limit)
		limit = 1
	}
	out := strings.Join(parts, "; ")
	if left > 0 {
		out += more(left) + " in " + wording.Count(len(g.Namespaces)-len(named), "namespace")
	}
	return out
}

// namedIn names the first objects in a namespace.
func namedIn(all []object.Identity, in audit.NamespaceCount, limit int) string {
	var names []string
	kind := ""
	for _, o := range all {
		if o.Namespace != in.Name || len(names) == limit {
			continue
		}
		name := escape.Line(o.Name)
		if o.Kind != kind {
			kind, name = o.Kind, escape.Line(o.String())
		}
		names = append(names, name)
	}
	out := strings.Join(names, ", ") + more(in.Objects-len(names))
	if in.Name != "" {
		out = escape.Word(in.Name) + ":" + table.NoBreak + out
	}
	return out
}
