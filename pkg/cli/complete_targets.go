package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// CompleteTargets offers what ParseTargets reads, as kubectl does: types, and after a
// type or TYPE/ the names of its objects.
func (s *ScanOptions) CompleteTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	word, _, slash := strings.Cut(typed, "/")
	switch {
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		words, directive := s.completeFromCluster(s.objectNames("", strings.Split(args[0], ",")...))(cmd, args, typed)
		return WithoutWords(words, args[1:]), directive
	case slash:
		words, directive := s.completeFromCluster(s.objectNames(word+"/", word))(cmd, args, typed)
		return WithoutWords(words, args), directive
	case len(args) > 0: // further targets are TYPE/NAME, too
		words, directive := s.completeFromCluster(s.typeNames("", "/"))(cmd, args, typed)
		return words, directive | cobra.ShellCompDirectiveNoSpace
	}
	before, _ := cutLast(typed)
	return s.completeFromCluster(s.typeNames(before, ""))(cmd, args, typed)
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
	return func(ctx context.Context) []string {
		namespace, _, err := s.Namespace()
		if err != nil {
			return nil
		}
		var names []string
		types, namesOf := s.completionTypes(ctx)
		for _, word := range typeNames {
			if found := snapshot.Find(types, word); len(found) > 0 {
				names = append(names, namesOf(found[0], namespace)...)
			}
		}
		return prepend(prefix, names)
	}
}

// namespaces lists the namespaces of the cluster, or of the objects in a file.
func (s *ScanOptions) namespaces(ctx context.Context) (names []string) {
	if s.From == "" {
		if live, err := s.Connect(); err == nil {
			t := snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"} // the same on every server
			names, _ = read.Names(ctx, live, t, "")
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
func (s *ScanOptions) completionTypes(ctx context.Context) (types []snapshot.Type, names func(t snapshot.Type, namespace string) []string) {
	if s.From == "" {
		live, err := s.Connect()
		if err != nil {
			return nil, nil
		}
		types, _ = discovery.Types(ctx, live)
		return types, func(t snapshot.Type, namespace string) []string {
			names, _ := read.Names(ctx, live, t, namespace)
			return names
		}
	}
	saved := s.loadQuietly()
	view := snapshot.NewView(saved)
	return saved.Types, func(t snapshot.Type, namespace string) (names []string) {
		for _, o := range saved.Objects {
			if (Target{Type: t}).matches(o, view, namespace) {
				names = append(names, o.Name)
			}
		}
		return names
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
