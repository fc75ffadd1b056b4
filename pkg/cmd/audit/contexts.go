package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxConcurrentScans is how many clusters are asked at once, and so how many looks are held in
// memory.
const maxConcurrentScans = 4

// contextScan is the way to one of the clusters that are to be audited.
type contextScan struct {
	name string // of its context; empty where it is not one of several
	scan *cli.ScanOptions
}

// singleClusterFlags are the flags that lead to one cluster, or say who asks there. Meant for several,
// they would show the credentials of one to the others.
var singleClusterFlags = []string{
	"from", "context", "cluster", "user", "server", "token", "client-certificate", "client-key", "certificate-authority", "tls-server-name",
}

// contextScans are the clusters that the command line names, by the names of their contexts,
// each once. Nothing is asked of any.
func (f *auditFlags) contextScans() ([]contextScan, error) {
	if !f.said("contexts") {
		return []contextScan{{scan: f.scan}}, nil
	}
	for _, flag := range singleClusterFlags {
		if f.said(flag) {
			return nil, cli.Usagef("--contexts cannot be combined with --%s", flag)
		}
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
	f.warnOfTwins(out)
	return out, nil
}

// warnOfTwins says which contexts lead to the same server.
func (f *auditFlags) warnOfTwins(views []contextScan) {
	at := map[string][]string{}
	var servers []string
	for _, v := range views {
		config, err := v.scan.Config.Config()
		if err != nil {
			continue // said when it is to be asked
		}
		if at[config.Host] == nil {
			servers = append(servers, config.Host)
		}
		at[config.Host] = append(at[config.Host], escape.Short(v.name, 200))
	}
	for _, server := range servers {
		if names := at[server]; len(names) > 1 {
			fmt.Fprintf(f.scan.Err, "warning: contexts %s use the same server: its objects are counted more than once\n", wording.List(names, cli.MaxNamedGaps))
		}
	}
}

// scanContexts audits all clusters, some at once. One that gives no answer is a gap, unless
// none does. The answers are in the order of the views.
func (f *auditFlags) scanContexts(ctx context.Context, views []contextScan, options audit.Options) ([]audit.Cluster, error) {
	out, failures := make([]audit.Cluster, len(views)), make([]error, len(views))
	var all sync.WaitGroup
	var mu sync.Mutex
	done, slots := 0, make(chan struct{}, maxConcurrentScans)
	for i, v := range views {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i], failures[i] = f.judge(ctx, v, options)
			mu.Lock()
			defer mu.Unlock()
			if done++; f.scan.ErrTerm && v.name != "" {
				fmt.Fprintf(f.scan.Err, "\r\x1b[Kasked %d of %d clusters", done, len(views))
			}
		})
	}
	all.Wait()
	if f.scan.ErrTerm && views[0].name != "" {
		fmt.Fprint(f.scan.Err, "\r\x1b[K")
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(views) == 1 {
		return out, failures[0]
	}
	for i, err := range failures {
		if err != nil {
			out[i] = unreachable(views[i].name, err)
		}
	}
	if !slices.ContainsFunc(out, func(c audit.Cluster) bool { return c.Answered }) {
		for _, c := range out {
			f.warnOf(c)
		}
		return nil, fmt.Errorf("none of %d clusters gave an answer", len(out))
	}
	return out, nil
}

// judge looks at one cluster, or a file, and audits it.
func (f *auditFlags) judge(ctx context.Context, v contextScan, options audit.Options) (audit.Cluster, error) {
	begun := v.scan.Now()
	seen, live, err := v.scan.Scan(ctx, v.scan.Everything(scan.Scope{Labels: options.Selector != nil}))
	if err != nil {
		return audit.Cluster{}, err
	}
	out := audit.Cluster{Name: v.name, Answered: true, Server: seen.Server, Types: seen.Monitored(), Taken: seen.Taken}
	if live != nil {
		out.Took = v.scan.Now().Sub(begun)
	}
	out.Report, err = audit.Run(graph.New(seen), options)
	return out, err
}

// unreachable is a cluster that could not be asked, or did not answer.
func unreachable(name string, err error) audit.Cluster {
	reason := snapshot.BadConfig
	var unreachable *discovery.UnreachableError
	var blind *scan.NothingReadableError
	switch {
	case errors.As(err, &unreachable):
		reason = unreachable.Reason()
	case errors.As(err, &blind):
		reason = blind.Gaps[0].Reason
	}
	return audit.IdleCollector(name, reason, err.Error())
}

// warnOf says what weakens the answer about one cluster.
func (f *auditFlags) warnOf(c audit.Cluster) {
	where := ""
	if c.Name != "" {
		where = "cluster " + escape.Short(c.Name, 200) + ": "
	}
	var gaps []snapshot.Gap
	for _, g := range c.Gaps {
		gaps = append(gaps, g.Gap)
	}
	if !c.Answered {
		fmt.Fprintf(f.scan.Err, "warning: %sno answer: %s\n", where, escape.Short(gaps[0].Message, 2000))
		return
	}
	f.scan.WarnOfUnread(c.Name, gaps, c.Types)
	if warning := cli.OldServerWarning(c.Server, len(c.Findings)); warning != "" {
		fmt.Fprintf(f.scan.Err, "warning: %s%s\n", where, warning)
	}
}
