package main

import (
	_ "embed"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/test/docgen"
)

// report has the results of all targets.
type report struct {
	Each    time.Duration // per target
	Results []result
}

// Longest returns the longest time that a target may get.
func (r report) Longest() time.Duration { return r.Each << maxDoublings }

// Inputs returns the number of executed inputs.
func (r report) Inputs() (n int) {
	for _, c := range r.Results {
		n += c.Inputs
	}
	return n
}

// Broken returns the number of targets that were not ok.
func (r report) Broken() int { return len(r.Results) - r.count(fine) }

// count returns the number of targets with this outcome.
func (r report) count(v outcome) (n int) {
	for _, c := range r.Results {
		if c.Outcome == v {
			n++
		}
	}
	return n
}

// Panicked, Hung, Failed and Idle return the numbers of targets with these outcomes.
func (r report) Panicked() int { return r.count(panicked) }
func (r report) Hung() int     { return r.count(hung) }
func (r report) Failed() int   { return r.count(failed) }
func (r report) Idle() int     { return r.count(idle) }

// Thousands returns a number with commas between groups of digits.
func (report) Thousands(n int) string { return wording.Thousands(n) }

//go:embed fuzz.md.tmpl
var section string

// write writes the figures into a page of the documentation.
func (r report) write(path string) error { return docgen.Fill(path, "fuzz", section, r) }
