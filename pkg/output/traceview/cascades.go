package traceview

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// maxCascades is the most rows of the table. There is one more line for the others.
const maxCascades = 20

// cascades writes the table of cascades, what the evidence covers, and how to see one of them.
func (s *reportWriter) cascades() {
	all := s.report.Cascades
	shown := s.shown(len(all), maxCascades)
	var rows [][]string
	for i := range all[:shown] {
		rows = append(rows, s.cascade(&all[i]))
	}
	if len(rows) == 0 {
		s.line("No deletion is in what was read.")
	} else {
		header, rows := table.DropEmpty([]string{"WHEN (UTC)", "DELETED", "BY", "OBJECTS", "TOOK", "NOTE"}, rows, "TOOK", "NOTE")
		s.table(header, rows, "NOTE", "DELETED", "BY", "WHEN (UTC)")
	}
	if more := len(all) - shown; more > 0 {
		s.line("+ %s smaller ones: -o wide", wording.Thousands(more))
	}
	s.coverage()
	if i := slices.IndexFunc(all, func(c trace.Cascade) bool { return len(c.Deletions) > 0 }); i >= 0 {
		s.trace("The first as a tree", &all[i].Deletions[0])
	}
}

// cascade returns a row of the table.
func (s *reportWriter) cascade(c *trace.Cascade) []string {
	what, by, took := "", who(c.By), ""
	if c.Collection != nil {
		what = collection(c.Collection)
	} else {
		what = s.object(&c.Deletions[0], "")
	}
	if c.Perhaps {
		by = "perhaps " + by
	}
	if c.Objects > 1 && c.To.After(c.From) {
		took = duration.HumanDuration(c.To.Sub(c.From))
	}
	notes := data(c)
	if c.Uncertain > 0 && !c.Perhaps {
		notes = append(notes, "perhaps only "+wording.Thousands(c.Objects-c.Uncertain)+" of them")
	}
	if !asked(c) {
		notes = append(notes, brief(c.Root))
	}
	return []string{clock(cmp.Or(c.At, c.From), false), what, by, wording.Thousands(c.Objects), took, strings.Join(notes, "; ")}
}

// asked reports whether it is known who wanted a cascade.
func asked(c *trace.Cascade) bool { return !c.Unexplained && c.By.Role != trace.RoleCollector }

// data returns how many claims and volumes a cascade deleted.
func data(c *trace.Cascade) (parts []string) {
	if c.Claims > 0 {
		parts = append(parts, wording.Count(c.Claims, "claim"))
	}
	if c.Volumes > 0 {
		parts = append(parts, wording.Count(c.Volumes, "volume"))
	}
	return parts
}

// collection returns what a request for several objects named.
func collection(c *trace.Collection) string {
	text := "all " + escape.Word(c.Resource)
	if c.Namespace != "" {
		text += " in " + escape.Word(c.Namespace)
	}
	for _, selector := range []string{c.LabelSelector, c.FieldSelector} {
		if selector != "" {
			text += " with " + escape.Word(selector)
		}
	}
	return text
}

// object returns what a deletion deleted, with its namespace if that is not the one above.
func (s *reportWriter) object(d *trace.Deletion, above string) string {
	text := d.Object.String()
	if d.Object.Kind == "" {
		text = cmp.Or(d.Resource, "object") + "/" + d.Object.Name
	}
	text = escape.Line(text)
	if d.Object.Namespace != "" && d.Object.Namespace != above {
		text += " in " + escape.Word(d.Object.Namespace)
	}
	if s.Wide && d.Object.UID != "" {
		text += " " + s.Palette.Dim("("+escape.Word(string(d.Object.UID))+")")
	}
	return text
}

// who returns who someone is, for a cell.
func who(a trace.Deleter) string {
	return escape.Word(cmp.Or(strings.TrimPrefix(a.String(), "the "), "unknown"))
}

// clock returns a time for a cell, without its date if all are of one day.
func clock(t time.Time, oneDay bool) string {
	switch {
	case t.IsZero():
		return "?"
	case oneDay:
		return t.UTC().Format(time.TimeOnly)
	}
	return strings.NewReplacer("T", " ", "Z", "").Replace(reason.Clock(t))
}
