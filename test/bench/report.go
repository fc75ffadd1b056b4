package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"
)

// report has all measurements of reading.
type report struct {
	Line       string
	Date       time.Time
	Machine    machine
	Kubernetes string
	Tries      int           // runs of each list method in the search
	Types      int           // lists that a scan needs
	Busy       float64       // part of the machine that other processes used at the median start
	Busiest    float64       // the same, exceeded at one start in ten
	Rest       time.Duration // time limit of the wait for a quiet machine before each run
	Stages     []*sizeResult // in ascending order of objects
	Crossing   *slowLinkResult
}

// entry is one row. Against is the row that it is compared with; the zero value is none.
type entry struct {
	Name     string
	Floor    bool // not a command, but what commands are compared with
	Runs     sample
	Requests int
	Against  cost
}

// Median returns the median of each figure.
func (e entry) Median() cost { return e.Runs.Median() }

// Spread returns the range from the fastest run to the slowest.
func (e entry) Spread() string { return e.Runs.Spread() }

// Wall and CPU return the ratios to the row that it is compared with.
func (e entry) Wall() string { return ratio(e.Median().Wall, e.Against.Wall) }
func (e entry) CPU() string  { return ratio(e.Median().CPU, e.Against.CPU) }

// Asked returns the number of requests; empty if there were none or they were not counted.
func (e entry) Asked() string {
	if e.Requests == 0 {
		return ""
	}
	return strconv.Itoa(e.Requests)
}

// Title returns the name as Markdown.
func (e entry) Title() string { return title(e.Name, e.Floor) }

// Title returns the name as Markdown.
func (g growth) Title() string { return title(g.Name, g.Name != auditRow) }

func title(name string, plain bool) string {
	if plain {
		return name
	}
	return "`" + name + "`"
}

// Moved returns how much metadata a scan transfers.
func (s *sizeResult) Moved() transferred { return s.States[0].Moved }

// Note marks the list method of audit.
func (a attempt) Note() string {
	if a.listMethod == auditListMethod {
		return " (`audit`'s)"
	}
	return ""
}

// Mix describes the created objects.
func (r *report) Mix() string {
	return fmt.Sprintf("%d pods, %d configmaps, %d secrets and 2 replicasets to each deployment", podsEach, configMapsEach, secretsEach)
}

func (r *report) print(out io.Writer) error {
	for _, s := range r.Stages {
		fmt.Fprintf(out, "\n%s objects, %d types, %.1f MB of metadata; medians\n", thousands(s.Objects), r.Types, megabytes(s.Moved().Bytes))
		if err := s.printStates(out); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nfloor of one namespace: %s\n\n", s.Near)
		if err := printEntries(out, s.Entries); err != nil {
			return err
		}
		for _, g := range s.Growths {
			fmt.Fprintf(out, "API server during %s: %s more (%s to %s)\n", g.Name, memory(g.Median()), memory(g.Start()), memory(g.Top()))
		}
	}
	if c := r.Crossing; c != nil {
		fmt.Fprintf(out, "\n%s objects over a link of %s; %d runs each, medians\nfloor: %s\n\n", thousands(c.Objects), c.Link, c.Runs, c.Ways[0])
		if err := printEntries(out, c.Entries); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nat half of the starts others kept %.0f %% of the machine busy or more\n\n", 100*r.Busy)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "GOAL")
	for _, s := range r.Stages {
		fmt.Fprintf(table, "\tAT %s\tREACHED", thousands(s.Wanted))
	}
	fmt.Fprintln(table)
	for _, g := range r.Goals() {
		fmt.Fprint(table, g.What)
		for _, m := range g.Marks {
			fmt.Fprintf(table, "\t%s\t%s", m.Goal, m.Reached)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// printStates prints what every way to list and audit cost in each state.
func (s *sizeResult) printStates(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, in := range s.States {
		fmt.Fprintf(table, "\n%s objects, %s; %d runs each\nWHAT\tWALL\tFROM, TO\tCPU\tMEMORY\tSERVERS' CPU\tWALL/FLOOR\tCPU/FLOOR\tSERVERS/FLOOR\n", thousands(s.Objects), in.Name, in.Runs)
		show := func(name string, of sample) {
			m, f := of.Median(), in.Floor()
			fmt.Fprintln(table, strings.Join([]string{name, seconds(m.Wall), of.Spread(), seconds(m.CPU), memory(m.Memory), seconds(m.Servers), ratio(m.Wall, f.Wall), ratio(m.CPU, f.CPU), ratio(m.Servers, f.Servers)}, "\t"))
		}
		show(auditRow, in.Audit)
		for _, way := range in.Ways {
			show(way.String(), way.Runs)
		}
	}
	return table.Flush()
}

func printEntries(out io.Writer, entries []entry) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tWALL\tFROM, TO\tCPU\tMEMORY\tWALL/FLOOR\tCPU/FLOOR\tREQUESTS")
	for _, e := range entries {
		m := e.Median()
		fmt.Fprintln(table, strings.Join([]string{
			e.Name, seconds(m.Wall), e.Spread(), seconds(m.CPU), memory(m.Memory), e.Wall(), e.CPU(), e.Asked(),
		}, "\t"))
	}
	return table.Flush()
}

//go:embed performance.md.tmpl
var page string

// write writes the report as a page of the documentation.
func (r *report) write(path string) error { return render(path, page, r) }

func render(path, page string, data any) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"seconds": seconds, "memory": memory, "megabytes": megabytes, "ratio": ratio, "thousands": thousands, "known": known,
		"percent": func(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) },
	}).Parse(page)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil { // readable by everybody
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
