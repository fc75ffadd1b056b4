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
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// reportWriter writes what was found, cluster by cluster and joined.
type reportWriter func([]audit.Cluster, *audit.Report) error

// printer chooses how the report is written, before anything is asked. rules are the ids
// of those that judge; none for all.
func (f *auditFlags) printer(rules []string) (reportWriter, error) {
	switch format, file, toFile := strings.Cut(f.output, "="); {
	case f.output == "table" || f.output == "wide":
		return f.printTable, nil
	case f.output == "sarif":
		return func(_ []audit.Cluster, r *audit.Report) error {
			return sarif.Write(f.scan.Out, r, audit.Rules, cli.Release())
		}, nil
	case format == "prometheus" && toFile && file == "":
		return nil, &cli.UsageError{Err: errors.New("-o prometheus= names no file")}
	case format == "prometheus":
		return f.printMetrics(rules, file), nil
	}
	format, err := f.formats.ToPrinter(f.output, cli.OwnFormats["audit"]...)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return func(_ []audit.Cluster, r *audit.Report) error {
		found := make([]object.Identity, len(r.Findings))
		for i, finding := range r.Findings {
			found[i] = finding.Object
		}
		return format.Print(f.scan.Out, structured.NewDocument("AuditReport", r, found...), f.scan.OutTerm)
	}, nil
}

// readable says whether the answer is for a person.
func (f *auditFlags) readable() bool { return f.output == "table" || f.output == "wide" }

func (f *auditFlags) printTable(clusters []audit.Cluster, r *audit.Report) error {
	if err := auditreport.Table(f.scan.Out, r, f.output == "wide", f.scan.Palette()); err != nil {
		return err
	}
	types := 0 // of several clusters no number is that of all
	if len(clusters) == 1 {
		types = clusters[0].Types
	}
	_, err := fmt.Fprintln(f.scan.Out, auditreport.SummaryLine(r, types))
	return err
}

// printMetrics writes to a file where one is named: who scrapes it must never read half
// of it, and is hardly who writes it.
func (f *auditFlags) printMetrics(rules []string, file string) reportWriter {
	judging := slices.DeleteFunc(audit.IDs(), func(id string) bool { return len(rules) > 0 && !slices.Contains(rules, id) })
	return func(clusters []audit.Cluster, _ *audit.Report) error {
		write := func(w io.Writer) error { return prometheus.Write(w, clusters, judging, cli.Release()) }
		if file == "" {
			return write(f.scan.Out)
		}
		return cli.ReplaceFile(file, cli.PublicFile, write)
	}
}

// warn says on standard error what weakens the answer, and what to do next.
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
	if hints := auditreport.Hints(r, commands); hints != "" && f.readable() {
		fmt.Fprintln(f.scan.Err, hints)
	}
}
