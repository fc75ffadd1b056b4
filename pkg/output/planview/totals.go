package planview

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// The most rows of a table of totals, without the one that sums up the others.
const (
	maxKinds  = 15
	maxCauses = 10
)

// Totals writes a plan with more lines than fit on a screen as two tables: objects by action
// and kind, and by what causes the change. Objects that a person has to see by name come
// before, at most limit of them: see drawNamed. It reports whether it wrote anything. It does
// not if the plan fits on the screen, or if the totals would take more than half of its lines.
func Totals(w io.Writer, p *plan.Plan, screen, limit int, palette *color.Palette) (written bool, err error) {
	l := newLayout(p, palette)
	lines := countLines(l)
	if lines <= screen {
		return false, nil
	}
	d := drawing{layout: l, limit: limit, listContents: true}
	d.drawNamed()
	kinds, causes := d.byKind(), d.byCause()
	if 2*(d.total+len(kinds)+len(causes)) > lines {
		return false, nil
	}
	return true, d.writeTotals(w, kinds, causes, lines)
}

// countLines returns how many lines Preview writes of a plan without a limit.
func countLines(l *layout) int {
	d := drawing{layout: l, listContents: l.plan.Mode.Cascades(), limit: 1}
	d.draw()
	return d.total
}

func (d *drawing) writeTotals(w io.Writer, kinds, causes [][]string, lines int) error {
	if err := d.writeRows(w); err != nil {
		return err
	}
	if len(d.rows) > 0 {
		fmt.Fprintln(w)
	}
	if err := table.Write(w, []string{"ACTION", "KIND", "OBJECTS", "NAMESPACE"}, kinds, "KIND", "NAMESPACE"); err != nil {
		return err
	}
	if len(causes) > 0 {
		fmt.Fprintln(w)
		if err := table.Write(w, []string{"CAUSE", "NAMESPACE", "DELETES", "CHANGES"}, causes, "CAUSE", "NAMESPACE"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "These are totals of %s: to see every line, use -o wide.\n", wording.Count(lines, "line"))
	return err
}

// drawNamed adds a row for each object that must not disappear into a total: what
// CriticalDeletions names, what is deleted although its reference is likely a mistake, what
// is blocked, and what cannot be predicted.
func (d *drawing) drawNamed() {
	for _, on := range d.lines {
		if d.named(on) {
			d.add(func() Row { return d.rowAlone(on) })
		}
	}
	d.eachUnchanged(func(r Row) {
		if r.label != labelKeep && r.label != labelLeave {
			d.add(func() Row { return r })
		}
	})
}

// named reports whether the object of a line is named beside the totals.
func (l *layout) named(on *line) bool {
	o, out := on.object(), l.outcome(on.object())
	blocked := out.When == plan.Later && l.blocked[o] != nil
	return blocked || out.Nondeterministic.Reason != nil || out.State == plan.Terminating || l.deletes(on) && (critical(o) || slices.ContainsFunc(on.main.References, isMistake))
}

// isMistake reports whether a reference is likely wrong, so that its object is not garbage:
// something else has the owner's name or UID.
func isMistake(r plan.Reference) bool {
	return r.State == reason.StateReplaced || r.State == reason.StateMismatched || r.State == reason.StateInOtherNamespace
}

// rowAlone returns the row of a line that is not below its cause. It counts the contents of
// the object.
func (d *drawing) rowAlone(on *line) Row {
	row := d.row(on, d.whyAlone(on))
	if what, how := contentsOf(on); what != "" {
		row.Why += "; " + what + ": " + how
	}
	return row
}

// places are the namespaces of several objects.
type places map[string]bool

func (p places) add(o object.Identity) { p[o.Namespace] = true }

// String returns the namespace, or how many there are.
func (p places) String() string {
	if len(p) > 1 {
		return wording.Thousands(len(p)) + " namespaces"
	}
	for at := range p {
		return namespace(object.Identity{Namespace: at})
	}
	return ""
}

// byKind returns rows that count objects by action and kind: the actions in the order of
// their urgency, and for each the most frequent kinds first.
func (d *drawing) byKind() [][]string {
	type key struct {
		order       int // of the label
		label, kind string
	}
	type total struct {
		key
		objects int
		in      places
		painted string // the label
	}
	totals := map[key]*total{}
	count := func(order int, r Row) {
		k := key{order, r.label, groupKind(r.Object).String()}
		if totals[k] == nil {
			totals[k] = &total{key: k, in: places{}, painted: r.Label}
		}
		totals[k].objects++
		totals[k].in.add(r.Object)
	}
	for _, on := range d.lines {
		row, order := d.row(on, ""), urgency(on.main.Action)
		if row.label == labelLater || row.label == labelNextRun {
			order = len(actions) + 1
		}
		count(order, row)
	}
	d.eachUnchanged(func(r Row) { count(len(actions)+1, r) })

	all := slices.Collect(maps.Values(totals))
	slices.SortFunc(all, func(a, b *total) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.label, b.label), cmp.Compare(b.objects, a.objects), cmp.Compare(a.kind, b.kind))
	})
	var rows [][]string
	rest, more := 0, 0
	for _, t := range all {
		if len(rows) == maxKinds && len(all) > maxKinds {
			rest, more = rest+t.objects, more+1
			continue
		}
		rows = append(rows, []string{t.painted, escape.Word(t.kind), wording.Thousands(t.objects), t.in.String()})
	}
	if more > 0 {
		rows = append(rows, []string{"and " + wording.Count(more, "more row"), "", wording.Thousands(rest)})
	}
	return rows
}

// byCause returns rows that count what each cause deletes and changes, those that delete most
// first. A cause is the owners that the topmost objects of the tree have lost, or another
// reason of theirs.
func (d *drawing) byCause() [][]string {
	type cause struct {
		text             string
		in               places
		deletes, changes int
	}
	causes := map[string]*cause{}
	for _, root := range d.roots {
		if d.label(root) == labelNextRun {
			continue
		}
		s := root.main
		text := escape.Line(reason.Cause(s.Reason))
		key := text + "\x00" + strings.Join(s.OwnerUIDs(), "\x00")
		if root.outcome != nil {
			text = d.whyAlone(root)
			key = text
		}
		if s.Requested {
			text, key = name(s.Object.Identity)+": requested", string(s.Object.UID)
		}
		c := causes[key]
		if c == nil {
			c = &cause{text: text, in: places{}}
			causes[key] = c
		}
		c.in.add(s.Object.Identity)
		each([]*line{root}, func(on *line) {
			if label := d.label(on); label == word(plan.ActionDelete) || label == labelLater {
				c.deletes++
			} else {
				c.changes++
			}
		})
	}
	all := slices.Collect(maps.Values(causes))
	slices.SortFunc(all, func(a, b *cause) int {
		return cmp.Or(cmp.Compare(b.deletes, a.deletes), cmp.Compare(b.changes, a.changes), cmp.Compare(a.text, b.text), cmp.Compare(a.in.String(), b.in.String()))
	})
	var rows [][]string
	rest := cause{in: places{}}
	for i, c := range all {
		if i >= maxCauses {
			rest.deletes, rest.changes = rest.deletes+c.deletes, rest.changes+c.changes
			maps.Copy(rest.in, c.in)
			continue
		}
		rows = append(rows, []string{c.text, c.in.String(), wording.Thousands(c.deletes), wording.Thousands(c.changes)})
	}
	if more := len(all) - maxCauses; more > 0 {
		rows = append(rows, []string{"and " + wording.Count(more, "more cause"), rest.in.String(), wording.Thousands(rest.deletes), wording.Thousands(rest.changes)})
	}
	return rows
}
