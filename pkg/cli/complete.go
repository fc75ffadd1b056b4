package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// CompleteFlag registers how the value of a flag of this command is completed.
func CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag
	}
}

// CompleteFlags registers completions for the flags that several commands have. A
// command registers those of its own flags before. Where the value is free, a shell
// offers nothing, not even files.
func (s *ScanOptions) CompleteFlags(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if _, registered := cmd.GetFlagCompletionFunc(f.Name); registered {
				return
			}
			if complete := s.completing(cmd.Name(), f); complete != nil {
				CompleteFlag(cmd, f.Name, complete)
			}
		})
	}
}

// completing is how the value of a flag is completed; nil where nobody can know it.
func (s *ScanOptions) completing(command string, f *pflag.Flag) cobra.CompletionFunc {
	if f.Value.Type() == "bool" {
		return CompleteOne("true", "false")
	}
	switch f.Name {
	case "namespace":
		return s.completeAsking(s.namespaces)
	case "context":
		return completeKnown(func() ([]string, error) { all, _, err := s.Config.Contexts(); return all, err })
	case "cluster":
		return completeKnown(s.Config.Clusters)
	case "user":
		return completeKnown(s.Config.Users)
	case "output":
		return CompleteOne(slices.Concat(OwnFormats[command], structured.Formats())...)
	case "from", "filename", "plan", "plan-out":
		return CompleteFiles("json", "yaml", "yml", "gz")
	case "color":
		return CompleteOne(string(color.Auto)+"\ton a terminal, unless NO_COLOR is set", string(color.Always), string(color.Never))
	case "dry-run":
		return CompleteOne(DryRunValues.Described()...)
	case "v":
		return CompleteOne("6\tname and count requests", "7\tshow their headers, too")
	case "template", "output-file", "kubeconfig", "certificate-authority", "client-certificate", "client-key":
		return CompleteFiles()
	case "backup-dir", "kustomize", "cache-dir", "install-shim":
		return completeFolders
	}
	return nil
}

// RuleSummaries returns the ids of all rules, each with its summary behind a tab.
func RuleSummaries() []string {
	out := make([]string, len(audit.Rules))
	for i, r := range audit.Rules {
		out[i] = r.ID + "\t" + r.Summary
	}
	return out
}
