package main

import (
	_ "embed"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/test/docgen"
)

// report is how all targets went.
type report struct {
	Each    time.Duration // for how long
	Courses []course
}

// Longest is the most time that a target is given.
func (r report) Longest() time.Duration { return r.Each << lengthened }

// Inputs is how many were executed in all.
func (r report) Inputs() (n int) {
	for _, c := range r.Courses {
		n += c.Inputs
	}
	return n
}

// Broken is how many targets went otherwise than they should.
func (r report) Broken() int { return len(r.Courses) - r.Went(fine) }

// Went is how many went like that.
func (r report) Went(v verdict) (n int) {
	for _, c := range r.Courses {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Panicked, Hung, Failed and Idle are the ways to go wrong, for the page.
func (r report) Panicked() int { return r.Went(panicked) }
func (r report) Hung() int     { return r.Went(hung) }
func (r report) Failed() int   { return r.Went(failed) }
func (r report) Idle() int     { return r.Went(idle) }

// Thousands sets a number apart by commas.
func (report) Thousands(n int) string { return wording.Thousands(n) }

//go:embed fuzz.md.tmpl
var section string

// write puts the figures into a page of the documentation.
func (r report) write(path string) error { return docgen.Fill(path, "fuzz", section, r) }
