// Package report is the command kubectl gc report.
package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/html"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

type reportFlags struct {
	scan       *cli.ScanOptions
	selector   string
	stuckAfter time.Duration
	plan       bool
	file       cli.OutputFile
}

// New returns the command report.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &reportFlags{scan: scan}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write an HTML report to explore in a browser",
		Long: `Write an HTML report to explore in a browser: every finding of the audit, every
object with its owners and dependents, what a pass of the garbage collector
would do with each, and what could not be read. --plan adds the steps of that
pass.

It is one file, which a browser opens from disk. It needs no server and no
network, and sends nothing. It has the names, owner references and finalizers
of everything that was read, and no other content. Share it only with people
who may see those.

Exit codes: 0 the page is written, whatever it says; 2 error: wrong usage, or
the cluster cannot be read; 3 incomplete scan with --strict. To fail on
findings: ` + cli.CommandName + ` audit.`,
		Example: cli.Examples(`
# The whole cluster
kubectl gc report -o report.html

# One namespace, with what collect would do there
kubectl gc report -n shop --plan -o shop.html

# From a snapshot, without a cluster
kubectl gc report --from cluster.json.gz -o report.html`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	f.scan.AddReadingFlags(cmd)
	flags.StringVarP(&f.selector, "selector", "l", "", "Check only objects with these labels.")
	flags.DurationVar(&f.stuckAfter, "stuck-after", terminating.DefaultStuckAfter, "Report objects that have been Terminating for longer than this.")
	flags.BoolVar(&f.plan, "plan", false, "Also show the steps of collect --dry-run.")
	f.file.AddFlag(cmd, "html")
	return cmd
}

func (f *reportFlags) run(ctx context.Context) error {
	if err := cmp.Or(f.file.Check(f.scan, "report", "report.html"), f.scan.Validate()); err != nil {
		return err
	}
	selector, err := cli.ParseSelector(f.selector)
	if err != nil {
		return err
	}
	options := audit.Filter{StuckAfter: f.stuckAfter, Namespace: f.scan.Config.Namespace(), Selector: selector}
	seen, live, err := f.scan.Scan(ctx, f.scan.Everything(scan.Scope{Labels: options.Selector != nil, Running: true}))
	if err != nil {
		return err
	}
	judge := collector.NewJudge(graph.New(seen))
	found, err := audit.Run(judge, options)
	if err != nil {
		return err
	}
	page := f.page(judge, found)
	if live != nil {
		page.Source.Context, page.Source.Address, _ = f.scan.ContextAndServer() // the scan has read the kubeconfig
	}
	if err := f.write(page); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	f.scan.WarnOfGaps(seen)
	if !f.file.Standard() {
		fmt.Fprintf(f.scan.Err, "wrote %s: open it in a browser\n", cli.Quote(f.file.Name))
	}
	return f.scan.StrictExit(seen)
}

// page returns the content of the page. It predicts each object in a pass over the whole
// cluster, but shows only the steps that collect has with the same flags.
func (f *reportFlags) page(j *collector.Judge, found *audit.Report) html.Page {
	p := html.Page{
		Judge: j, Report: found, Pass: plan.New(j, plan.CollectPurpose(nil)), Version: cli.Release(), Suggest: f.scan.Suggest,
		Source: html.Origin{Namespace: f.scan.Config.Namespace(), Selector: f.selector, Flags: f.scan.ReadingFlags(), File: f.scan.FileName()},
		Hints:  strings.Join(auditreport.Hints(found, f.scan.NextCommands(f.selector)), "    "),
	}
	if f.plan {
		p.Plan = p.Pass
		if within := f.scan.InScope(j.Graph()); within != nil {
			o := plan.CollectPurpose(nil)
			o.Bounds.Within = within
			p.Plan = plan.New(j, o)
		}
	}
	return p
}

func (f *reportFlags) write(p html.Page) error {
	if f.file.Standard() {
		return html.Write(f.scan.Out, p)
	}
	return cli.ReplaceFile(f.file.Name, cli.PrivateFile, func(w io.Writer) error { return html.Write(w, p) })
}
