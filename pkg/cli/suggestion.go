package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// A suggestion is a command line that the program prints for the user to paste. It is made
// of words, and everything that prints one gets it from Suggest or SuggestWords, so that it
// asks the same cluster or file, as the same user.

// Suggest returns a suggestion of a command of this program to paste into a shell, escaped for
// a terminal.
func (s *ScanOptions) Suggest(words ...string) string { return s.suggest(plugin.Line(words...)) }

// SuggestKubectl is Suggest for a command of kubectl.
func (s *ScanOptions) SuggestKubectl(words ...string) string {
	return s.suggest(append([]string{"kubectl"}, words...))
}

func (s *ScanOptions) suggest(words []string) string {
	words, _ = s.SuggestWords(words...)
	return escape.Terminal(ShellCommand(words...))
}

// SuggestWords returns the words of a suggestion with the flags of this command line that
// choose the cluster, the user, and the file of --from; credentials are replaced by
// redact.Mark. A suggestion without a target also gets -n or -A, and an empty -n is left out;
// one that changes something gets --dry-run if it reads a file. There are none for a command of helm that lacks a
// flag of this command line. onCluster reports that it
// cannot read the file that this command reads, so it is about the cluster itself.
func (s *ScanOptions) SuggestWords(words ...string) (suggested []string, onCluster bool) {
	own := plugin.Line()
	suggested = slices.Clone(words)
	if i := slices.Index(suggested, "-n"); i >= 0 && i+1 < len(suggested) && suggested[i+1] == "" {
		suggested = slices.Delete(suggested, i, i+2)
	}
	if words[0] == "helm" {
		connection := s.connectionWords(nil)
		for i := 0; i < len(connection); i += 2 {
			if connection[i], _ = inHelm[connection[i]]; connection[i] == "" {
				return nil, s.From != ""
			}
		}
		return append(suggested, connection...), s.From != ""
	}
	if !slices.Equal(words[:min(len(words), len(own))], own) {
		return append(suggested, s.connectionWords(inKubectl)...), s.From != ""
	}
	reads := ""
	if len(words) > len(own) {
		reads = commandFlags[words[len(own)]]
	}
	if reads == readsLogs {
		return suggested, false
	}
	targeted := len(words) > len(own)+1 && !strings.HasPrefix(words[len(own)+1], "-")
	scoped := targeted || slices.ContainsFunc(words, func(w string) bool { return w == "-n" || w == "-A" })
	switch namespace := s.Config.Namespace(); {
	case scoped || reads == "":
	case namespace != "":
		suggested = append(suggested, "-n", namespace)
	case s.AllNamespaces && reads != liveOnly:
		suggested = append(suggested, "-A")
	}
	if s.From != "" && (reads == readsFile || reads == plansFile) {
		if reads == plansFile && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--dry-run") }) {
			suggested = append(suggested, "--dry-run")
		}
		suggested = append(suggested, s.fromWords()...)
	}
	return append(suggested, s.connectionWords(nil)...), s.From != "" && reads != readsFile && reads != plansFile
}

// SuggestSentence returns a sentence and the command that it introduces, as SuggestWords does.
// The sentence of a command that cannot read the file of --from says where to run it.
func (s *ScanOptions) SuggestSentence(sentence string, words []string) (string, []string) {
	if len(words) == 0 {
		return sentence, words
	}
	words, onCluster := s.SuggestWords(words...)
	switch {
	case onCluster && s.demo:
		sentence += " (on your own cluster, not on the demo)"
	case onCluster:
		sentence += " (on the cluster itself, not on this file)"
	}
	return sentence, words
}

const (
	readsFile = "reads"     // takes --from, -n and -A
	plansFile = "plans"     // takes --from only with --dry-run
	liveOnly  = "live only" // takes -n
	readsLogs = "logs"      // reads neither a cluster nor the file of --from
)

// commandFlags are the commands that work on everything in scope unless they have a target.
var commandFlags = map[string]string{
	"audit": readsFile, "stuck": readsFile, "tree": readsFile, "why": readsFile,
	"collect": plansFile, "delete": plansFile, "finalizer": plansFile, "repair": plansFile, "controller": liveOnly, "doctor": liveOnly,
	"trace": readsLogs,
}

// inHelm has the flags that helm has, too, each with a value. It would ask another cluster, or as another
// user, without the others.
var inHelm = map[string]string{"--context": "--kube-context", "--kubeconfig": "--kubeconfig"}

// inKubectl reports whether kubectl has the flag.
func inKubectl(f *pflag.Flag) bool { return f.Name != "proxy-url" }

// connectionWords returns the flags of this command line that choose the cluster and the user
// and that keep accepts; nil accepts all.
func (s *ScanOptions) connectionWords(keep func(*pflag.Flag) bool) []string {
	var words []string
	if s.context != "" {
		words = append(words, "--context", s.context)
	}
	for _, f := range s.Config.Given() {
		if keep == nil || keep(f) {
			words = append(words, flagWords(f)...)
		}
	}
	return words
}
