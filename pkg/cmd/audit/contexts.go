package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxConcurrentScans is how many clusters are scanned at once, and so how many snapshots are
// in memory.
const maxConcurrentScans = 4

// contextScan is one of the clusters to audit.
type contextScan struct {
	name string // of its context; empty without --contexts
	scan *cli.ScanOptions
}

// singleClusterFlags select one cluster or its user. Applied to several clusters, they would
// send the credentials of one to the others.
var singleClusterFlags = []string{
	"from", "demo", "context", "cluster", "user", "server", "token", "client-certificate", "client-key", "certificate-authority", "tls-server-name",
}

// contextScans returns the clusters to audit, sorted by context and without duplicates.
func (f *auditFlags) contextScans() ([]contextScan, error) {
	if !f.changed("contexts") {
		return []contextScan{{scan: f.scan}}, nil
	}
	if err := cli.RefuseFlags(f.changed, "--contexts cannot be combined with --%s", singleClusterFlags...); err != nil {
		return nil, err
	}
	known, _, err := f.scan.Config.Contexts()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	slices.Sort(known)
	names := f.contexts
	if slices.Equal(names, []string{cli.AllContexts}) {
		names = known
	}
	if len(names) == 0 || len(known) == 0 {
		return nil, cli.WithHint(cli.Usagef("--contexts: the kubeconfig has no context"), "choose a kubeconfig with --kubeconfig or KUBECONFIG")
	}
	var out []contextScan
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if !slices.Contains(known, name) {
			return nil, cli.WithHint(cli.Usagef("--contexts: the kubeconfig has no context %s", cli.Quote(name)), "its contexts: "+strings.Join(known, ", "))
		}
		out = append(out, contextScan{name, f.scan.ForContext(name)})
	}
	f.warnOfSameServer(out)
	return out, nil
}

// warnOfSameServer names contexts that have the same server.
func (f *auditFlags) warnOfSameServer(scans []contextScan) {
	contexts := map[string][]string{}
	var servers []string
	for _, v := range scans {
		config, err := v.scan.Config.Config()
		if err != nil {
			continue // its scan reports the error
		}
		if contexts[config.Host] == nil {
			servers = append(servers, config.Host)
		}
		contexts[config.Host] = append(contexts[config.Host], escape.Short(v.name, 200))
	}
	for _, server := range servers {
		if names := contexts[server]; len(names) > 1 {
			fmt.Fprintf(f.scan.Err, "warning: contexts %s use the same server: its objects are counted more than once\n", wording.List(names, cli.MaxNamedGaps))
		}
	}
}

// auditContexts audits all clusters, some of them concurrently, and returns the results in
// the same order. A cluster that cannot be scanned becomes a gap, unless there is no other.
func (f *auditFlags) auditContexts(ctx context.Context, scans []contextScan, options audit.Options) ([]audit.Cluster, error) {
	if len(scans) == 1 {
		one, err := f.auditContext(ctx, scans[0], options)
		return []audit.Cluster{one}, cmp.Or(ctx.Err(), err)
	}
	var mu sync.Mutex
	done := 0
	out, err := client.InParallel(ctx, maxConcurrentScans, scans, func(v contextScan) audit.Cluster {
		one, err := f.auditContext(ctx, v, options)
		if err != nil {
			one = unreachable(v.name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		f.scan.Progress("asked %d of %d clusters", done, len(scans))
		return one
	})
	f.scan.Progress("")
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out, func(c audit.Cluster) bool { return c.Answered }) {
		for _, c := range out {
			f.warnOf(c)
		}
		return nil, fmt.Errorf("none of %d clusters gave an answer", len(out))
	}
	return out, nil
}

// auditContext scans and audits one cluster, or a file.
func (f *auditFlags) auditContext(ctx context.Context, v contextScan, options audit.Options) (audit.Cluster, error) {
	begun := v.scan.Now()
	seen, live, err := v.scan.Scan(ctx, v.scan.Everything(scan.Scope{Labels: options.Selector != nil}))
	if err != nil {
		return audit.Cluster{}, err
	}
	took := time.Duration(0)
	if live != nil {
		took = v.scan.Now().Sub(begun)
	}
	if f.terminating && live != nil {
		if seen, err = read.MarkUsers(ctx, live, seen, (*object.Object).Terminating); err != nil {
			return audit.Cluster{}, err
		}
	}
	out, judge, err := f.audit(seen, options)
	if err != nil {
		return audit.Cluster{}, err
	}
	out.Name, out.Took = v.name, took
	if f.terminating {
		webhooks, _ := health.Webhooks(ctx, live, seen) // nothing is said of what may not be read
		v.scan.WarnOfWebhooks(audit.Refusals(judge.Graph(), webhooks, (*object.Object).Terminating))
	}
	if f.settle > 0 {
		err = v.scan.Settle(ctx, live, judge.Graph(), out.Report, f.settle)
	}
	return out, err
}

// audit audits one scan.
func (f *auditFlags) audit(seen *snapshot.Snapshot, options audit.Options) (out audit.Cluster, judge *collector.Judge, err error) {
	out = audit.Cluster{Answered: true, Server: seen.Server, Types: seen.MonitoredTypes(), Taken: seen.Taken}
	if seen, err = f.withoutVersions(seen); err != nil {
		return out, nil, err
	}
	judge = collector.NewJudge(graph.New(seen))
	if f.terminating || f.output.Format == metricsFormat {
		out.Terminating = audit.Terminating(judge, options)
	}
	if f.terminating {
		out.Report = audit.NewReport(seen)
		return out, judge, nil
	}
	if out.Report, err = audit.Run(judge, options); err != nil {
		return out, nil, err
	}
	out.Report.Without = f.without
	return out, judge, nil
}

// unreachable returns the result for a cluster that could not be scanned.
func unreachable(name string, err error) audit.Cluster {
	reason := snapshot.BadConfig
	if unreachable, ok := errors.AsType[*discovery.UnreachableError](err); ok {
		reason = unreachable.Reason()
	} else if nothing, ok := errors.AsType[*scan.NothingReadableError](err); ok {
		reason = nothing.Gaps[0].Reason
	} else if cli.IsMissingNamespace(err) {
		reason = snapshot.NoNamespace
	}
	return audit.UnansweredCluster(name, reason, err.Error())
}

// warnOf prints what is missing from the report of one cluster.
func (f *auditFlags) warnOf(c audit.Cluster) {
	where := ""
	if c.Name != "" {
		where = "cluster " + escape.Short(c.Name, 200) + ": "
	}
	if !c.Answered {
		fmt.Fprintf(f.scan.Err, "warning: %sno answer: %s\n", where, escape.Short(c.Gaps[0].Message, 2000))
		return
	}
	f.scan.WarnOfClusterGaps(c.Name, c.Gaps, c.Types)
	f.scan.WarnOfVersion(where, c.Server)
}
