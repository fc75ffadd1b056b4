package cli

import (
	"errors"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// target is what a person named: all objects of a type, or one by name.
type target struct {
	word string        // the type as it was typed
	name string        // empty: all of them
	of   snapshot.Type // set by resolve
}

func (t target) String() string {
	if t.name == "" {
		return t.of.String()
	}
	return t.of.String() + "/" + t.name
}

// parseTargets reads TYPE, TYPE NAME… or TYPE/NAME…, where TYPE may be a list
// divided by commas, as kubectl does.
func parseTargets(args []string) ([]target, error) {
	if len(args) == 0 {
		return nil, nil
	}
	var out []target
	if strings.Contains(args[0], "/") {
		for _, arg := range args {
			word, name, found := strings.Cut(arg, "/")
			if !found {
				return nil, usagef("%s: give every target as TYPE/NAME", quoted(arg))
			}
			if word == "" || !snapshot.ValidName(name) {
				return nil, usagef("%s is not TYPE/NAME", quoted(arg))
			}
			out = append(out, target{word: word, name: name})
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
				return nil, usagef("%s is not a valid object name", quoted(strings.Join(args, " ")))
			}
			out = append(out, target{word: word, name: name})
		}
	}
	return out, nil
}

// resolve finds the type that each target's word means.
func resolve(targets []target, types []snapshot.Type) ([]target, error) {
	out := make([]target, len(targets))
	for i, t := range targets {
		found := snapshot.Find(types, t.word)
		if len(found) == 0 {
			return nil, usagef("the server has no resource type %s", quoted(t.word))
		}
		t.of = found[0]
		out[i] = t
	}
	return out, nil
}

// is says whether an object is what the target means, in a namespace or, where
// that is empty, in any.
func (t target) is(o *object.Object, view *snapshot.View, namespace string) bool {
	at := func(i object.Identity) bool {
		if t.name != "" && i.Name != t.name || t.of.Namespaced && namespace != "" && i.Namespace != namespace {
			return false
		}
		m, ok := view.Map(i.APIVersion, i.Kind)
		return ok && m.Type.GroupResource() == t.of.GroupResource()
	}
	if at(o.Identity) {
		return true
	}
	for _, alias := range o.Aliases {
		if at(alias) {
			return true
		}
	}
	return false
}

// find adds to into what the targets mean. A target that is not there is an
// error when it was named, and none when only its type was.
func find(g *graph.Graph, targets []target, namespace string, into graph.Set) error {
	for _, t := range targets {
		found := t.among(g, namespace)
		for _, n := range found {
			into.Add(n)
		}
		if len(found) == 0 && t.name != "" {
			return notFound(g, t, namespace)
		}
	}
	return nil
}

// among are the objects that the target means.
func (t target) among(g *graph.Graph, namespace string) []graph.Node {
	var out []graph.Node
	for n := graph.Node(0); int(n) < g.Len() && g.Object(n) != nil; n++ {
		if t.is(g.Object(n), g.View(), namespace) {
			out = append(out, n)
		}
	}
	return out
}

// notFound words why a target is not there: it may well exist where it could
// not be read.
func notFound(g *graph.Graph, t target, namespace string) error {
	if err := unread(g, t, namespace); err != nil {
		return err
	}
	missing := &absence{usagef("%s%s does not exist", quoted(t.String()), t.where(namespace))}
	if t.of.Namespaced && namespace != "" {
		return withHint(missing, "choose another namespace with -n, or use -A for all namespaces")
	}
	return missing
}

// unread words what kept a target from being seen; nil where nothing did, so that
// it is not there.
func unread(g *graph.Graph, t target, namespace string) error {
	at := t.at(namespace)
	if l := g.View().Lookup(at); l != nil && l.Outcome == snapshot.Failed {
		return usagef("%s%s could not be read (%s): %s", quoted(t.String()), t.where(namespace), l.Reason, l.Message)
	}
	if gap := g.View().GapAt(t.of.GroupResource(), at.Namespace); gap != nil {
		return usagef("%s%s was not found, but %s could not be read (%s)", quoted(t.String()), t.where(namespace), gap, gap.Reason)
	}
	return nil
}

func (t target) where(namespace string) string {
	if t.of.Namespaced && namespace != "" {
		return " in namespace " + quoted(namespace)
	}
	return ""
}

// absence says that a target is proven not to be there.
type absence struct{ error }

func (a *absence) Unwrap() error { return a.error }

func isAbsence(err error) bool { return errors.As(err, new(*absence)) }

// at is where the target lives, if it does.
func (t target) at(namespace string) snapshot.Coordinates {
	c := snapshot.Coordinates{APIVersion: t.of.APIVersion(), Kind: t.of.Kind, Name: t.name}
	if t.of.Namespaced {
		c.Namespace = namespace
	}
	return c
}
