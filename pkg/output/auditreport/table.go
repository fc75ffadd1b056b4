package auditreport

import (
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
)

// How many characters of a cell are shown. A real object fits, so that it can
// be pasted back; what is longer was made to be.
const (
	objectWidth = 400
	textWidth   = 200
	causeWidth  = 400
)

// Table writes a row per finding: the gravest first, within a severity what is
// about to be lost, then in the report's order. wide adds the object's UID, the verdict and the fix.
// A report that is joined from several clusters begins each row with the one. Without findings nothing is written.
func Table(w io.Writer, r *audit.Report, wide bool, p *color.Palette) error {
	if len(r.Findings) == 0 {
		return nil
	}
	header := []string{"SEVERITY", "RULE", "OBJECT", "OWNER", "GC RESULT"}
	if wide {
		header = append(header, "UID", "VERDICT", "FIX")
	}
	several := r.Clusters != nil
	if several {
		header = slices.Insert(header, 0, "CLUSTER")
	}
	rows := make([][]string, len(r.Findings))
	for i, f := range MostSevereFirst(r.Findings) {
		rows[i] = row(f, wide, p)
		if several {
			rows[i] = slices.Insert(rows[i], 0, escape.Short(f.Cluster, textWidth))
		}
	}
	return table.Write(w, header, rows)
}

func row(f *audit.Finding, wide bool, p *color.Palette) []string {
	cells := []string{
		p.Severity(f.Severity, escape.Short(string(f.Severity), textWidth)),
		escape.Short(f.Rule, textWidth),
		escape.Short(name(f.Object), objectWidth),
		escape.Short(f.Reason.Brief(), textWidth),
		effect(f, p),
	}
	if wide {
		cells = append(cells,
			escape.Short(string(f.Object.UID), textWidth),
			dash(string(f.Verdict)),
			dash(string(f.Fix)))
	}
	return cells
}

// name is "namespace Kind/name": what stands behind the blank can be pasted
// behind kubectl.
func name(o object.Identity) string {
	if o.Namespace == "" {
		return o.String()
	}
	return o.Namespace + " " + o.String()
}

func effect(f *audit.Finding, p *color.Palette) string {
	words := escape.Short(f.Effect.Brief(), textWidth)
	switch f.Consequence {
	case collector.ConsequenceDelete:
		return p.Goes(words)
	case collector.ConsequenceUnlink, collector.ConsequenceStuck, collector.ConsequenceUnknown:
		return p.Changes(words)
	case collector.ConsequenceNone:
	}
	return p.Dim(words)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return escape.Short(s, textWidth)
}

// urgency is the order of what the collector does, within a severity: what is
// about to be lost comes first.
var urgency = []collector.Consequence{collector.ConsequenceDelete, collector.ConsequenceStuck, collector.ConsequenceUnlink, collector.ConsequenceUnknown, collector.ConsequenceNone}

// MostSevereFirst is the order in which a person reads findings. It keeps that of those
// that are as grave and as urgent.
func MostSevereFirst(findings []audit.Finding) []*audit.Finding {
	out := make([]*audit.Finding, len(findings))
	for i := range findings {
		out[i] = &findings[i]
	}
	slices.SortStableFunc(out, func(a, b *audit.Finding) int {
		switch {
		case a.Severity == b.Severity:
			return slices.Index(urgency, a.Consequence) - slices.Index(urgency, b.Consequence)
		case a.Severity.AtLeast(b.Severity):
			return -1
		}
		return 1
	})
	return out
}
