package prometheus

import (
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// metric is all series of one name. All are gauges.
type metric struct {
	name, help string
	series     func(audit.Cluster) []series
}

// series is a value with its labels, in the order of printing.
type series struct {
	value  string
	labels []label
}

type label struct{ name, value string }

// metrics returns all metrics of a cluster, in the order of their output.
func metrics(rules []string) []metric {
	return []metric{
		{
			"audit_findings", "Findings, by rule and severity. Of every rule that was judged by, also where it is 0.",
			func(c audit.Cluster) []series { return findings(c, rules) },
		},
		{
			"audit_objects", "Objects that were judged.",
			func(c audit.Cluster) []series { return single(c.Answered, strconv.Itoa(c.Summary.Objects)) },
		},
		{
			"audit_references", "Owner references that were judged.",
			func(c audit.Cluster) []series { return single(c.Answered, strconv.Itoa(c.Summary.References)) },
		},
		{"audit_gaps", "What could not be read, by reason: types, groups, namespaces of a type, single owners.", gaps},
		{
			"audit_complete", "1 if everything that was asked for could be read, else 0.",
			func(c audit.Cluster) []series { return single(true, oneIf(c.Complete)) },
		},
		{
			"audit_answered", "1 if the cluster gave an answer, else 0: then nothing is known of it.",
			func(c audit.Cluster) []series { return single(true, oneIf(c.Answered)) },
		},
		{
			"audit_timestamp_seconds", "When the scan of the cluster ended, in seconds since 1970.",
			func(c audit.Cluster) []series {
				return single(!c.Taken.IsZero(), strconv.FormatInt(c.Taken.Unix(), 10))
			},
		},
		{
			"audit_duration_seconds", "How long the scan of the cluster took.",
			func(c audit.Cluster) []series {
				return single(c.Took != 0, strconv.FormatFloat(c.Took.Round(time.Millisecond).Seconds(), 'f', -1, 64))
			},
		},
		{
			"audit_server_info", "Which version of Kubernetes the server said that it is; always 1.",
			func(c audit.Cluster) []series { return single(c.Server != "", "1", label{"version", c.Server}) },
		},
	}
}

// single returns one series, or none if its value is not known.
func single(known bool, value string, labels ...label) []series {
	if !known {
		return nil
	}
	return []series{{value, labels}}
}

func oneIf(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

func findings(c audit.Cluster, rules []string) []series {
	if !c.Answered {
		return nil
	}
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
			out = append(out, series{strconv.Itoa(n[key{rule, severity}]), []label{{"rule", rule}, {"severity", string(severity)}}})
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
		out = append(out, series{strconv.Itoa(n[reason]), []label{{"reason", string(reason)}}})
		delete(n, reason)
	}
	others := 0 // in a file that another version wrote
	for _, more := range n {
		others += more
	}
	return append(out, series{strconv.Itoa(others), []label{{"reason", "other"}}})
}
