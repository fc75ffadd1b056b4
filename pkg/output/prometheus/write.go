package prometheus

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

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
	head(&out, buildInfo, "Which version wrote this; always 1.")
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
