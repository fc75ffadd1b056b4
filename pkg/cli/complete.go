package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
)

// CompleteFlag registers how the value of a flag of this command is completed.
func CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag, or registered twice
	}
}

func completeBools(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if _, registered := cmd.GetFlagCompletionFunc(f.Name); f.Value.Type() == "bool" && !registered {
				CompleteFlag(cmd, f.Name, CompleteOne("true", "false"))
			}
		})
	}
}

// CompleteOne offers these words. A tab in a word separates it from its description.
func CompleteOne(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteSome offers these words for the last item of a comma-separated list. From the
// second item on it leaves out descriptions: with them, bash's script does not find a word
// again that contains an escaped character, such as the comma.
func CompleteSome(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before, last := cutLast(typed)
		if before == "" {
			return withPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
		}
		out := WithoutWords(withPrefix(words, last), strings.Split(before, ","))
		for i, word := range out {
			out[i], _, _ = strings.Cut(word, "\t")
		}
		return prepend(before, out), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteRules offers these audit rules for a list.
func CompleteRules(ids []string) cobra.CompletionFunc {
	var words []string
	for _, r := range audit.Rules {
		if slices.Contains(ids, r.ID) {
			words = append(words, r.ID+"\t"+r.Summary)
		}
	}
	return CompleteSome(words...)
}

// CompleteFiles has the shell offer files with these extensions, or all files.
func CompleteFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if len(extensions) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// CompleteDocuments offers files that hold JSON or YAML.
var CompleteDocuments = CompleteFiles("json", "yaml", "yml", "gz")

// CompleteFolders has the shell offer folders.
func CompleteFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeFromConfig offers names from the kubeconfig.
func completeFromConfig(read func() ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, _ := read() // a completion prints no errors
		return HarmlessWithPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// AllContexts alone selects all contexts of the kubeconfig.
const AllContexts = "all"

// CompleteContexts offers a list of contexts, and AllContexts.
func (s *ScanOptions) CompleteContexts(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	known, _, _ := s.Config.Contexts() // a completion prints no errors
	return CompleteSome(append(HarmlessWithPrefix(known, ""), AllContexts)...)(cmd, args, typed)
}

// CompletionTimeout is how long a completion may keep the user waiting.
const CompletionTimeout = 3 * time.Second

// completeFromCluster offers what a cluster or a file contains. After CompletionTimeout it
// offers nothing, even if read cannot be stopped because it waits for a credential plugin
// or a pipe.
func (s *ScanOptions) completeFromCluster(read func(context.Context) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
		defer cancel()
		s.Config.DisablePrompts()
		found := make(chan []string, 1)
		go func() { found <- read(ctx) }()
		select {
		case words := <-found:
			return HarmlessWithPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
		case <-ctx.Done():
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// Choices are the values of a flag, each with its meaning.
type Choices []struct{ Value, Meaning string }

// Values returns the values alone.
func (c Choices) Values() []string {
	out := make([]string, len(c))
	for i, choice := range c {
		out[i] = choice.Value
	}
	return out
}

// Described returns the values for a completion: with the meaning after a tab.
func (c Choices) Described() []string {
	out := make([]string, len(c))
	for i, choice := range c {
		out[i] = choice.Value + "\t" + choice.Meaning
	}
	return out
}

// withPrefix returns the words that begin with typed, sorted and without duplicates.
func withPrefix(words []string, typed string) []string {
	out := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.HasPrefix(word, typed) })
	slices.Sort(out)
	return slices.Compact(out)
}

// harmless matches words that mean nothing to a shell, nor to cobra's completion protocol,
// which separates words by newlines and descriptions by tabs.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@/+=,-]*$`)

// HarmlessWithPrefix returns the words that begin with typed and are safe to offer. It is
// for words that others have chosen: a ClusterRole may be called $(reboot), and the scripts
// of older shells evaluate candidates.
func HarmlessWithPrefix(words []string, typed string) []string {
	return slices.DeleteFunc(withPrefix(words, typed), func(word string) bool { return !harmless.MatchString(word) })
}

// cutLast splits a list after its last comma.
func cutLast(typed string) (before, last string) {
	i := strings.LastIndexByte(typed, ',') + 1
	return typed[:i], typed[i:]
}

func prepend(before string, words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = before + word
	}
	return out
}

// WithoutWords returns the words except those that are on the command line already.
func WithoutWords(words, given []string) []string {
	return slices.DeleteFunc(words, func(word string) bool {
		word, _, _ = strings.Cut(word, "\t")
		return slices.Contains(given, word)
	})
}
