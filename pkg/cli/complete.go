package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/machine"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// completeFlags offers the values of the flags that a command has.
func (s *source) completeFlags(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"output":  slices.Concat(own[cmd.Name()], machine.Formats()),
		"rule":    audit.IDs(),
		"fail-on": {"error", "warning", "never"},
		"dry-run": dryRuns,
		"cascade": cascades,
		"fix":     fixes,
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// completeConnection offers namespaces and contexts.
func (s *source) completeConnection(root *cobra.Command) {
	_ = root.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), patience)
		defer cancel()
		return starting(s.namespaces(ctx), typed), cobra.ShellCompDirectiveNoFileComp
	})
	_ = root.RegisterFlagCompletionFunc("context", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		contexts, _, err := s.config.Contexts()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return starting(contexts, typed), cobra.ShellCompDirectiveNoFileComp
	})
}

// namespaces are those of the cluster, or those that a file holds objects of.
func (s *source) namespaces(ctx context.Context) []string {
	if s.from == "" {
		types, names := s.listing(ctx)
		if found := snapshot.Find(types, "namespaces"); len(found) > 0 {
			return names(found[0], "")
		}
		return nil
	}
	saved, err := s.load()
	if err != nil {
		return nil
	}
	var out []string
	for _, o := range saved.Objects {
		out = append(out, o.Namespace)
	}
	return out
}

// starting are those of the words that a person may be typing: sorted, once each.
func starting(words []string, typed string) []string {
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(word string) bool {
		return word == "" || !strings.HasPrefix(word, typed)
	})
}

// patience is how long a completion may keep a person waiting.
const patience = 3 * time.Second

// completeTargets offers types, and after a type the names of its objects. It
// stays silent when the cluster does not answer in time.
func (s *source) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	word, _, slash := strings.Cut(typed, "/")
	prefix := ""
	switch {
	case slash:
		prefix = word + "/"
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		word = args[0]
	default:
		return s.completeTypes(ctx, typed), cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, name := range s.namesOf(ctx, word) {
		if !slices.Contains(args, name) {
			out = append(out, prefix+name)
		}
	}
	return starting(out, typed), cobra.ShellCompDirectiveNoFileComp
}

func (s *source) completeTypes(ctx context.Context, typed string) []string {
	types, _ := s.listing(ctx)
	var out []string
	for _, t := range types {
		if t.Monitored() {
			out = append(out, t.String())
		}
	}
	return starting(out, typed)
}

// namesOf are the names of the objects of one type, in the namespace at hand.
func (s *source) namesOf(ctx context.Context, word string) []string {
	namespace, _, err := s.namespace()
	if err != nil {
		return nil
	}
	types, names := s.listing(ctx)
	found := snapshot.Find(types, word)
	if len(found) == 0 {
		return nil
	}
	return names(found[0], namespace)
}

// listing answers the served types and how to list the names of one; no types
// where nothing answers.
func (s *source) listing(ctx context.Context) ([]snapshot.Type, func(snapshot.Type, string) []string) {
	if s.from != "" {
		saved, err := s.load()
		if err != nil {
			return nil, nil
		}
		view := snapshot.NewView(saved)
		return saved.Types, func(t snapshot.Type, namespace string) (names []string) {
			for _, o := range saved.Objects {
				if (target{of: t}).is(o, view, namespace) {
					names = append(names, o.Name)
				}
			}
			return names
		}
	}
	live, err := s.connect()
	if err != nil {
		return nil, nil
	}
	world, err := live.Discover(ctx)
	if err != nil {
		return nil, nil
	}
	return world.Types, func(t snapshot.Type, namespace string) []string {
		return live.Names(ctx, t, namespace)
	}
}
