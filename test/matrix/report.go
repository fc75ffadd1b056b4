package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"
)

// report has the results of all versions.
type report struct {
	Seeds    uint64 // how many for each version
	From     uint64 // the first one
	Versions []versionReport
}

// versionReport has the results of one version, one for every suite.
type versionReport struct {
	Version string // such as v1.33.13
	Suites  []suiteResult
}

// Newest returns the newest version, whose etcd and kubectl all others use.
func (r report) Newest() string { return r.Versions[0].Version }

// Last returns the last seed.
func (r report) Last() uint64 { return r.From + r.Seeds - 1 }

// Suites returns the rows of the table.
func (report) Suites() []suite { return suites }

// Table returns the table in Markdown, with a column for each version.
func (r report) Table() string {
	var b strings.Builder
	b.WriteString("| suite |")
	for _, v := range r.Versions {
		fmt.Fprintf(&b, " %s runs | mismatches |", strings.TrimPrefix(v.Version, "v"))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- | --- |", len(r.Versions)) + "\n")
	for i, s := range suites {
		fmt.Fprintf(&b, "| %s |", s.Name)
		for _, v := range r.Versions {
			fmt.Fprintf(&b, " %d | %d |", v.Suites[i].Runs, len(v.Suites[i].Mismatches))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Mismatches returns the tests that failed, each as version and name.
func (r report) Mismatches() (all []string) {
	for _, v := range r.Versions {
		for _, s := range v.Suites {
			for _, name := range s.Mismatches {
				all = append(all, v.Version+" "+name)
			}
		}
	}
	return all
}

// untested returns the tests that were skipped, and the suites without any run.
func (r report) untested() (all []string) {
	for _, v := range r.Versions {
		for _, s := range v.Suites {
			for _, name := range s.Skipped {
				all = append(all, v.Version+" "+name)
			}
			if s.Runs == 0 {
				all = append(all, v.Version+" "+s.Suite.Name)
			}
		}
	}
	return all
}

// err returns an error if there is a mismatch, or a test that did not run.
func (r report) err() error {
	var errs []error
	for _, name := range r.Mismatches() {
		errs = append(errs, fmt.Errorf("mismatch: %s", name))
	}
	for _, name := range r.untested() {
		errs = append(errs, fmt.Errorf("not tested: %s", name))
	}
	return errors.Join(errs...)
}

func (r report) print(out io.Writer) error {
	_, err := io.WriteString(out, r.Table())
	return err
}

//go:embed matrix.md.tmpl
var page string

// write writes the page. Equal results give an equal page.
func (r report) write(path string) error {
	form, err := template.New("matrix").Parse(page)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := form.Execute(&b, r); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644) // readable by everybody
}
