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

// report is everything that was measured.
type report struct {
	Line       string
	Date       time.Time
	Machine    machine
	Kubernetes string
	Runs       int // of each program
	Tries      int // of each way to find the floor
	Types      int // lists that a look takes
	Objects    int
	Seeded     time.Duration
	Moved      transferred // by the floor
	Busy       float64     // which part of the machine others kept busy at the median start
	Busiest    float64     // and at one in ten
	Entries    []entry     // the floor first
	Ways       []entry     // the best first
}

// entry is one row.
type entry struct {
	Name  string
	Runs  sample
	Lists int
}

// Median is of each figure by itself.
func (e entry) Median() cost { return e.Runs.median() }

// Spread is from the fastest run to the slowest.
func (e entry) Spread() string {
	return seconds(e.Runs.fastest()) + " to " + seconds(e.Runs.slowest())
}

// Floor is what everything is compared with.
func (r *report) Floor() cost { return r.Entries[0].Median() }

// Of is the row of kubectl gc COMMAND.
func (r *report) Of(command string) cost {
	for _, e := range r.Entries {
		if e.Name == "kubectl gc "+command {
			return e.Median()
		}
	}
	return cost{}
}

// Shown are the ways worth a look: the five best, audit's own, and the worst.
func (r *report) Shown() []entry {
	var out []entry
	for i, e := range r.Ways {
		if i < 5 || i == len(r.Ways)-1 {
			out = append(out, e)
		} else if e.Name == auditsWay.String() {
			e.Name += " (audit's)"
			out = append(out, e)
		}
	}
	return out
}

// Mix says what was created.
func (r *report) Mix() string {
	return fmt.Sprintf("%d pods, %d configmaps, %d secrets and 2 replicasets to each deployment", podsEach, configMapsEach, secretsEach)
}

func (r *report) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s objects, %d types, %.1f MB of metadata; %d runs each, medians\n", thousands(r.Objects), r.Types, megabytes(r.Moved.Bytes), r.Runs)
	fmt.Fprintf(out, "floor: %s\nat half of the starts others kept %.0f %% of the machine busy or more\n\n", r.Ways[0].Name, 100*r.Busy)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tWALL\tFROM, TO\tCPU\tMEMORY\tWALL/FLOOR\tCPU/FLOOR\tLISTS")
	for _, e := range r.Entries {
		m := e.Median()
		fmt.Fprintln(table, strings.Join([]string{
			e.Name, seconds(m.Wall), e.Spread(), seconds(m.CPU), memory(m.Memory),
			ratio(m.Wall, r.Floor().Wall), ratio(m.CPU, r.Floor().CPU), fmt.Sprint(e.Lists),
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
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil { // a page for everybody
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// memory is empty where it is not known.
func memory(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

func ratio(a, b time.Duration) string {
	if b == 0 {
		return "?"
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

// thousands writes 50234 as 50,234.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
