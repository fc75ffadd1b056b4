package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// sizeResult has the measurements for one number of objects.
type sizeResult struct {
	Wanted   int // objects to create
	Objects  int // objects that audit scanned
	Seeded   time.Duration
	Requests int // lists of audit
	States   []stateResult
	Growths  []growth

	// What concerns one namespace, and what concerns none.
	Near    listMethod // the best one
	Runs    int
	Entries []entry
}

// Names of rows that others refer to.
const (
	namespaceFloor = "the floor of one namespace"
	auditRow       = "kubectl gc audit"
	treeRow        = "kubectl gc tree deployment/" + firstApplication + " -n " + firstNamespace
)

// Up to manyObjects, where a run takes only seconds, programs are compared in comparisonFactor
// times as many runs.
const (
	comparisonFactor = 2
	manyObjects      = 200_000
)

// row is a program to compare. against names the row that it is compared with.
type row struct {
	program
	name, against string
	floor         bool
}

// rows returns the floor of a namespace and the programs to compare with it.
func (w *harness) rows(near listMethod) []row {
	return []row{
		{w.floor(near, w.first, "-discover"), namespaceFloor, namespaceFloor, true},
		{w.command(false, "tree", "deployment/"+firstApplication, "-n", firstNamespace), treeRow, namespaceFloor, false},
		{w.command(false, "version"), "kubectl gc version", "", false},
	}
}

// measure measures everything for one number of objects.
func (w *harness) measure(ctx context.Context, objects int) (s *sizeResult, err error) {
	s = &sizeResult{Wanted: objects, Runs: comparisonFactor * w.runs}
	if objects >= manyObjects {
		s.Runs = w.runs
	}
	if s.Objects, err = w.counted(ctx, objects); err != nil { // the first run is not measured
		return nil, err
	}
	if s.Requests, err = w.asked(ctx, w.command(true, "audit")); err != nil {
		return nil, err
	}
	fmt.Fprintln(w.progress, "watching the API server's memory")
	if s.Growths, err = w.growths(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintln(w.progress, "looking for the floor of one namespace")
	near, err := w.search(ctx, namespaceListMethods(), func(method listMethod) program { return w.floor(method, w.first, "-discover") })
	if err != nil {
		return nil, err
	}
	s.Near = near[0].listMethod
	fmt.Fprintf(w.progress, "comparing, %d runs each; the floor is: %s\n", comparisonFactor*w.runs, s.Near)
	if err := w.compare(ctx, s); err != nil {
		return nil, err
	}
	s.States, err = w.measureStates(ctx, s.Runs)
	return s, err
}

// compare runs all rows, interleaved.
func (w *harness) compare(ctx context.Context, s *sizeResult) error {
	rows := w.rows(s.Near)
	programs := make([]program, len(rows))
	for i, r := range rows {
		programs[i] = r.program
	}
	samples, outputs, err := w.turns(ctx, programs, comparisonFactor*w.runs, change)
	if err != nil {
		return err
	}
	for i, r := range rows {
		e := entry{Name: r.name, Runs: samples[i], Floor: r.floor}
		if r.floor {
			var said transferred
			if err := json.Unmarshal(outputs[i], &said); err != nil {
				return fmt.Errorf("read what %s says: %w", r.name, err)
			}
			e.Requests = int(said.Requests)
		} else if e.Requests, err = w.asked(ctx, r.program); err != nil {
			return err
		}
		s.Entries = append(s.Entries, e)
	}
	for i, r := range rows {
		s.Entries[i].Against = s.Of(r.against).Median()
	}
	return nil
}

// asked counts the lists of one more run, which is not measured.
func (w *harness) asked(ctx context.Context, p program) (int, error) {
	c, err := newCounter(w.plane.Kubeconfig)
	if err != nil {
		return 0, err
	}
	before, err := c.requests(ctx)
	if err != nil {
		return 0, err
	}
	if _, _, err := w.run(ctx, p); err != nil {
		return 0, err
	}
	after, err := c.requests(ctx)
	return after["LIST"] - before["LIST"], err
}

// counted returns the number of objects that audit reports.
func (w *harness) counted(ctx context.Context, wanted int) (int, error) {
	_, out, err := w.run(ctx, w.command(true, "audit", "-o", "json"))
	if err != nil {
		return 0, err
	}
	var said struct {
		Complete bool `json:"complete"`
		Summary  struct {
			Objects int `json:"objects"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return 0, fmt.Errorf("read what audit says: %w", err)
	}
	if !said.Complete || said.Summary.Objects < wanted {
		return 0, fmt.Errorf("audit saw %d of %d objects (complete: %t)", said.Summary.Objects, wanted, said.Complete)
	}
	return said.Summary.Objects, nil
}

// Of returns the row of that name, or an empty one.
func (s *sizeResult) Of(name string) entry {
	for _, e := range s.Entries {
		if e.Name == name {
			return e
		}
	}
	return entry{}
}
