package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// CompleteTargets offers what parseTargets reads, as kubectl does: types, and after a
// type or TYPE/ the names of its objects.
func (s *ScanOptions) CompleteTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	word, _, slash := strings.Cut(typed, "/")
	switch {
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		words, directive := s.completeAsking(s.objectNames("", strings.Split(args[0], ",")...))(cmd, args, typed)
		return WithoutWords(words, args[1:]), directive
	case slash:
		words, directive := s.completeAsking(s.objectNames(word+"/", word))(cmd, args, typed)
		return WithoutWords(words, args), directive
	case len(args) > 0: // the others are named as TYPE/NAME
		words, directive := s.completeAsking(s.typeNames("", "/"))(cmd, args, typed)
		return words, directive | cobra.ShellCompDirectiveNoSpace
	}
	listed, _ := cutLast(typed)
	return s.completeAsking(s.typeNames(listed, ""))(cmd, args, typed)
}

// typeNames offers the types that the collector watches, between prefix and suffix.
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

// objectNames offers the names of the objects of some types in the namespace at hand, behind
// prefix.
func (s *ScanOptions) objectNames(prefix string, of ...string) func(context.Context) []string {
	return func(ctx context.Context) []string {
		namespace, _, err := s.Namespace()
		if err != nil {
			return nil
		}
		var names []string
		types, namesOf := s.completionTypes(ctx)
		for _, word := range of {
			if found := snapshot.Find(types, word); len(found) > 0 {
				names = append(names, namesOf(found[0], namespace)...)
			}
		}
		return behind(prefix, names)
	}
}

// namespaces offers those of the cluster, or those that a file holds objects of.
func (s *ScanOptions) namespaces(ctx context.Context) (names []string) {
	if s.From == "" {
		if live, err := s.Connect(); err == nil {
			t := snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"} // as every server has it
			names, _ = read.Names(ctx, live, t, "")
		}
		return names
	}
	for _, o := range s.loadQuietly().Objects {
		names = append(names, o.Namespace)
	}
	return names
}

// completionTypes returns the types of the cluster or the file, and what lists the names of one's
// objects. There are no types where nothing answers: a completion is silent.
func (s *ScanOptions) completionTypes(ctx context.Context) (types []snapshot.Type, names func(of snapshot.Type, namespace string) []string) {
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

// loadQuietly returns the snapshot of --from, or an empty one. Standard input is left alone: a
// person is typing there.
func (s *ScanOptions) loadQuietly() *snapshot.Snapshot {
	if s.From != "-" {
		if saved, err := s.load(); err == nil {
			return saved
		}
	}
	return &snapshot.Snapshot{}
}
