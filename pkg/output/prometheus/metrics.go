package prometheus

import (
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const prefix = "kubectl_gc_"

// metrics returns all metrics of a cluster, in the order of their output.
func metrics(rules []string) []metric {
	return []metric{
		{
			prefix + "audit_findings", "Findings, by rule and severity. Of every rule that was judged by, also where it is 0.",
			func(c audit.Cluster) []series { return findings(c, rules) }, nil,
		},
		{
			prefix + "audit_objects", "Objects that were judged.",
			func(c audit.Cluster) []series { return number(c.Summary.Objects) }, nil,
		},
		{
			prefix + "audit_references", "Owner references that were judged.",
			func(c audit.Cluster) []series { return number(c.Summary.References) }, nil,
		},
		{prefix + "audit_gaps", "What could not be read, by reason: types, groups, namespaces of a type, single owners.", gaps, gaps},
		{prefix + "audit_complete", "1 if everything that was asked for could be read, else 0.", complete, complete},
		{prefix + "audit_answered", "1 if the cluster gave an answer, else 0: then nothing is known of it.", always("1"), always("0")},
		{prefix + "audit_timestamp_seconds", "When the scan of the cluster ended, in seconds since 1970.", taken, nil},
		{prefix + "audit_duration_seconds", "How long the scan of the cluster took.", took, nil},
		{
			prefix + "audit_server_info", "Which version of Kubernetes the server said that it is; always 1.",
			server, nil,
		},
	}
}

func findings(c audit.Cluster, rules []string) []series {
	type key struct {
		rule     string
		severity audit.Severity
	}
	n := map[key]int{}
	for i := range c.Findings {
		n[key{c.Findings[i].Rule, c.Findings[i].Severity}]++
	}
	var out []series
	for _, rule := range rules {
		for _, severity := range []audit.Severity{audit.Error, audit.Warning, audit.Info} {
			out = append(out, series{[]label{{"rule", rule}, {"severity", string(severity)}}, strconv.Itoa(n[key{rule, severity}])})
		}
	}
	return out
}

func gaps(c audit.Cluster) []series {
	n := map[snapshot.ErrorClass]int{}
	for _, g := range c.Gaps {
		n[g.Reason]++
	}
	var out []series
	for _, reason := range snapshot.GapErrorClasses {
		out = append(out, series{[]label{{"reason", string(reason)}}, strconv.Itoa(n[reason])})
		delete(n, reason)
	}
	others := 0 // in a file that another version wrote
	for _, more := range n {
		others += more
	}
	return append(out, series{[]label{{"reason", "other"}}, strconv.Itoa(others)})
}

func complete(c audit.Cluster) []series {
	if c.Complete {
		return number(1)
	}
	return number(0)
}

func taken(c audit.Cluster) []series {
	if c.Taken.IsZero() {
		return nil
	}
	return []series{{value: strconv.FormatInt(c.Taken.Unix(), 10)}}
}

func took(c audit.Cluster) []series {
	if c.Took == 0 {
		return nil
	}
	return []series{{value: strconv.FormatFloat(c.Took.Round(time.Millisecond).Seconds(), 'f', -1, 64)}}
}

func server(c audit.Cluster) []series {
	if c.Server == "" {
		return nil
	}
	return []series{{[]label{{"version", c.Server}}, "1"}}
}

func number(n int) []series { return []series{{value: strconv.Itoa(n)}} }

func always(value string) func(audit.Cluster) []series {
	return func(audit.Cluster) []series { return []series{{value: value}} }
}
