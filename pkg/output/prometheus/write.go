package prometheus

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// metric is all series of one name. All are gauges.
type metric struct {
	name, help string
	answered   func(audit.Cluster) []series // series of a cluster that answered
	unanswered func(audit.Cluster) []series // series of a cluster that did not answer; may be nil
}

// series is a value with its labels, in the order of printing.
type series struct {
	labels []label
	value  string
}

type label struct{ name, value string }

// Write writes the metrics of each cluster. rules are the IDs of the rules that were
// checked, version is that of this program. A cluster without a name has no label cluster.
func Write(w io.Writer, clusters []audit.Cluster, rules []string, version string) error {
	var out bytes.Buffer
	for _, m := range metrics(rules) {
		var lines bytes.Buffer
		for _, c := range clusters {
			seriesOf := m.answered
			if !c.Answered {
				seriesOf = m.unanswered
			}
			if seriesOf == nil {
				continue
			}
			for _, s := range seriesOf(c) {
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
	head(&out, buildInfo, "Which version wrote this; always 1.")
	series{[]label{{"version", version}}, "1"}.write(&out, buildInfo)
	_, err := w.Write(out.Bytes())
	return err
}

const buildInfo = prefix + "build_info"

func head(out *bytes.Buffer, name, help string) {
	fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

func (s series) write(out *bytes.Buffer, name string) {
	out.WriteString(name)
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
