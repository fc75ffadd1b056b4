package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
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
				return nil, WithHint(Usagef("%s is not TYPE/NAME", Quote(arg)), "such as deployment/web; its namespace is given with -n")
			}
			out = append(out, Target{Word: word, Name: name})
		}
		return out, nil
	}
	names := args[1:]
	if len(names) == 0 {
		names = []string{""} // every object of the type
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

// ResolveTargets sets the types of the targets, which source has.
func ResolveTargets(targets []Target, types []snapshot.Type, source string) error {
	for i, t := range targets {
		found := snapshot.Find(types, t.Word)
		if len(found) == 0 {
			return Usagef("the %s has no resource type %s%s", source, Quote(t.Word), DidYouMean(t.nearestTypes(types)))
		}
		targets[i].Type = found[0]
	}
	return nil
}

// nearestTypes returns what the user may have meant by a target whose type does not exist.
func (t Target) nearestTypes(types []snapshot.Type) []string {
	if len(snapshot.Find(types, t.Name)) > 0 { // NAME TYPE
		return []string{t.Name + "/" + t.Word}
	}
	var words []string
	for _, of := range types {
		if of.Can("list") {
			words = append(words, of.Resource, of.Singular)
			words = append(words, slices.DeleteFunc(slices.Clone(of.ShortNames), func(short string) bool { return len(short) < 4 })...)
		}
	}
	word, _, _ := strings.Cut(t.Word, ".")
	return Nearest(word, words)
}

// withoutCategories returns the targets with the types of a category, such as all, in its place.
func withoutCategories(targets []Target, types []snapshot.Type) (out []Target) {
	for _, t := range targets {
		before := len(out)
		for _, of := range types {
			if t.Name == "" && of.Monitored() && slices.Contains(of.Categories, t.Word) {
				out = append(out, Target{Word: of.String()})
			}
		}
		if len(out) == before || len(snapshot.Find(types, t.Word)) > 0 {
			out = append(out[:before], t)
		}
	}
	return out
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
	return names(o.Identity) || slices.ContainsFunc(o.Aliases, names)
}

// FindTarget adds the objects that the target names to into. It is an error if the target
// has a name and does not exist.
func FindTarget(g *graph.Graph, t Target, namespace string, into graph.Set) error {
	found := t.NodesIn(g, namespace)
	for _, n := range found {
		into.Add(n)
	}
	if len(found) > 0 || t.Name == "" {
		return nil
	}
	if err := UnreadError(g, t, namespace); err != nil {
		return err
	}
	return t.withNamespaceHint(NotFound(Usagef("%s%s does not exist%s", Quote(t.String()), t.where(namespace), DidYouMean(t.Nearest(g, namespace)))), namespace)
}

// Nearest returns what the user may have meant by a target that does not exist in a namespace, as arguments.
func (t Target) Nearest(g *graph.Graph, namespace string) (near []string) {
	var elsewhere, names []string
	of := Target{Type: t.Type}
	for _, n := range of.NodesIn(g, "") {
		switch o := g.Object(n); {
		case o.Name == t.Name:
			elsewhere = append(elsewhere, t.Word+"/"+o.Name+" -n "+o.Namespace)
		case !t.Type.Namespaced || namespace == "" || o.Namespace == namespace:
			names = append(names, o.Name)
		}
	}
	if len(elsewhere) > 0 {
		return elsewhere[:min(len(elsewhere), maxNearest)]
	}
	for _, name := range Nearest(t.Name, names) {
		near = append(near, t.Word+"/"+name)
	}
	return near
}

// withNamespaceHint adds to an error that the target may be in another namespace.
func (t Target) withNamespaceHint(err error, namespace string) error {
	if t.Type.Namespaced && namespace != "" {
		return WithHint(err, "choose another namespace with -n")
	}
	return err
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

// UnreadError returns why a target could not be read, or nil if it does not exist.
func UnreadError(g *graph.Graph, t Target, namespace string) error {
	at := t.Coordinates(namespace)
	if l := g.View().Unreadable(t.Type, at); l != nil {
		words := []string{"why", t.String()}
		if at.Namespace != "" {
			words = append(words, "-n", at.Namespace)
		}
		return WithCommandHint(Usagef("%s%s cannot be read from etcd: %s", Quote(t.String()), t.where(namespace), l.Message), "what you can do about it", words...)
	}
	if l := g.View().Lookup(at); l != nil && l.Outcome == snapshot.Failed {
		return Usagef("%s%s could not be read (%s): %s", Quote(t.String()), t.where(namespace), l.Reason, l.Message)
	}
	switch gap := g.View().GapAt(t.Type.GroupResource(), at.Namespace); {
	case gap == nil:
	case gap.Reason == snapshot.NotInFile:
		return WithHint(Usagef("%s%s is not in the file", Quote(t.String()), t.where(namespace)), "if the file has all objects of its types, add --complete; else choose another namespace with -n")
	default:
		return Usagef("%s%s was not found, but %s could not be read (%s)", Quote(t.String()), t.where(namespace), gap, gap.Why())
	}
	return nil
}

func (t Target) where(namespace string) string {
	if !t.Type.Namespaced {
		return ""
	}
	return InNamespace(namespace)
}

// InNamespace returns where something is, to continue a sentence, and "" for no namespace.
func InNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + Quote(namespace)
}

// notFoundError means that a target is proven not to exist.
type notFoundError struct{ error }

func (e *notFoundError) Unwrap() error { return e.error }

// NotFound returns an error which means that a target is proven not to exist.
func NotFound(err error) error { return &notFoundError{err} }

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

// Selection is what targets, -l and -n select.
type Selection struct {
	Targets   []Target
	Selector  labels.Selector // nil without -l
	Namespace string          // empty for all namespaces
	Bound     bool            // -n names the namespace
}

// Select returns the selection of these targets, the value of -l, and -n.
func (s *ScanOptions) Select(targets []Target, selector string) (Selection, error) {
	sel := Selection{Targets: targets}
	var err error
	if sel.Selector, err = ParseSelector(selector); err == nil {
		sel.Namespace, sel.Bound, err = s.Namespace()
	}
	return sel, err
}

// ParseSelector parses the value of -l. It returns nil if that is empty. A selector without
// a requirement, such as a blank, is an error: it would select every object.
func ParseSelector(given string) (labels.Selector, error) {
	if given == "" {
		return nil, nil
	}
	selector, err := labels.Parse(given)
	switch {
	case err != nil:
		return nil, Usagef("--selector %s: %w", Quote(given), err)
	case selector.Empty():
		return nil, Usagef("--selector %s: it has no requirement", Quote(given))
	}
	return selector, nil
}

// HasLabels reports whether an object has the labels of -l.
func (s *Selection) HasLabels(o *object.Object) bool {
	return s.Selector == nil || s.Selector.Matches(labels.Set(o.Labels))
}

// Scope sets the types of the targets, by those that the cluster or the file has. It returns a scope
// with the targets that have a name and, if all of them are in the namespace, with that.
func (s *Selection) Scope(ctx context.Context, o *ScanOptions) (scan.Scope, error) {
	scope := scan.Scope{Labels: s.Selector != nil}
	if len(s.Targets) > 0 {
		types, err := o.Types(ctx)
		if err != nil {
			return scope, err
		}
		s.Targets = withoutCategories(s.Targets, types)
		if err := ResolveTargets(s.Targets, types, o.Source()); err != nil {
			return scope, s.orObject(ctx, o, err)
		}
	}
	local := s.Namespace != ""
	for _, t := range s.Targets {
		local = local && t.Type.Namespaced
		if t.Name != "" && (s.Namespace != "" || !t.Type.Namespaced) {
			scope.Targets = append(scope.Targets, t.Coordinates(s.Namespace))
		}
	}
	if local {
		scope.Namespaces = []string{s.Namespace}
	}
	return scope, nil
}

// orObject returns the error about a target whose type does not exist; if it is the name of objects
// instead, an error that names those.
func (s *Selection) orObject(ctx context.Context, o *ScanOptions, err error) error {
	if len(s.Targets) != 1 || s.Targets[0].Name != "" {
		return err
	}
	var near []string
	seen := &snapshot.Snapshot{}
	if s.Namespace != "" || o.From != "" { // else it would list the whole cluster
		within := scan.Scope{}
		if s.Namespace != "" {
			within.Namespaces = []string{s.Namespace}
		}
		var scanErr error
		if seen, _, scanErr = o.read(ctx, within); scanErr != nil {
			return err
		}
	}
	if CheckNamespaceName("", s.Targets[0].Word) == nil && o.connected != nil {
		if _, absent := o.connected.GetObject(ctx, client.Query{Type: namespaceType, Name: s.Targets[0].Word}); absent == nil {
			near = append(near, "ns/"+s.Targets[0].Word)
		}
	}
	for _, found := range seen.Objects {
		if found.Name != s.Targets[0].Word || found.Namespace != s.Namespace && s.Namespace != "" {
			continue
		}
		arg := strings.ToLower(found.Kind) + "/" + found.Name
		if found.Namespace != s.Namespace {
			arg += " -n " + found.Namespace
		}
		near = append(near, arg)
	}
	if len(near) == 0 {
		return err
	}
	return Usagef("%s is not a resource type, but the name of an object%s", Quote(s.Targets[0].Word), DidYouMean(near[:min(len(near), maxNearest)]))
}

// CascadeScope is Scope for a command that follows what is deleted with the targets: the whole cluster, as
// dependents may be anywhere. A known namespace comes first, for users who may read nothing else.
func (s *Selection) CascadeScope(ctx context.Context, o *ScanOptions) (scan.Scope, error) {
	scope, err := s.Scope(ctx, o)
	scope.Running = true
	if scope.Namespaces != nil {
		scope.Widen = scan.WidenAlways
	}
	return scope, err
}

// Find adds the objects that the targets name to into, until a target with a name does not
// exist.
func (s *Selection) Find(g *graph.Graph, into graph.Set) error {
	for _, t := range s.Targets {
		if err := FindTarget(g, t, s.Namespace, into); err != nil {
			return err
		}
	}
	return nil
}
