package audit

import (
	"cmp"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
)

// findingFlags select or change findings, and --terminating prints none.
var findingFlags = []string{"dangling", "cross-namespace", "cyclic", "rule", "group-by", "fail-on", "stuck-after", "settle", "baseline", "without"}

// checkTerminating returns an error if --terminating cannot work.
func (f *auditFlags) checkTerminating() error {
	if !f.terminating {
		return nil
	}
	return cmp.Or(
		cli.RefuseFlags(f.changed, "--terminating cannot be combined with --%s: it lists deletions, not findings", findingFlags...),
		cli.UsageIf(f.output.Format == metricsFormat, "--terminating cannot be combined with -o %s: its metrics count deletions without that flag", metricsFormat),
		cli.UsageIf(f.output.Format == "sarif", "--terminating cannot be combined with -o sarif: it lists deletions, not findings"),
	)
}

// showTerminating writes what is being deleted, and warnings.
func (f *auditFlags) showTerminating(clusters []audit.Cluster) error {
	found := audit.JoinTerminating(clusters)
	if err := f.writeTerminating(clusters, found); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for _, c := range clusters {
		f.warnOf(c)
	}
	if f.forPerson() && len(found.Objects) > 0 {
		fmt.Fprintln(f.scan.Err, "Explain one object: "+f.scan.NextCommands("", f.oneContext()...).Explain)
	}
	if f.scan.Strict && !found.Complete {
		return cli.ExitError(cli.ExitIncomplete)
	}
	return nil
}

func (f *auditFlags) writeTerminating(clusters []audit.Cluster, found *audit.TerminatingReport) error {
	if !f.forPerson() {
		objects := make([]object.Identity, len(found.Objects))
		for i, t := range found.Objects {
			objects[i] = t.Object
		}
		return f.output.Write("TerminatingReport", found, objects...)
	}
	if err := auditreport.TerminatingTable(f.scan.Out, found, f.output.Format == "wide", f.changed("contexts")); err != nil {
		return err
	}
	if err := auditreport.TerminatingTraces(f.scan.Out, found); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f.scan.Out, auditreport.TerminatingSummary(found, audit.Join(clusters), typesOf(clusters)))
	return err
}
