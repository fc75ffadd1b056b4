package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxConcurrentScans is how many clusters are scanned at once, and so how many snapshots are
// in memory.
const maxConcurrentScans = 4

// Contexts is --contexts: a command asks several clusters at once.
type Contexts struct {
	scan  *ScanOptions
	given func(flag string) bool
	names []string
}

// ContextScan is one of the clusters to ask.
type ContextScan struct {
	Name string // of its context; empty without --contexts
	Scan *ScanOptions
}

// NewContexts returns the flag --contexts of a command with these options.
func NewContexts(scan *ScanOptions) *Contexts { return &Contexts{scan: scan} }

// AddFlag adds the flag.
func (c *Contexts) AddFlag(cmd *cobra.Command) {
	c.given = cmd.Flags().Changed
	cmd.Flags().StringSliceVar(&c.names, "contexts", nil, "Scan the clusters of these contexts; all means every context of the kubeconfig.")
	CompleteFlag(cmd, "contexts", c.scan.CompleteContexts)
}

// Given reports whether the command line has the flag.
func (c *Contexts) Given() bool { return c.given("contexts") }

// Same returns the flag with which another command asks the same clusters.
func (c *Contexts) Same() []string {
	if !c.Given() {
		return nil
	}
	return []string{"--contexts", strings.Join(c.names, ",")}
}

// One returns the flags with which a command asks one of the clusters of --contexts.
func (c *Contexts) One() []string {
	if !c.Given() {
		return nil
	}
	return []string{"--context", "CLUSTER"}
}

// singleClusterFlags select one cluster or its user. Applied to several clusters, they would
// send the credentials of one to the others.
var singleClusterFlags = []string{
	"from", "demo", "context", "cluster", "user", "server", "token", "client-certificate", "client-key", "certificate-authority", "tls-server-name",
}

// Scans returns the clusters to ask, sorted by context and without duplicates.
func (c *Contexts) Scans() ([]ContextScan, error) {
	if !c.Given() {
		return []ContextScan{{Scan: c.scan}}, nil
	}
	if err := RefuseFlags(c.given, "--contexts cannot be combined with --%s", singleClusterFlags...); err != nil {
		return nil, err
	}
	known, _, err := c.scan.Config.Contexts()
	if err != nil {
		return nil, c.scan.kubeconfigError(err)
	}
	slices.Sort(known)
	names := c.names
	if slices.Equal(names, []string{AllContexts}) {
		names = known
	}
	if len(names) == 0 || len(known) == 0 {
		return nil, WithHint(Usagef("--contexts: the kubeconfig has no context"), "choose a kubeconfig with --kubeconfig or KUBECONFIG")
	}
	var out []ContextScan
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if !slices.Contains(known, name) {
			return nil, WithHint(Usagef("--contexts: the kubeconfig has no context %s%s", Quote(name), DidYouMean(Nearest(name, known))), "its contexts: "+strings.Join(known, ", "))
		}
		out = append(out, ContextScan{name, c.scan.ForContext(name)})
	}
	c.warnOfSameServer(out)
	return out, nil
}

// warnOfSameServer names contexts that have the same server.
func (c *Contexts) warnOfSameServer(scans []ContextScan) {
	contexts := map[string][]string{}
	var servers []string
	for _, v := range scans {
		config, err := v.Scan.Config.Config()
		if err != nil {
			continue // its scan reports the error
		}
		if contexts[config.Host] == nil {
			servers = append(servers, config.Host)
		}
		contexts[config.Host] = append(contexts[config.Host], escape.Short(v.Name, 200))
	}
	for _, server := range servers {
		if names := contexts[server]; len(names) > 1 {
			fmt.Fprintf(c.scan.Err, "warning: contexts %s use the same server: its objects are counted more than once\n", wording.List(names, MaxNamedGaps))
		}
	}
}

// Audit audits all clusters, some of them concurrently, and returns the results in the same
// order. A cluster that cannot be scanned becomes a gap, unless there is no other.
func (c *Contexts) Audit(ctx context.Context, scans []ContextScan, ask func(context.Context, ContextScan) (audit.Cluster, error)) ([]audit.Cluster, error) {
	if len(scans) == 1 {
		one, err := ask(ctx, scans[0])
		return []audit.Cluster{one}, cmp.Or(ctx.Err(), err)
	}
	var mu sync.Mutex
	done := 0
	out, err := client.InParallel(ctx, maxConcurrentScans, scans, func(v ContextScan) audit.Cluster {
		one, err := ask(ctx, v)
		if err != nil {
			one = unreachable(v.Name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		c.scan.Progress("asked %d of %d clusters", done, len(scans))
		return one
	})
	c.scan.Progress("")
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out, func(c audit.Cluster) bool { return c.Answered }) {
		for _, one := range out {
			c.scan.WarnOfCluster(one)
		}
		return nil, fmt.Errorf("none of %d clusters gave an answer", len(out))
	}
	return out, nil
}

// unreachable returns the result for a cluster that could not be scanned.
func unreachable(name string, err error) audit.Cluster {
	reason := snapshot.BadConfig
	if unreachable, ok := errors.AsType[*discovery.UnreachableError](err); ok {
		reason = unreachable.Reason()
	} else if nothing, ok := errors.AsType[*scan.NothingReadableError](err); ok {
		reason = nothing.Gaps[0].Reason
	} else if IsMissingNamespace(err) {
		reason = snapshot.NoNamespace
	}
	return audit.UnansweredCluster(name, reason, err.Error())
}

// WarnOfCluster prints what is missing from the report of one cluster.
func (s *ScanOptions) WarnOfCluster(c audit.Cluster) {
	where := ""
	if c.Name != "" {
		where = "cluster " + escape.Short(c.Name, 200) + ": "
	}
	if !c.Answered {
		fmt.Fprintf(s.Err, "warning: %sno answer: %s\n", where, escape.Short(c.Gaps[0].Message, 2000))
		return
	}
	s.WarnOfClusterGaps(c.Name, c.Gaps, c.Types)
	s.WarnOfVersion(where, c.Server)
}

// TypesOf returns how many types the only cluster has; 0, which is not shown, for several.
func TypesOf(clusters []audit.Cluster) int {
	if len(clusters) == 1 {
		return clusters[0].Types
	}
	return 0
}
