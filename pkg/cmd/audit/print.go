package audit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/prometheus"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/sarif"
)

// reportWriter writes the reports of the clusters, or the joined one.
type reportWriter func([]audit.Cluster, *audit.Report) error

// printer returns what writes the report in the format of -o. The rules are the ones that
// are checked, none for all.
func (f *auditFlags) printer(rules []string) (reportWriter, error) {
	switch format, file, toFile := strings.Cut(f.output.Format, "="); {
	case f.forPerson():
		return f.printTable, nil
	case f.output.Format == "sarif":
		return func(_ []audit.Cluster, r *audit.Report) error {
			return sarif.Write(f.scan.Out, r, audit.Rules, cli.Release())
		}, nil
	case format == "prometheus" && toFile && file == "":
		return nil, &cli.UsageError{Err: errors.New("-o prometheus= names no file")}
	case format == "prometheus":
		return f.printMetrics(rules, file), nil
	}
	write, err := f.output.DocumentWriter(f.scan.Streams)
	if err != nil {
		return nil, err
	}
	return func(_ []audit.Cluster, r *audit.Report) error {
		found := make([]object.Identity, len(r.Findings))
		for i, finding := range r.Findings {
			found[i] = finding.Object
		}
		return write("AuditReport", r, found...)
	}, nil
}

// forPerson reports whether the output is for a person, not for a program.
func (f *auditFlags) forPerson() bool { return f.output.Format == "table" || f.output.Format == "wide" }

func (f *auditFlags) printTable(clusters []audit.Cluster, r *audit.Report) error {
	if err := auditreport.Table(f.scan.Out, r, f.output.Format == "wide", f.scan.Palette()); err != nil {
		return err
	}
	types := 0 // not shown for several clusters
	if len(clusters) == 1 {
		types = clusters[0].Types
	}
	_, err := fmt.Fprintln(f.scan.Out, auditreport.SummaryLine(r, types))
	return err
}

// printMetrics returns what writes metrics to standard output or, atomically and readable by
// everybody, to a file for a scraper.
func (f *auditFlags) printMetrics(rules []string, file string) reportWriter {
	checked := slices.DeleteFunc(audit.IDs(), func(id string) bool { return len(rules) > 0 && !slices.Contains(rules, id) })
	return func(clusters []audit.Cluster, _ *audit.Report) error {
		write := func(w io.Writer) error { return prometheus.Write(w, clusters, checked, cli.Release()) }
		if file == "" {
			return write(f.scan.Out)
		}
		return cli.ReplaceFile(file, cli.PublicFile, write)
	}
}

// warn prints what is missing from the report, and what to do next.
func (f *auditFlags) warn(clusters []audit.Cluster, r *audit.Report) {
	for _, c := range clusters {
		f.warnOf(c)
	}
	commands := cli.NextCommands()
	if r.Clusters != nil {
		for _, command := range []*string{&commands.Repair, &commands.Preview, &commands.Explain} {
			*command += " --context CLUSTER"
		}
	}
	if hints := auditreport.Hints(r, commands); hints != "" && f.forPerson() {
		fmt.Fprintln(f.scan.Err, hints)
	}
}
