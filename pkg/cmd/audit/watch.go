package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// unwatchedFlags are the flags that do not work with --watch.
var unwatchedFlags = []string{"contexts", "settle", "baseline", "fail-on"}

// runWatch audits every new state of the cluster.
func (f *auditFlags) runWatch(ctx context.Context, options audit.Options) error {
	scope := f.scan.Everything(scan.Scope{Labels: options.Selector != nil})
	return f.watch.Run(ctx, "audit", scope, func(taken *snapshot.Snapshot) (cli.Answer, error) {
		c, _, err := f.audit(taken, options)
		if err != nil {
			return cli.Answer{}, err
		}
		compared := *c.Report
		compared.Summary = audit.Summary{} // objects without a finding come and go all the time
		return cli.Answer{
			Kind: "AuditReport", Document: c.Report, Compared: &compared, Aging: slices.ContainsFunc(taken.Objects, (*object.Object).Terminating),
			Draw: func(out *cli.ScanOptions) error {
				there := *f
				there.scan = out
				return there.draw(c)
			},
		}, nil
	})
}

// draw writes the counts before the findings, as the end may not fit on the screen.
func (f *auditFlags) draw(c audit.Cluster) error {
	out := f.scan.Text()
	fmt.Fprintln(out, auditreport.CountsLine(c.Report))
	if line := auditreport.Without(c.Without); line != "" {
		fmt.Fprintln(out, line)
	}
	if len(c.Findings) > 0 {
		fmt.Fprintln(out)
	}
	if err := f.printFindings(c.Report); err != nil {
		return err
	}
	f.scan.WarnOfCluster(c)
	return nil
}
