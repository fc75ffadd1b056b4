package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// CompleteFlag registers how the value of a flag of this command is completed.
func CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag, or registered twice
	}
}

// CompleteOne offers these words. A tab in a word separates it from its description.
func CompleteOne(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(words, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteBool is for a flag that is given to turn something off.
var CompleteBool = CompleteOne("true", "false")

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
		return prepend(before, Choices(out).Values()), cobra.ShellCompDirectiveNoFileComp
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

// Choices are the values of a flag. A tab separates a value from its meaning.
type Choices []string

// Values returns the values alone.
func (c Choices) Values() []string {
	out := slices.Clone(c)
	for i, choice := range c {
		out[i], _, _ = strings.Cut(choice, "\t")
	}
	return out
}

// Check returns a usage error unless the value that is given for the flag is a choice.
func (c Choices) Check(flag, given string) error {
	values := c.Values()
	most, last := values[:len(values)-1], values[len(values)-1]
	return UsageIf(!slices.Contains(values, given), "--%s %s: must be %s or %s", flag, Quote(given), strings.Join(most, ", "), last)
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

// CompleteTargets offers what ParseTargets reads, as kubectl does: types, and after a
// type or TYPE/ the names of its objects.
func (s *ScanOptions) CompleteTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	word, _, slash := strings.Cut(typed, "/")
	before, _ := cutLast(typed)
	read, given, directive := s.typeNames(before, ""), args, cobra.ShellCompDirectiveNoFileComp
	switch {
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		read, given = s.objectNames("", strings.Split(args[0], ",")...), args[1:]
	case slash:
		read = s.objectNames(word+"/", word)
	case len(args) > 0: // further targets are TYPE/NAME, too
		read, given, directive = s.typeNames("", "/"), nil, directive|cobra.ShellCompDirectiveNoSpace
	}
	words, _ := s.completeFromCluster(read)(cmd, args, typed)
	return WithoutWords(words, given), directive
}

// CompleteFinalizers offers the finalizers of other controllers on the target that is on the
// command line already.
func (s *ScanOptions) CompleteFinalizers(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	finalizers := func(ctx context.Context) (names []string) {
		targets, err := ParseTargets(args)
		if err != nil || len(targets) != 1 {
			return nil
		}
		for _, o := range s.objectsOf(ctx, targets[0].Word) {
			if o.Name == targets[0].Name {
				names = append(names, o.ForeignFinalizers()...)
			}
		}
		return names
	}
	return s.completeFromCluster(finalizers)(cmd, args, typed)
}

// typeNames returns a function that lists the types that the garbage collector watches.
func (s *ScanOptions) typeNames(prefix, suffix string) func(context.Context) []string {
	return func(ctx context.Context) (words []string) {
		types, _ := s.completionTypes(ctx)
		for _, t := range types {
			if t.Monitored() {
				words = append(words, prefix+t.String()+suffix)
			}
		}
		return words
	}
}

// objectNames returns a function that lists the objects of some types in the current
// namespace.
func (s *ScanOptions) objectNames(prefix string, typeNames ...string) func(context.Context) []string {
	return func(ctx context.Context) (words []string) {
		for _, o := range s.objectsOf(ctx, typeNames...) {
			words = append(words, prefix+o.Name)
		}
		return words
	}
}

// objectsOf lists the objects of some types in the current namespace.
func (s *ScanOptions) objectsOf(ctx context.Context, typeNames ...string) (out []*object.Object) {
	namespace, _, err := s.Namespace()
	if err != nil {
		return nil
	}
	types, list := s.completionTypes(ctx)
	for _, word := range typeNames {
		if found := snapshot.Find(types, word); len(found) > 0 {
			out = append(out, list(found[0], namespace)...)
		}
	}
	return out
}

// CompleteNamespaces completes the name of a namespace.
func (s *ScanOptions) CompleteNamespaces(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return s.completeFromCluster(s.namespaces)(cmd, args, typed)
}

// maxCompleted limits how many objects a completion requests.
const maxCompleted = 500

// namespaces lists the namespaces of the cluster, or of the objects in a file.
func (s *ScanOptions) namespaces(ctx context.Context) (names []string) {
	if s.From == "" {
		if live, err := s.Connect(); err == nil {
			found, _ := live.FirstPage(ctx, client.Query{Type: namespaceType}, maxCompleted)
			for _, o := range found {
				names = append(names, o.Name)
			}
		}
		return names
	}
	for _, o := range s.loadQuietly().Objects {
		names = append(names, o.Namespace)
	}
	return names
}

// completionTypes returns the types of the cluster or the file, and a function that lists
// the objects of one. On an error there are no types: a completion prints no errors.
func (s *ScanOptions) completionTypes(ctx context.Context) (types []snapshot.Type, objects func(t snapshot.Type, namespace string) []*object.Object) {
	if s.From == "" {
		live, err := s.Connect()
		if err != nil {
			return nil, nil
		}
		types, _ = discovery.Types(ctx, live)
		return types, func(t snapshot.Type, namespace string) []*object.Object {
			objects, _ := live.FirstPage(ctx, client.Query{Type: t, Namespace: namespace}, maxCompleted)
			return objects
		}
	}
	saved := s.loadQuietly()
	view := snapshot.NewView(saved)
	return saved.Types, func(t snapshot.Type, namespace string) (objects []*object.Object) {
		for _, o := range saved.Objects {
			if (Target{Type: t}).matches(o, view, namespace) {
				objects = append(objects, o)
			}
		}
		return objects
	}
}

// loadQuietly returns the snapshot of --from, or an empty one. It does not read standard
// input, where the user is typing.
func (s *ScanOptions) loadQuietly() *snapshot.Snapshot {
	if s.From != "-" {
		if saved, err := s.load(); err == nil {
			return saved
		}
	}
	return &snapshot.Snapshot{}
}
