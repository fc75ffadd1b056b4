package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MaxNamedGaps is how many gaps a warning names; -o json names all.
const MaxNamedGaps = 6

// WarnOfGaps names on standard error what could not be read, and whether the server is of a
// version that this program does not know.
func (s *ScanOptions) WarnOfGaps(seen *snapshot.Snapshot) {
	s.WarnOfClusterGaps("", seen.Gaps, seen.MonitoredTypes())
	s.WarnOfVersion("", seen.Server)
}

// WarnOfVersion says on standard error if the server is of a version that this program does
// not know. where precedes the sentence.
func (s *ScanOptions) WarnOfVersion(where, server string) {
	if assumed := collector.BehaviorOf(server).Assumption(); assumed != nil {
		fmt.Fprintln(s.Err, "note: "+where+escape.Short(assumed.Message(), 500))
	}
}

// WarnOfClusterGaps is WarnOfGaps for one of several clusters, which serves so many types.
func (s *ScanOptions) WarnOfClusterGaps(cluster string, gaps []snapshot.Gap, types int) {
	if warning := auditreport.Gaps(cluster, gaps, types, MaxNamedGaps); warning != "" {
		fmt.Fprintln(s.Err, warning)
	}
	for _, cause := range auditreport.Causes(gaps, MaxNamedGaps) {
		fmt.Fprintln(s.Err, "  "+cause)
	}
}

// NameList returns the names of up to limit of the items, and how many more there are.
func NameList[T fmt.Stringer](items []T, limit int) string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = escape.Short(item.String(), 200)
	}
	return wording.List(names, limit)
}

// NextCommands returns the commands to run after an audit of objects with these labels, empty
// for all. more are further flags.
func (s *ScanOptions) NextCommands(selector string, more ...string) auditreport.Commands {
	suggest := func(command ...string) string { return s.Suggest(append(command, more...)...) }
	repair := []string{"repair", "--dry-run"}
	if selector != "" {
		repair = append(repair, "-l", selector)
	}
	return auditreport.Commands{
		Repair: suggest(repair...), Preview: suggest("collect", "--dry-run"), Explain: s.ExplainCommand,
	}
}

// ExplainCommand returns the command that explains an object, in this context unless that is empty.
func (s *ScanOptions) ExplainCommand(o object.Identity, cluster string) string {
	kind := o.GroupVersionKind().GroupKind()
	if !strings.Contains(kind.Group, ".") {
		kind.Group = "" // of Kubernetes itself, which needs no group
	}
	words := []string{"why", strings.ToLower(kind.String()) + "/" + o.Name, "-n", o.Namespace}
	if cluster != "" {
		words = append(words, "--context", cluster)
	}
	return s.Suggest(words...)
}
