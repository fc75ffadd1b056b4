package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Choices are the values that a flag takes, each with what it means.
type Choices []struct{ Value, Meaning string }

// Values returns the values alone.
func (c Choices) Values() []string {
	out := make([]string, len(c))
	for i, choice := range c {
		out[i] = choice.Value
	}
	return out
}

// Described returns the values as a completion offers them: the meaning behind a tab.
func (c Choices) Described() []string {
	out := make([]string, len(c))
	for i, choice := range c {
		out[i] = choice.Value + "\t" + choice.Meaning
	}
	return out
}

// withPrefix are those of the words that a person may be typing: sorted, once each. Behind
// a tab is what a word means.
func withPrefix(words []string, typed string) []string {
	out := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.HasPrefix(word, typed) })
	slices.Sort(out)
	return slices.Compact(out)
}

// harmless are words in which no shell finds anything to do, nor cobra's protocol, which
// has a word a line and what it means behind a tab.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@/+=,-]*$`)

// HarmlessWithPrefix are those that a person may be typing of words that others have chosen. Only
// harmless ones are offered: a ClusterRole may be called $(reboot), and scripts of older
// shells evaluate candidates.
func HarmlessWithPrefix(words []string, typed string) []string {
	return slices.DeleteFunc(withPrefix(words, typed), func(word string) bool { return !harmless.MatchString(word) })
}

func CompleteOne(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteSome offers words for the last of a list that commas divide. What they mean is
// left out from the second on: where words are described, bash's script does not find one
// again that it writes with a backslash, as it does a comma.
func CompleteSome(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		said, last := cutLast(typed)
		if said == "" {
			return withPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
		}
		out := WithoutWords(withPrefix(words, last), strings.Split(said, ","))
		for i, word := range out {
			out[i], _, _ = strings.Cut(word, "\t")
		}
		return behind(said, out), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeKnown offers what the kubeconfig knows.
func completeKnown(known func() ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, _ := known() // a completion is silent
		return HarmlessWithPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// everyContext, alone, stands for all contexts of the kubeconfig.
const AllContexts = "all"

// CompleteContexts offers contexts as a list, and the word for all.
func (s *ScanOptions) CompleteContexts(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	known, _, _ := s.Config.Contexts() // a completion is silent
	return CompleteSome(append(HarmlessWithPrefix(known, ""), AllContexts)...)(cmd, args, typed)
}

// CompleteFiles has the shell offer files with these endings, or any.
func CompleteFiles(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if len(endings) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// CompletionTimeout is how long a completion may keep a person waiting.
const CompletionTimeout = 3 * time.Second

// completeAsking offers what a cluster or a file tells, if it does so in time. It does
// not wait for what cannot be stopped either, such as a credential plugin or a pipe.
func (s *ScanOptions) completeAsking(ask func(context.Context) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
		defer cancel()
		s.Config.Unattended()
		told := make(chan []string, 1)
		go func() { told <- ask(ctx) }()
		select {
		case words := <-told:
			return HarmlessWithPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
		case <-ctx.Done():
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// cutLast divides a list at its last comma, which stays with what was said before.
func cutLast(typed string) (said, last string) {
	at := strings.LastIndexByte(typed, ',') + 1
	return typed[:at], typed[at:]
}

// behind puts what was said already before each word.
func behind(said string, words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = said + word
	}
	return out
}

// WithoutWords leaves out the words that were said.
func WithoutWords(words, said []string) []string {
	return slices.DeleteFunc(words, func(word string) bool {
		word, _, _ = strings.Cut(word, "\t")
		return slices.Contains(said, word)
	})
}
