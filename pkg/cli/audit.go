package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/findings"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/machine"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/sarif"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/spf13/cobra"
)

type auditFlags struct {
	*source
	selector                         string
	dangling, crossNamespace, cyclic bool
	rules                            []string
	failOn                           string
	stuckAfter                       time.Duration
	output                           string
	formats                          *machine.Flags
}

func newAudit(from *source) *cobra.Command {
	f := &auditFlags{source: from, formats: machine.NewFlags(os.ReadFile)}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find every bad owner reference and every stuck deletion",
		Long: `Find every bad owner reference and every stuck deletion, and say what the
garbage collector does about each and what mends it.

The whole cluster is judged unless -n names a namespace. What could not be read
is named, and weakens the answer: an owner of a type that could not be listed is
"unverified", never "missing".

Exit codes: 0 nothing at or above --fail-on, 1 something, 2 no answer,
3 an incomplete view with --strict. Each rule has a page in docs/rules.`,
		Example: examples(`
# Everything that is wrong, in the whole cluster
kubectl gc audit

# References that cross a namespace border
kubectl gc audit --cross-namespace

# One namespace, as JSON, failing on warnings too
kubectl gc audit -n shop -o json --fail-on=warning

# What kubectl wrote to a file, without a cluster
kubectl get deployments,replicasets,pods -A -o json > dump.json
kubectl gc audit --from dump.json

# For a code scanner
kubectl gc audit -o sarif > audit.sarif`),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	f.addReadingFlags(flags)
	flags.StringVarP(&f.selector, "selector", "l", "", "judge only objects with these labels")
	flags.BoolVar(&f.dangling, "dangling", false, "only references that lead to no owner: "+strings.Join(audit.Dangling, ", "))
	flags.BoolVar(&f.crossNamespace, "cross-namespace", false, "only references that cross a namespace border: "+strings.Join(audit.CrossNamespace, ", "))
	flags.BoolVar(&f.cyclic, "cyclic", false, "only circles: "+strings.Join(audit.Cyclic, ", "))
	flags.StringSliceVar(&f.rules, "rule", nil, "only these rules: "+strings.Join(audit.IDs(), ", "))
	flags.StringVar(&f.failOn, "fail-on", "error", "exit with 1 on findings at least this grave: error, warning or never")
	flags.DurationVar(&f.stuckAfter, "stuck-after", audit.DefaultStuckAfter, "how long a terminating object may wait for a foreign finalizer")
	addOutputFlags(cmd, &f.output, f.formats)
	f.completeFlags(cmd)
	return cmd
}

// options turns the flags into what audit.Run takes.
func (f *auditFlags) options() (audit.Options, error) {
	o := audit.Options{Rules: slices.Clone(f.rules), StuckAfter: f.stuckAfter, Namespace: f.config.Namespace()}
	for _, family := range []struct {
		on  bool
		ids []string
	}{{f.dangling, audit.Dangling}, {f.crossNamespace, audit.CrossNamespace}, {f.cyclic, audit.Cyclic}} {
		if family.on {
			o.Rules = append(o.Rules, family.ids...)
		}
	}
	var err error
	if f.selector != "" {
		o.Selector, err = selecting(f.selector)
	}
	return o, err
}

// floor is the gravity from which findings fail the command; "" for never.
func (f *auditFlags) floor() (audit.Severity, error) {
	switch f.failOn {
	case "error", "warning":
		return audit.Severity(f.failOn), nil
	case "never":
		return "", nil
	}
	return "", usagef("--fail-on %s: say error, warning or never", quoted(f.failOn))
}

func (f *auditFlags) run(ctx context.Context) error {
	if err := f.validate(); err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	floor, err := f.floor()
	if err != nil {
		return err
	}
	f.output = chosen("audit", f.output, f.formats)
	printer, err := f.printer()
	if err != nil {
		return err
	}
	if err := audit.Check(options.Rules); err != nil {
		return &usage{err: err}
	}
	seen, _, err := f.look(ctx, f.whole(cluster.Scope{Labels: options.Selector != nil}))
	if err != nil {
		return err
	}
	report, err := audit.Run(graph.New(seen), options)
	if err != nil {
		return err
	}
	if err := printer(report); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	f.warn(seen, report)
	worst, any := report.Worst()
	switch {
	case f.strict && !report.Complete:
		return status(exitIncomplete)
	case any && floor != "" && worst.AtLeast(floor):
		return status(exitFound)
	}
	return nil
}

// printer chooses how the report is written, before anything is asked.
func (f *auditFlags) printer() (func(*audit.Report) error, error) {
	switch f.output {
	case "table", "wide":
		return f.printTable, nil
	case "sarif":
		return func(r *audit.Report) error { return sarif.Write(f.Out, r, audit.Rules, version()) }, nil
	}
	format, err := f.formats.ToPrinter(f.output, own["audit"]...)
	if err != nil {
		return nil, &usage{err: err}
	}
	return func(r *audit.Report) error {
		found := make([]object.Identity, len(r.Findings))
		for i, finding := range r.Findings {
			found[i] = finding.Object
		}
		return format.Print(f.Out, machine.NewDocument("AuditReport", r, found...), f.OutTerm)
	}, nil
}

// readable says whether the answer is for a person.
func (f *auditFlags) readable() bool { return f.output == "table" || f.output == "wide" }

func (f *auditFlags) printTable(r *audit.Report) error {
	if err := findings.Table(f.Out, r, f.output == "wide", f.palette()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f.Out, findings.Sum(r))
	return err
}

// warn says on standard error what weakens the answer, and what to do next.
func (f *auditFlags) warn(seen *snapshot.Snapshot, r *audit.Report) {
	f.warnOfGaps(seen)
	if warning := oldServer(seen, r); warning != "" {
		fmt.Fprintln(f.Err, "warning: "+warning)
	}
	commands := findings.Commands{
		Mend: called + " repair --dry-run", Foresee: called + " collect --dry-run", Explain: called + " why TYPE/NAME -n NAMESPACE",
	}
	if hints := findings.Hints(r, commands); hints != "" && f.readable() {
		fmt.Fprintln(f.Err, hints)
	}
}
