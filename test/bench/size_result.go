package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// sizeResult has the measurements for one number of objects.
type sizeResult struct {
	Wanted  int // objects to create
	Objects int // objects that audit scanned
	Seeded  time.Duration
	Runs    int         // of each program
	Moved   transferred // by the floor
	Ways    []attempt   // the best one first
	Near    listMethod  // the best one for one namespace
	Entries []entry
	Growths []growth
	States  []stateResult
}

// Names of rows that others refer to.
const (
	wholeFloor     = "the transfer floor"
	namespaceFloor = "the floor of one namespace"
	auditRow       = "kubectl gc audit"
	treeRow        = "kubectl gc tree deployment/" + firstApplication + " -n " + firstNamespace
)

// The comparison of programs has comparisonFactor times as many runs as the search, up to
// manyObjects, where a run takes only seconds.
const (
	comparisonFactor = 3
	manyObjects      = 200_000
)

// row is a program to compare. against names the row that it is compared with.
type row struct {
	program
	name, against string
	floor         bool
}

// rows returns the floors and the programs to compare with them.
func (w *harness) rows(whole, near listMethod) []row {
	out := []row{
		{w.floor(whole, w.all), wholeFloor, wholeFloor, true},
		{w.command(true, "audit"), auditRow, wholeFloor, false},
		{w.floor(near, w.first, "-discover"), namespaceFloor, namespaceFloor, true},
		{w.command(false, "tree", "deployment/"+firstApplication, "-n", firstNamespace), treeRow, namespaceFloor, false},
		{w.command(false, "version"), "kubectl gc version", "", false},
	}
	if words := strings.Fields(w.peer); len(words) > 0 {
		peer := program{name: filepath.Base(words[0]), path: words[0], args: words[1:], env: w.plane.Env(), found: true}
		out = append(out, row{peer, peer.name, wholeFloor, false})
	}
	return out
}

// measure finds the floors, and then compares the programs.
func (w *harness) measure(ctx context.Context, objects int) (s *sizeResult, err error) {
	s = &sizeResult{Wanted: objects, Runs: comparisonFactor * w.runs}
	if objects >= manyObjects {
		s.Runs = w.runs
	}
	if s.Objects, err = w.counted(ctx, objects); err != nil {
		return nil, err
	}
	for _, r := range w.rows(auditListMethod, auditListMethod) { // the first run of each program is not measured
		if _, _, err := w.run(ctx, r.program); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(w.progress, "watching the API server's memory")
	if s.Growths, err = w.growths(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(w.progress, "looking for the floor of %s objects\n", thousands(s.Objects))
	if s.Ways, err = w.search(ctx, listMethods(objects), auditListMethod, func(method listMethod) program { return w.floor(method, w.all) }); err != nil {
		return nil, err
	}
	fmt.Fprintln(w.progress, "looking for the floor of one namespace")
	near, err := w.search(ctx, namespaceListMethods(), listMethod{}, func(method listMethod) program { return w.floor(method, w.first, "-discover") })
	if err != nil {
		return nil, err
	}
	s.Near = near[0].listMethod
	fmt.Fprintf(w.progress, "comparing, %d runs each; the floor is: %s\n", s.Runs, s.Ways[0])
	return s, w.compare(ctx, s)
}

// compare runs all rows, interleaved.
func (w *harness) compare(ctx context.Context, s *sizeResult) error {
	rows := w.rows(s.Ways[0].listMethod, s.Near)
	programs := make([]program, len(rows))
	for i, r := range rows {
		programs[i] = r.program
	}
	samples, outputs, err := w.turns(ctx, programs, s.Runs)
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
			if r.name == wholeFloor {
				s.Moved = said
			}
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
