package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// OwnFormats are the formats that a command writes beside the machine formats, its
// default first.
var OwnFormats = map[string][]string{
	"tree":    {"tree", "wide", "dot", "mermaid"},
	"audit":   {"table", "wide", "sarif", "prometheus"},
	"collect": {"table", "jsonl"},
	"why":     {"text", "wide"},
	"delete":  {"table", "jsonl"},
	"repair":  {"table", "jsonl"},
	"restore": {"table", "jsonl"},
}

// AddOutputFlags offers -o and what belongs to it.
func AddOutputFlags(cmd *cobra.Command, output *string, formats *structured.Flags) {
	words := strings.Join(slices.Concat(OwnFormats[cmd.Name()], structured.Formats()), ", ")
	cmd.Flags().StringVarP(output, "output", "o", "", "the format: "+words+" (default "+OwnFormats[cmd.Name()][0]+")")
	formats.Add(cmd.Flags())
}

// ChooseFormat is the format of a command: what -o says, else its own default, unless
// a template was given, which chooses for itself.
func ChooseFormat(command, output string, formats *structured.Flags) string {
	if output == "" && formats.Template() == "" {
		return OwnFormats[command][0]
	}
	return output
}

// Palette is the one place where colour is decided: the flag, then NO_COLOR,
// then whether standard output is a terminal.
func (s *ScanOptions) Palette() *color.Palette {
	return color.New(s.color, s.OutTerm, s.Getenv("NO_COLOR") != "")
}

// MaxNamedGaps is how many gaps a warning names; -o json names all.
const MaxNamedGaps = 6

// WarnOfGaps names on standard error what could not be read.
func (s *ScanOptions) WarnOfGaps(seen *snapshot.Snapshot) {
	s.WarnOfUnread("", seen.Gaps, seen.Monitored())
}

// WarnOfUnread is warnOfGaps of one of several clusters, or of the only one, which has
// no name, that serves so many types.
func (s *ScanOptions) WarnOfUnread(cluster string, gaps []snapshot.Gap, types int) {
	if warning := auditreport.Gaps(cluster, gaps, types, MaxNamedGaps); warning != "" {
		fmt.Fprintln(s.Err, warning)
	}
	for _, cause := range auditreport.Causes(gaps, MaxNamedGaps) {
		fmt.Fprintln(s.Err, "  "+cause)
	}
}

// EscapeJSON returns save, which writes JSON, with every character that acts on a terminal
// or hides something as an escape that decodes to the same value. All JSON that a
// command writes goes through here or through package machine, to a file or not: nobody
// knows on which terminal the file will be shown.
func EscapeJSON(save func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		out := escape.JSONWriter(w)
		if err := save(out); err != nil {
			return err
		}
		return out.Close()
	}
}

// writeLine writes a value as a line of JSON.
func (s *ScanOptions) writeLine(value any) error {
	return EscapeJSON(func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })(s.Out)
}

// OldServerWarning warns of a server whose own collector takes more along than the findings say;
// it is empty for others.
func OldServerWarning(server string, findings int) string {
	if !audit.SiblingsAtRisk(server) || findings == 0 {
		return ""
	}
	return "this server is " + Quote(server) + ": before 1.20 one bad reference can also delete the valid dependents of the same owner, and the garbage collector deletes a cluster-scoped object with a namespaced owner"
}

// NextCommands are the commands that go on from findings.
func NextCommands() auditreport.Commands {
	return auditreport.Commands{
		Repair: CommandName + " repair --dry-run", Preview: CommandName + " collect --dry-run", Explain: CommandName + " why TYPE/NAME -n NAMESPACE",
	}
}
