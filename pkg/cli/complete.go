package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
)

// completeFlags has the values of a command's own flags completed. Where nobody can know
// one, a shell offers nothing, files neither.
func (s *source) completeFlags(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if complete := s.completing(cmd.Name(), f); complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it fails where another has the name
			}
		})
	}
}

// completing is how the value of a flag is completed; nil where nobody can know it.
func (s *source) completing(command string, f *pflag.Flag) cobra.CompletionFunc {
	if command == "snapshot" && f.Name == "output" {
		return completeFiles("json", "gz")
	}
	if f.Value.Type() == "bool" {
		return completeOne("true", "false")
	}
	if command == "report" && f.Name == "output" {
		return completeOne(explorerPage)
	}
	switch f.Name {
	case "namespace":
		return s.completeAsking(s.namespaces)
	case "context":
		return completeKnown(func() ([]string, error) { all, _, err := s.config.Contexts(); return all, err })
	case "contexts":
		return s.completeContexts
	case "cluster":
		return completeKnown(s.config.Clusters)
	case "user":
		return completeKnown(s.config.Users)
	case "output":
		return completeOne(slices.Concat(own[command], structured.Formats())...)
	case "rule":
		return completeSome(rulesOf(command)...)
	case "from", "filename", "plan", "plan-out":
		return completeFiles("json", "yaml", "yml", "gz")
	case "template", "output-file", "kubeconfig", "certificate-authority", "client-certificate", "client-key":
		return completeFiles()
	case "backup-dir", "kustomize", "cache-dir", "install-shim":
		return completeFolders
	}
	if words, few := choices[f.Name]; few {
		return completeOne(words...)
	}
	return nil
}

// choices are the flags that take one of a few words, each with what it means behind a
// tab.
var choices = map[string][]string{
	"cascade": {
		"background\tdelete the object at once, its dependents after it",
		"foreground\tdelete its dependents first, the object last",
		"orphan\tkeep its dependents, without their reference to it",
	},
	"color": {
		string(color.Auto) + "\ton a terminal, unless NO_COLOR is set",
		string(color.Always), string(color.Never),
	},
	"dry-run": {
		dryRunNone + "\trun",
		dryRunClient + "\tshow the plan",
		dryRunServer + "\tshow the plan, and ask the API server whether it would accept each step",
	},
	"fail-on": {"error", "warning\terrors and warnings", "never"},
	"fix": {
		fixAuto + "\tchoose per reference",
		"unlink\tremove the reference",
		"relink\tpoint it at the object that now has the owner's name",
		"update-version\tchange its apiVersion to one that is served",
	},
	"v": {"6\tname and count requests", "7\tshow their headers, too"},
}

// rulesOf are the rules that a command takes, with what they say.
func rulesOf(command string) []string {
	var out []string
	for _, r := range audit.Rules {
		if _, mends := audit.MendedBy(r.ID); mends || command != "repair" {
			out = append(out, r.ID+"\t"+r.Summary)
		}
	}
	return out
}
