// Package audit is the command kubectl gc audit.
package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

type auditFlags struct {
	scan                             *cli.ScanOptions
	changed                          func(flag string) bool // whether the flag is given
	contexts                         []string
	selector                         string
	dangling, crossNamespace, cyclic bool
	rules                            []string
	failOn                           string
	stuckAfter                       time.Duration
	output                           *cli.OutputFlags
}

// New returns the command audit.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &auditFlags{scan: scan, output: cli.NewOutputFlags("table", "wide", "sarif", "prometheus")}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find every bad owner reference and every stuck deletion",
		Long: `Find every bad owner reference and every stuck deletion, and show what the
garbage collector does about each and how to repair it.

Checks the whole cluster unless -n names a namespace. What could not be read is
named, and makes the answer weaker: an owner of a type that could not be listed
is "unverified", never "missing".

Exit codes: 0 nothing at or above --fail-on, 1 something, 2 no answer,
3 an incomplete scan with --strict. Each rule has a page in docs/rules.`,
		Example: cli.Examples(`
# Everything that is wrong in the whole cluster
kubectl gc audit

# References that cross a namespace boundary
kubectl gc audit --cross-namespace

# One namespace, as JSON, failing on warnings too
kubectl gc audit -n shop -o json --fail-on=warning

# A file that kubectl wrote, without a cluster
kubectl get deployments,replicasets,pods -A -o json > dump.json
kubectl gc audit --from dump.json

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
	flags.StringSliceVar(&f.contexts, "contexts", nil, "audit the clusters of these contexts at once, in one report; all means every context of the kubeconfig")
	flags.StringVarP(&f.selector, "selector", "l", "", "check only objects with these labels")
	flags.BoolVar(&f.dangling, "dangling", false, "only references that lead to no owner: "+strings.Join(audit.Dangling, ", "))
	flags.BoolVar(&f.crossNamespace, "cross-namespace", false, "only references that cross a namespace boundary: "+strings.Join(audit.CrossNamespace, ", "))
	flags.BoolVar(&f.cyclic, "cyclic", false, "only cycles: "+strings.Join(audit.Cyclic, ", "))
	flags.StringSliceVar(&f.rules, "rule", nil, "only these rules: "+strings.Join(audit.IDs(), ", "))
	flags.StringVar(&f.failOn, "fail-on", "error", "exit with 1 on findings of at least this severity: error, warning or never")
	flags.DurationVar(&f.stuckAfter, "stuck-after", audit.DefaultStuckAfter, "how long a terminating object may wait for a finalizer of another controller")
	f.output.AddFlags(cmd)
	cli.CompleteFlag(cmd, "contexts", f.scan.CompleteContexts)
	cli.CompleteFlag(cmd, "fail-on", cli.CompleteOne("error", "warning\terrors and warnings", "never"))
	cli.CompleteFlag(cmd, "rule", cli.CompleteRules(audit.IDs()))
	return cmd
}

// options returns the options of audit.Run.
func (f *auditFlags) options() (audit.Options, error) {
	o := audit.Options{Rules: slices.Clone(f.rules), StuckAfter: f.stuckAfter, Namespace: f.scan.Config.Namespace()}
	for _, group := range []struct {
		on  bool
		ids []string
	}{{f.dangling, audit.Dangling}, {f.crossNamespace, audit.CrossNamespace}, {f.cyclic, audit.Cyclic}} {
		if group.on {
			o.Rules = append(o.Rules, group.ids...)
		}
	}
	var err error
	if f.selector != "" {
		o.Selector, err = cli.ParseSelector(f.selector)
	}
	return o, err
}

// failOnSeverity returns the severity from which findings fail the command; "" for never.
func (f *auditFlags) failOnSeverity() (audit.Severity, error) {
	switch f.failOn {
	case "error", "warning":
		return audit.Severity(f.failOn), nil
	case "never":
		return "", nil
	}
	return "", cli.Usagef("--fail-on %s: must be error, warning or never", cli.Quote(f.failOn))
}

func (f *auditFlags) run(ctx context.Context) error {
	if err := f.scan.Validate(); err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	failOn, err := f.failOnSeverity()
	if err != nil {
		return err
	}
	f.output.Complete()
	printer, err := f.printer(options.Rules)
	if err != nil {
		return err
	}
	if err := audit.Check(options.Rules); err != nil {
		return &cli.UsageError{Err: err}
	}
	scans, err := f.contextScans()
	if err != nil {
		return err
	}
	clusters, err := f.auditContexts(ctx, scans, options)
	if err != nil {
		return err
	}
	report := audit.Join(clusters)
	if err := printer(clusters, report); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	f.warn(clusters, report)
	worst, any := report.Worst()
	switch {
	case f.scan.Strict && !report.Complete:
		return cli.ExitError(cli.ExitIncomplete)
	case any && failOn != "" && worst.AtLeast(failOn):
		return cli.ExitError(cli.ExitFound)
	}
	return nil
}
