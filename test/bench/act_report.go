package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// actReport has all measurements of deletions.
type actReport struct {
	Line       string
	Date       time.Time
	Machine    machine
	Kubernetes string
	Rounds     int
	Objects    int
	Busy       float64  // part of the machine that other processes used at the median start
	Bare       int      // number of rows that are bare DELETEs; they are the first ones
	Rows       []actRow // the two before the last are parts of the row before them
}

// actRow is one row. Requests are empty if it is a part of another row.
type actRow struct {
	Name     string
	Runs     sample
	Requests []requests
}

// Median returns the median of each figure.
func (a actRow) Median() cost { return a.Runs.Median() }

// Spread returns the range from the fastest run to the slowest.
func (a actRow) Spread() string { return a.Runs.Spread() }

// Floor returns the row that all are compared with: the faster of the bare DELETEs.
func (r *actReport) Floor() cost {
	return slices.MinFunc(r.Rows[:r.Bare], func(a, b actRow) int { return int(a.Median().Wall - b.Median().Wall) }).Median()
}

// Of returns the row of that name.
func (r *actReport) Of(name string) cost {
	for _, row := range r.Rows {
		if row.Name == name {
			return row.Median()
		}
	}
	return cost{}
}

// Asked returns the number of requests per object, in total and by verb; medians.
func (r *actReport) Asked(row actRow) string {
	if len(row.Requests) == 0 {
		return ""
	}
	verbs := map[string][]int{}
	for i, asked := range row.Requests {
		for verb, n := range asked {
			if verbs[verb] == nil {
				verbs[verb] = make([]int, len(row.Requests))
			}
			verbs[verb][i] = n
		}
	}
	sum, said := 0, []string{}
	for verb, counts := range verbs {
		n := median(counts)
		sum += n
		if n*200 >= r.Objects { // smaller numbers would be written as 0.00
			said = append(said, fmt.Sprintf("%s %.2f", verb, float64(n)/float64(r.Objects)))
		}
	}
	slices.Sort(said)
	return fmt.Sprintf("%.2f (%s)", float64(sum)/float64(r.Objects), strings.Join(said, ", "))
}

func (r *actReport) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s objects of garbage; %d runs each, medians\nat half of the starts others kept %.0f %% of the machine busy or more\n\n", thousands(r.Objects), r.Rounds, 100*r.Busy)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tWALL\tFROM, TO\tCPU\tOF THE SERVERS\tMEMORY\tWALL/BARE\tREQUESTS")
	for _, row := range r.Rows {
		m := row.Median()
		fmt.Fprintln(table, strings.Join([]string{
			row.Name, seconds(m.Wall), row.Spread(), known(m.CPU), known(m.Servers), memory(m.Memory), ratio(m.Wall, r.Floor().Wall), r.Asked(row),
		}, "\t"))
	}
	return table.Flush()
}

// known returns an empty string for a zero, which means not measured.
func known(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return seconds(d)
}

//go:embed performance-acting.md.tmpl
var actPage string

// Spreading describes where the garbage was.
func (r *actReport) Spreading() string {
	return fmt.Sprintf("in %d namespaces, of %d owners in each", garbageNamespaces, ownersInNamespace)
}

// Glance returns how often the benchmark checks whether the real collector is done.
func (r *actReport) Glance() time.Duration { return glance }

// write writes the report as a page of the documentation.
func (r *actReport) write(path string) error {
	return render(path, actPage, r)
}
