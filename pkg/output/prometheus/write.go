// Package prometheus writes an audit as metrics, in Prometheus's text exposition format,
// version 0.0.4. Names and labels are a public contract. Every rule has its series, also
// if it found nothing, as an alert on a missing series never fires. A cluster without an
// answer has only the series that say so. No series is about a single object or namespace,
// as there would be too many.
package prometheus

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
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

const prefix = "kubectl_gc_"

// Write writes the metrics of each cluster. rules are the IDs of the rules that were
// checked, version is that of this program. A cluster without a name has no label cluster.
func Write(w io.Writer, clusters []audit.Cluster, rules []string, version string) error {
	var out bytes.Buffer
	for _, m := range metrics(rules) {
		var lines bytes.Buffer
		for _, c := range clusters {
			for _, s := range m.series(c) {
				if c.Name != "" {
					s.labels = append([]label{{"cluster", c.Name}}, s.labels...)
				}
				s.write(&lines, m.name)
			}
		}
		if lines.Len() > 0 {
			head(&out, m.name, m.help)
			out.Write(lines.Bytes())
		}
	}
	const buildInfo = "build_info"
	head(&out, buildInfo, "Version of the tool that wrote this; always 1.")
	series{"1", []label{{"version", version}}}.write(&out, buildInfo)
	_, err := w.Write(out.Bytes())
	return err
}

func head(out *bytes.Buffer, name, help string) {
	fmt.Fprintf(out, "# HELP %[1]s%[2]s %[3]s\n# TYPE %[1]s%[2]s gauge\n", prefix, name, help)
}

func (s series) write(out *bytes.Buffer, name string) {
	out.WriteString(prefix + name)
	for i, l := range s.labels {
		out.WriteString([]string{"{", ","}[min(i, 1)])
		fmt.Fprintf(out, `%s="%s"`, l.name, value(l.value))
	}
	if len(s.labels) > 0 {
		out.WriteByte('}')
	}
	out.WriteString(" " + s.value + "\n")
}

// value returns text as the format has it between quotes, with hidden characters escaped.
func value(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(escape.Terminal(text))
}

// metrics returns all metrics of a cluster, in the order of their output.
func metrics(rules []string) []metric {
	return []metric{
		{
			"audit_findings", "Findings by rule and severity. Every rule of the audit has a series, even at 0.",
			func(c audit.Cluster) []series { return findings(c, rules) },
		},
		{
			"audit_in_progress", "Objects that the garbage collector processed while the audit waited (--settle), so they have no finding. Only with --settle.",
			func(c audit.Cluster) []series {
				if c.Settled == nil {
					return nil
				}
				return single(true, strconv.Itoa(c.Settled.InProgress))
			},
		},
		{
			"audit_objects", "Objects that the audit checked.",
			func(c audit.Cluster) []series { return single(c.Answered, strconv.Itoa(c.Summary.Objects)) },
		},
		{
			"audit_references", "Owner references that the audit checked.",
			func(c audit.Cluster) []series { return single(c.Answered, strconv.Itoa(c.Summary.References)) },
		},
		{"audit_gaps", "Types, groups, namespaces of a type and single owners that the audit could not read, by reason.", gaps},
		{
			"terminating_objects", "Objects that are being deleted, by kind and by what holds them: the name of a finalizer, or a fixed word.",
			deletionSeries(objects),
		},
		{
			"terminating_oldest_seconds", "How long ago the deletion of the oldest of these objects was requested, when the cluster was scanned.",
			deletionSeries(oldest),
		},
		{
			"audit_complete", "1 if the audit could read everything that it asked for, else 0.",
			func(c audit.Cluster) []series { return single(true, oneIf(c.Complete)) },
		},
		{
			"audit_answered", "1 if the cluster answered, else 0.",
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
			"audit_server_info", "Version of Kubernetes that the server reports; always 1.",
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
