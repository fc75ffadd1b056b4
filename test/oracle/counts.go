package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Counts are the results of many scenarios.
type Counts struct {
	kinds   map[string]*row // by kind of scenario
	aspects map[string]*row // by command and aspect
}

// row counts disagreements, and the scenarios that have any.
type row struct {
	scenarios, predictions, skipped int
	disagreements, affected         map[Class]int
}

// NewCounts returns counts without any result.
func NewCounts() *Counts { return &Counts{kinds: map[string]*row{}, aspects: map[string]*row{}} }

// Add adds the result of one scenario.
func (c *Counts) Add(k Kind, r Result) {
	of := rowOf(c.kinds, k.Name)
	of.scenarios++
	of.predictions += r.Predictions
	if r.Skipped != "" {
		of.skipped++
	}
	of.addFindings(r.Findings)
	byAspect := map[string][]Finding{}
	for _, f := range r.Findings {
		byAspect[f.subject()] = append(byAspect[f.subject()], f)
	}
	for aspect, findings := range byAspect {
		rowOf(c.aspects, aspect).addFindings(findings)
	}
}

// rowOf returns the row with a name, which it adds if there is none.
func rowOf(rows map[string]*row, name string) *row {
	if rows[name] == nil {
		rows[name] = &row{disagreements: map[Class]int{}, affected: map[Class]int{}}
	}
	return rows[name]
}

// addFindings adds the findings of one scenario.
func (r *row) addFindings(findings []Finding) {
	affected := map[Class]bool{}
	for _, f := range findings {
		affected[f.Class] = true
		r.disagreements[f.Class]++
	}
	for class := range affected {
		r.affected[class]++
	}
}

// Table returns a table of the counts by kind with their sum, and one by command and aspect. A
// class has two numbers: of disagreements, and of scenarios that have any.
func (c *Counts) Table() string { return c.format(textTable) }

// Markdown returns the same tables for a page.
func (c *Counts) Markdown() string { return c.format(markdownTable) }

// format returns both tables. The second is left out if it is empty.
func (c *Counts) format(table func(lines [][]string) string) string {
	sum := rowOf(map[string]*row{}, "")
	for _, r := range c.kinds {
		sum.scenarios, sum.skipped, sum.predictions = sum.scenarios+r.scenarios, sum.skipped+r.skipped, sum.predictions+r.predictions
		for class := range r.disagreements {
			sum.disagreements[class] += r.disagreements[class]
			sum.affected[class] += r.affected[class]
		}
	}
	lines := [][]string{header("kind", "scenarios", "without preview", "predictions")}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		lines = append(lines, c.kinds[name].cells(name))
	}
	out := table(append(lines, sum.cells("all")))
	lines = [][]string{header("command and aspect")}
	for _, name := range slices.Sorted(maps.Keys(c.aspects)) {
		lines = append(lines, append([]string{name}, c.aspects[name].classes()...))
	}
	if len(lines) > 1 {
		out += "\n" + table(lines)
	}
	return out
}

// header returns the names of columns, with one for each class at the end.
func header(names ...string) []string {
	for _, class := range Classes {
		names = append(names, string(class))
	}
	return names
}

// textTable returns a table in columns. The first line is the header.
func textTable(lines [][]string) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush()
	return out.String()
}

// markdownTable returns a table in Markdown. The first line is the header.
func markdownTable(lines [][]string) string {
	var out strings.Builder
	for i, cells := range lines {
		_, _ = fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			_, _ = fmt.Fprintf(&out, "|%s\n", strings.Repeat(" --- |", len(cells)))
		}
	}
	return out.String()
}

func (r *row) cells(name string) []string {
	return append([]string{name, fmt.Sprint(r.scenarios), fmt.Sprint(r.skipped), fmt.Sprint(r.predictions)}, r.classes()...)
}

func (r *row) classes() []string {
	out := make([]string, len(Classes))
	for i, class := range Classes {
		out[i] = "-"
		if n := r.disagreements[class]; n > 0 {
			out[i] = fmt.Sprintf("%d in %d", n, r.affected[class])
		}
	}
	return out
}
