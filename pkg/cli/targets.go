package cli

import (
	"errors"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Target is what an argument names: all objects of a type, or one.
type Target struct {
	Word string        // the type as it was typed
	Name string        // empty for all of them
	Type snapshot.Type // set by ResolveTargets
}

func (t Target) String() string {
	if t.Name == "" {
		return t.Type.String()
	}
	return t.Type.String() + "/" + t.Name
}

// ParseTargets parses TYPE, TYPE NAME… or TYPE/NAME… as kubectl does. TYPE may be a
// comma-separated list.
func ParseTargets(args []string) ([]Target, error) {
	if len(args) == 0 {
		return nil, nil
	}
	var out []Target
	if strings.Contains(args[0], "/") {
		for _, arg := range args {
			word, name, found := strings.Cut(arg, "/")
			if !found {
				return nil, Usagef("%s: give every target as TYPE/NAME", Quote(arg))
			}
			if word == "" || !snapshot.ValidName(name) {
				return nil, Usagef("%s is not TYPE/NAME", Quote(arg))
			}
			out = append(out, Target{Word: word, Name: name})
		}
		return out, nil
	}
	names := args[1:]
	if len(names) == 0 {
		names = []string{""}
	}
	for word := range strings.SplitSeq(args[0], ",") {
		for _, name := range names {
			if word == "" || name != "" && !snapshot.ValidName(name) {
				return nil, Usagef("%s is not a valid object name", Quote(strings.Join(args, " ")))
			}
			out = append(out, Target{Word: word, Name: name})
		}
	}
	return out, nil
}

// ResolveTargets returns the targets with their types.
func ResolveTargets(targets []Target, types []snapshot.Type) ([]Target, error) {
	out := make([]Target, len(targets))
	for i, t := range targets {
		found := snapshot.Find(types, t.Word)
		if len(found) == 0 {
			return nil, Usagef("the server has no resource type %s", Quote(t.Word))
		}
		t.Type = found[0]
		out[i] = t
	}
	return out, nil
}

// matches reports whether the target names an object, in a namespace or, if that is empty,
// in any.
func (t Target) matches(o *object.Object, view *snapshot.View, namespace string) bool {
	names := func(i object.Identity) bool {
		if t.Name != "" && i.Name != t.Name || t.Type.Namespaced && namespace != "" && i.Namespace != namespace {
			return false
		}
		m, ok := view.Map(i.APIVersion, i.Kind)
		return ok && m.Type.GroupResource() == t.Type.GroupResource()
	}
	if names(o.Identity) {
		return true
	}
	for _, alias := range o.Aliases {
		if names(alias) {
			return true
		}
	}
	return false
}

// FindTargets adds the objects that the targets name to into. It is an error if a target
// with a name does not exist.
func FindTargets(g *graph.Graph, targets []Target, namespace string, into graph.Set) error {
	for _, t := range targets {
		found := t.NodesIn(g, namespace)
		for _, n := range found {
			into.Add(n)
		}
		if len(found) == 0 && t.Name != "" {
			return notFound(g, t, namespace)
		}
	}
	return nil
}

// NodesIn returns the objects that the target names.
func (t Target) NodesIn(g *graph.Graph, namespace string) []graph.Node {
	var out []graph.Node
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		if t.matches(g.Object(n), g.View(), namespace) {
			out = append(out, n)
		}
	}
	return out
}

// notFound returns the error for a target that was not found: it does not exist, or could
// not be read.
func notFound(g *graph.Graph, t Target, namespace string) error {
	if err := UnreadError(g, t, namespace); err != nil {
		return err
	}
	missing := &notFoundError{Usagef("%s%s does not exist", Quote(t.String()), t.where(namespace))}
	if t.Type.Namespaced && namespace != "" {
		return WithHint(missing, "choose another namespace with -n, or use -A for all namespaces")
	}
	return missing
}

// UnreadError returns why a target could not be read, or nil if it does not exist.
func UnreadError(g *graph.Graph, t Target, namespace string) error {
	at := t.Coordinates(namespace)
	if l := g.View().Lookup(at); l != nil && l.Outcome == snapshot.Failed {
		return Usagef("%s%s could not be read (%s): %s", Quote(t.String()), t.where(namespace), l.Reason, l.Message)
	}
	if gap := g.View().GapAt(t.Type.GroupResource(), at.Namespace); gap != nil {
		return Usagef("%s%s was not found, but %s could not be read (%s)", Quote(t.String()), t.where(namespace), gap, gap.Reason)
	}
	return nil
}

func (t Target) where(namespace string) string {
	if t.Type.Namespaced && namespace != "" {
		return " in namespace " + Quote(namespace)
	}
	return ""
}

// notFoundError means that a target is proven not to exist.
type notFoundError struct{ error }

func (e *notFoundError) Unwrap() error { return e.error }

// IsNotFound reports whether err means that a target does not exist.
func IsNotFound(err error) bool { return errors.As(err, new(*notFoundError)) }

// Coordinates returns where the target is, if it exists.
func (t Target) Coordinates(namespace string) snapshot.Coordinates {
	c := snapshot.Coordinates{APIVersion: t.Type.APIVersion(), Kind: t.Type.Kind, Name: t.Name}
	if t.Type.Namespaced {
		c.Namespace = namespace
	}
	return c
}
