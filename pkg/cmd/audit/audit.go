// Package audit is the command kubectl gc audit.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/prometheus"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/sarif"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

type auditFlags struct {
	scan                             *cli.ScanOptions
	changed                          func(flag string) bool // whether the flag is given
	contexts                         *cli.Contexts
	selector                         string
	dangling, crossNamespace, cyclic bool
	rules                            []string
	failOn, groupBy                  string
	stuckAfter, settle               time.Duration
	baseline                         string // file
	output                           *cli.OutputFlags
	watch                            *cli.Watch
	metricsFile                      string // of -o prometheus=FILE
}

// metricsFormat is the format for a scraper.
const metricsFormat = "prometheus"

// neverFail is the value of --fail-on with which findings do not fail the command.
const neverFail = "never"

// failOnChoices are the values of --fail-on.
var failOnChoices = cli.Choices{"error", "warning\terrors and warnings", neverFail}

// byCause and byNone are the values of --group-by.
const (
	byCause = "cause"
	byNone  = "none"
)

// groupByChoices are the values of --group-by.
var groupByChoices = cli.Choices{byCause + "\tsuch as the same absent owner", byNone + "\ta row per finding"}

// New returns the command audit.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &auditFlags{scan: scan, output: cli.NewOutputFlags("table", "wide", "sarif", metricsFormat)}
	f.watch, f.contexts = cli.NewWatch(scan, f.output), cli.NewContexts(scan)
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find bad owner references and stuck deletions",
		Long: `Find bad owner references and stuck deletions, and show what the garbage
collector does about each and how to repair it. ` + cli.CommandName + ` explain RULE
explains a rule.

Findings with one cause are one row: all objects that name the same absent
owner, or that wait for the same finalizer. -o wide has a row for each finding,
as do the formats for programs. Of --rule, --dangling, --cross-namespace and
--cyclic, several show what any of them selects.

It checks the whole cluster unless -n names a namespace. It lists what it
cannot read, and marks findings that depend on that: such an owner is
"unverified", never "missing".

--watch answers again every 5 seconds, until you interrupt it. Without a
terminal, or with -o json, it writes a line of JSON when the answer changes.

Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 error: wrong usage,
or the cluster cannot be read; 3 incomplete scan with --strict.`,
		Example: cli.Examples(`
# Everything that is wrong in the whole cluster
kubectl gc audit

# A row per finding, with UID, verdict and fix
kubectl gc audit -o wide

# References that cross a namespace boundary
kubectl gc audit --cross-namespace

# One namespace, as JSON, failing on warnings too
kubectl gc audit -n shop -o json --fail-on=warning

# In CI: only what is new since a report (-o json), and lasts for 30 seconds
kubectl gc audit --settle 30s --baseline known.json

# Findings as they change, for example during a rollout
kubectl gc audit --watch -n shop

# Without a cluster, output of kubectl: a file that has all objects of its
# types, and a folder, such as a support bundle, that may lack some
kubectl get deployments,replicasets,pods -A -o json > dump.json
kubectl gc audit --from dump.json --complete
kubectl gc audit --from must-gather

# For a code scanner
kubectl gc audit -o sarif > audit.sarif

# Several clusters at once
kubectl gc audit --contexts staging,prod

# For Prometheus, through a file that node_exporter reads
kubectl gc audit -o prometheus=/var/lib/node_exporter/gc.prom`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	f.changed = flags.Changed
	f.scan.AddReadingFlags(cmd)
	f.contexts.AddFlag(cmd)
	flags.StringVarP(&f.selector, "selector", "l", "", "Check only objects with these labels.")
	flags.BoolVar(&f.dangling, "dangling", false, "Only references that lead to no owner.")
	flags.BoolVar(&f.crossNamespace, "cross-namespace", false, "Only references that cross a namespace boundary.")
	flags.BoolVar(&f.cyclic, "cyclic", false, "Only cycles of owners.")
	flags.StringSliceVar(&f.rules, "rule", nil, "Only these rules, of those that "+cli.CommandName+" explain lists.")
	flags.StringVar(&f.failOn, "fail-on", "error", "Exit with 1 at or above this severity: error, warning or never.")
	flags.StringVar(&f.groupBy, "group-by", byCause, "Group findings by cause or none.")
	flags.DurationVar(&f.stuckAfter, "stuck-after", terminating.DefaultStuckAfter, "Report objects that have been Terminating for longer than this.")
	flags.DurationVar(&f.settle, "settle", 0, "Wait this long, then report only what the garbage collector has left.")
	flags.StringVar(&f.baseline, "baseline", "", "Ignore the findings that this earlier report (-o json) has.")
	f.output.AddFlags(cmd)
	f.watch.AddFlag(cmd)
	cli.CompleteFlag(cmd, "baseline", cli.CompleteFiles("json"))
	cli.CompleteFlag(cmd, "fail-on", cli.CompleteOne(failOnChoices...))
	cli.CompleteFlag(cmd, "group-by", cli.CompleteOne(groupByChoices...))
	cli.CompleteFlag(cmd, "rule", cli.CompleteRules(audit.IDs()))
	return cmd
}

// options returns the options of audit.Run.
func (f *auditFlags) options() (audit.Filter, error) {
	selector, err := cli.ParseSelector(f.selector)
	o := audit.Filter{Rules: slices.Clone(f.rules), StuckAfter: f.stuckAfter, Namespace: f.scan.Config.Namespace(), Selector: selector}
	for _, group := range []struct {
		on  bool
		ids []string
	}{{f.dangling, audit.Dangling}, {f.crossNamespace, audit.CrossNamespace}, {f.cyclic, audit.Cyclic}} {
		if group.on {
			o.Rules = append(o.Rules, group.ids...)
		}
	}
	return o, err
}

func (f *auditFlags) run(ctx context.Context) error {
	options, err := f.options()
	if err := cmp.Or(f.scan.Validate(), err, failOnChoices.Check("fail-on", f.failOn), groupByChoices.Check("group-by", f.groupBy)); err != nil {
		return err
	}
	if err := cmp.Or(f.watch.Complete("contexts", "settle", "baseline", "fail-on"), f.completeOutput(), cli.CheckRules(options.Rules)); err != nil {
		return err
	}
	if err := f.checkSettle(); err != nil {
		return err
	}
	if f.watch.On {
		return f.watch.Run(ctx, "audit", func(ctx context.Context) error { return f.answer(ctx, options) })
	}
	return f.answer(ctx, options)
}

// answer audits the clusters once.
func (f *auditFlags) answer(ctx context.Context, options audit.Filter) error {
	known, err := f.readBaseline()
	if err != nil {
		return err
	}
	scans, err := f.contexts.Scans()
	if err != nil {
		return err
	}
	clusters, err := f.contexts.Audit(ctx, scans, func(ctx context.Context, v cli.ContextScan) (audit.Cluster, error) {
		return f.auditContext(ctx, v, options)
	})
	if err != nil {
		return err
	}
	if known != nil {
		for _, c := range clusters {
			c.Subtract(known, c.Name)
		}
	}
	report := audit.Join(clusters)
	if err := f.write(clusters, report, options.Rules); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	f.warn(clusters, report)
	worst, any := report.Worst()
	switch {
	case f.scan.Strict && !report.Complete:
		return cli.ExitError(cli.ExitIncomplete)
	case any && f.failOn != neverFail && worst.AtLeast(audit.Severity(f.failOn)):
		return cli.ExitError(cli.ExitFound)
	}
	return nil
}

// completeOutput chooses the format. That of metrics may name a file.
func (f *auditFlags) completeOutput() error {
	if format, file, named := strings.Cut(f.output.Format, "="); format == metricsFormat && named {
		f.output.Format, f.metricsFile = format, file
		return cli.UsageIf(file == "", "-o prometheus= names no file")
	}
	return cmp.Or(f.output.Complete(&f.scan.Streams), cli.UsageIf(f.changed("group-by") && f.output.Format != "table", "--group-by works only with -o table"))
}

// write writes the reports of the clusters, or the joined one, in the format of -o. The rules
// are the ones that were checked, none for all.
func (f *auditFlags) write(clusters []audit.Cluster, r *audit.Report, rules []string) error {
	switch {
	case f.forPerson():
		return f.printTable(clusters, r)
	case f.output.Format == "sarif":
		return sarif.Write(f.scan.Out, r, audit.Rules, cli.Release())
	case f.output.Format == metricsFormat:
		return f.writeMetrics(clusters, rules)
	}
	found := make([]object.Identity, len(r.Findings))
	for i, finding := range r.Findings {
		found[i] = finding.Object
	}
	return f.output.Write("AuditReport", r, found...)
}

// forPerson reports whether the output is for a person, not for a program.
func (f *auditFlags) forPerson() bool { return f.output.Format == "table" || f.output.Format == "wide" }

func (f *auditFlags) printFindings(r *audit.Report) error {
	if wide := f.output.Format == "wide"; wide || f.groupBy == byNone {
		return auditreport.Table(f.scan.Text(), r, wide, f.scan.Palette())
	}
	return auditreport.GroupTable(f.scan.Text(), r, f.scan.Palette())
}

func (f *auditFlags) printTable(clusters []audit.Cluster, r *audit.Report) error {
	if err := f.printFindings(r); err != nil {
		return err
	}
	for _, line := range []string{auditreport.SummaryLine(r, cli.TypesOf(clusters)), auditreport.Known(r.Known), auditreport.Settled(r.Settled)} {
		if line == "" {
			continue
		}
		if _, err := fmt.Fprintln(f.scan.Text(), line); err != nil {
			return err
		}
	}
	return nil
}

// writeMetrics writes metrics to standard output or, atomically and readable by everybody, to
// a file for a scraper.
func (f *auditFlags) writeMetrics(clusters []audit.Cluster, rules []string) error {
	checked := slices.DeleteFunc(audit.IDs(), func(id string) bool { return len(rules) > 0 && !slices.Contains(rules, id) })
	write := func(w io.Writer) error { return prometheus.Write(w, clusters, checked, cli.Release()) }
	if f.metricsFile == "" {
		return write(f.scan.Out)
	}
	return cli.ReplaceFile(f.metricsFile, cli.PublicFile, write)
}

// warn prints what is missing from the report, and what to do next.
func (f *auditFlags) warn(clusters []audit.Cluster, r *audit.Report) {
	for _, c := range clusters {
		f.scan.WarnOfCluster(c)
	}
	if !f.forPerson() {
		return
	}
	for _, hint := range auditreport.Hints(r, f.scan.NextCommands(f.selector, f.contexts.One()...)) {
		fmt.Fprintln(f.scan.Err, hint)
	}
	if hint := auditreport.MayBeInProgress(r, f.scan.Suggest(append([]string{"audit", "--settle", "30s"}, f.contexts.Same()...)...)); hint != "" && f.scan.From == "" {
		fmt.Fprintln(f.scan.Err, hint)
	}
}

// checkSettle returns an error if --settle cannot work.
func (f *auditFlags) checkSettle() error {
	return cli.UsageIf(f.settle > 0 && f.scan.From != "", "--settle needs a cluster: the objects of the %s cannot be read again", f.scan.Source())
}

// auditContext scans and audits one cluster, or a file.
func (f *auditFlags) auditContext(ctx context.Context, v cli.ContextScan, options audit.Filter) (audit.Cluster, error) {
	begun := v.Scan.Now()
	seen, live, err := v.Scan.Scan(ctx, v.Scan.Everything(scan.Scope{Labels: options.Selector != nil}))
	if err != nil {
		return audit.Cluster{}, err
	}
	took := time.Duration(0)
	if live != nil {
		took = v.Scan.Now().Sub(begun)
	}
	out, judge, err := f.audit(seen, options)
	if err != nil {
		return audit.Cluster{}, err
	}
	out.Name, out.Took = v.Name, took
	if f.settle > 0 {
		err = v.Scan.Settle(ctx, live, judge.Graph(), out.Report, f.settle)
	}
	return out, err
}

// audit audits one scan.
func (f *auditFlags) audit(seen *snapshot.Snapshot, options audit.Filter) (out audit.Cluster, judge *collector.Judge, err error) {
	out = audit.Cluster{Answered: true, Server: seen.Server, Types: seen.MonitoredTypes(), Taken: seen.Taken}
	judge = collector.NewJudge(graph.New(seen))
	if f.output.Format == metricsFormat {
		out.Terminating = audit.Terminating(judge, options)
	}
	out.Report, err = audit.Run(judge, options)
	return out, judge, err
}
