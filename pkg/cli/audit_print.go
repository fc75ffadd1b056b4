package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/prometheus"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/sarif"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// writing writes what was found, cluster by cluster and joined.
type writing func([]audit.Cluster, *audit.Report) error

// printer chooses how the report is written, before anything is asked. rules are the ids
// of those that judge; none for all.
func (f *auditFlags) printer(rules []string) (writing, error) {
	switch format, file, toFile := strings.Cut(f.output, "="); {
	case f.output == "table" || f.output == "wide":
		return f.printTable, nil
	case f.output == "sarif":
		return func(_ []audit.Cluster, r *audit.Report) error {
			return sarif.Write(f.Out, r, audit.Rules, version())
		}, nil
	case format == "prometheus" && toFile && file == "":
		return nil, &usage{err: errors.New("-o prometheus= names no file")}
	case format == "prometheus":
		return f.printMetrics(rules, file), nil
	}
	format, err := f.formats.ToPrinter(f.output, own["audit"]...)
	if err != nil {
		return nil, &usage{err: err}
	}
	return func(_ []audit.Cluster, r *audit.Report) error {
		found := make([]object.Identity, len(r.Findings))
		for i, finding := range r.Findings {
			found[i] = finding.Object
		}
		return format.Print(f.Out, structured.NewDocument("AuditReport", r, found...), f.OutTerm)
	}, nil
}

// readable says whether the answer is for a person.
func (f *auditFlags) readable() bool { return f.output == "table" || f.output == "wide" }

func (f *auditFlags) printTable(clusters []audit.Cluster, r *audit.Report) error {
	if err := auditreport.Table(f.Out, r, f.output == "wide", f.palette()); err != nil {
		return err
	}
	types := 0 // of several clusters no number is that of all
	if len(clusters) == 1 {
		types = clusters[0].Types
	}
	_, err := fmt.Fprintln(f.Out, auditreport.Sum(r, types))
	return err
}

// printMetrics writes to a file where one is named: who scrapes it must never read half
// of it, and is hardly who writes it.
func (f *auditFlags) printMetrics(rules []string, file string) writing {
	judging := slices.DeleteFunc(audit.IDs(), func(id string) bool { return len(rules) > 0 && !slices.Contains(rules, id) })
	return func(clusters []audit.Cluster, _ *audit.Report) error {
		write := func(w io.Writer) error { return prometheus.Write(w, clusters, judging, version()) }
		if file == "" {
			return write(f.Out)
		}
		return replace(file, public, write)
	}
}

// warn says on standard error what weakens the answer, and what to do next.
func (f *auditFlags) warn(clusters []audit.Cluster, r *audit.Report) {
	for _, c := range clusters {
		f.warnOf(c)
	}
	commands := advised()
	if r.Clusters != nil {
		for _, command := range []*string{&commands.Repair, &commands.Preview, &commands.Explain} {
			*command += " --context CLUSTER"
		}
	}
	if hints := auditreport.Hints(r, commands); hints != "" && f.readable() {
		fmt.Fprintln(f.Err, hints)
	}
}
