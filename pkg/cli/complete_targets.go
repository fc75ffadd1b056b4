package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// completeTargets offers what parseTargets reads, as kubectl does: types, and after a
// type or TYPE/ the names of its objects.
func (s *source) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	word, _, slash := strings.Cut(typed, "/")
	switch {
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		words, directive := s.completeAsking(func(ctx context.Context, typed string) []string {
			return s.names(ctx, strings.Split(args[0], ","), typed)
		})(cmd, args, typed)
		return without(words, args[1:]), directive
	case slash:
		words, directive := s.completeAsking(func(ctx context.Context, typed string) []string {
			return behind(word+"/", s.names(ctx, []string{word}, strings.TrimPrefix(typed, word+"/")))
		})(cmd, args, typed)
		return without(words, args), directive
	case len(args) > 0: // the others are named as TYPE/NAME
		words, directive := s.completeAsking(func(ctx context.Context, typed string) []string {
			return s.types(ctx)
		})(cmd, args, typed)
		for i := range words {
			words[i] += "/"
		}
		return words, directive | cobra.ShellCompDirectiveNoSpace
	}
	return s.completeAsking(func(ctx context.Context, typed string) []string {
		said, _ := cutLast(typed)
		return behind(said, s.types(ctx))
	})(cmd, args, typed)
}

// types are those that the collector watches.
func (s *source) types(ctx context.Context) []string {
	var out []string
	for _, t := range s.register(ctx).types {
		if t.Monitored() {
			out = append(out, t.String())
		}
	}
	return out
}

// names are those of the objects of some types in the namespace at hand.
func (s *source) names(ctx context.Context, words []string, typed string) (names []string) {
	namespace, _, err := s.namespace()
	if err != nil {
		return nil
	}
	r := s.register(ctx)
	for _, word := range words {
		if found := snapshot.Find(r.types, word); len(found) > 0 {
			names = append(names, r.names(found[0], namespace, typed)...)
		}
	}
	return names
}

// namespaces are those of the cluster, or those that a file holds objects of.
func (s *source) namespaces(ctx context.Context, typed string) []string {
	if s.from == "" {
		live, err := s.connect()
		if err != nil {
			return nil
		}
		every := snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"} // as every server has it
		names, _ := live.Names(ctx, every, "", typed)
		return names
	}
	saved := s.register(ctx).saved
	if saved == nil {
		return nil
	}
	var out []string
	for _, o := range saved.Objects {
		out = append(out, o.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// register is where completions look words up. It is empty where nothing answers.
type register struct {
	types []snapshot.Type
	names func(of snapshot.Type, namespace, typed string) []string
	saved *snapshot.Snapshot // nil unless it came from a file
}

func (s *source) register(ctx context.Context) register {
	switch s.from {
	case "-": // what a shell would wait for is what the person types
		return register{}
	case "":
		return s.liveRegister(ctx)
	}
	saved, err := s.load()
	if err != nil {
		return register{}
	}
	view := snapshot.NewView(saved)
	return register{types: saved.Types, saved: saved, names: func(t snapshot.Type, namespace, _ string) (names []string) {
		for _, o := range saved.Objects {
			if (target{of: t}).is(o, view, namespace) {
				names = append(names, o.Name)
			}
		}
		return names
	}}
}

func (s *source) liveRegister(ctx context.Context) register {
	live, err := s.connect()
	if err != nil {
		return register{}
	}
	types, err := live.Types(ctx)
	if err != nil {
		return register{}
	}
	return register{types: types, names: func(t snapshot.Type, namespace, typed string) []string {
		names, _ := live.Names(ctx, t, namespace, typed) // a completion is silent
		return names
	}}
}
