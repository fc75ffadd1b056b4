package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// namespaceType is the same on every server.
var namespaceType = snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

// CheckNamespaceName returns a usage error if a flag names no namespace that can exist. An empty
// name is a flag that was not given.
func CheckNamespaceName(flag, name string) error {
	if strings.Contains(name, ",") {
		return Usagef("--%s %s: it takes one namespace", flag, Quote(name))
	}
	return UsageIf(name != "" && len(validation.IsDNS1123Label(name)) > 0, "--%s %s is not a valid name of a namespace", flag, Quote(name))
}

// missingNamespaceError means that a namespace which the user named is proven not to exist, or
// that a file has nothing of it.
type missingNamespaceError struct{ error }

func (e *missingNamespaceError) Unwrap() error { return e.error }

// IsMissingNamespace reports whether err is one of RequireNamespace.
func IsMissingNamespace(err error) bool { return errors.As(err, new(*missingNamespaceError)) }

// newMissingNamespaceError returns an error with a message, and the known namespaces that the user may
// have meant.
func newMissingNamespaceError(message, name string, known []string) error {
	return &missingNamespaceError{Usagef("%s%s", message, DidYouMean(Nearest(name, known)))}
}

// RequireNamespace returns an error if a namespace does not exist. seen is the scan in which it was
// looked for, and live is nil if that is a file; then it is an error that the file neither has an
// object in the namespace nor is a scan of it. A namespace that cannot be read is no error, as many
// users may not read any.
func (s *ScanOptions) RequireNamespace(ctx context.Context, name string, seen *snapshot.Snapshot, live *client.Client) error {
	has := func(o *object.Object) bool { return o.Namespace == name || o.Name == name && o.IsNamespace() }
	if name == "" || slices.ContainsFunc(seen.Objects, has) {
		return nil
	}
	known, missing := namespacesOf(seen), "the "+s.Source()+" has no object in namespace "+Quote(name)
	if live == nil {
		if slices.ContainsFunc(seen.Listed, func(l snapshot.Listing) bool { return l.Namespace == name }) {
			return nil
		}
	} else {
		if _, err := live.GetObject(ctx, client.Query{Type: namespaceType, Name: name}); !client.IsNotFound(err, namespaceType.GroupResource(), name) {
			return ctx.Err()
		}
		known, missing = append(known, s.namespaces(ctx)...), "namespace "+Quote(name)+" does not exist"
	}
	return newMissingNamespaceError(missing, name, known)
}

// RequireNamespaceOfBackup returns an error if a backup has no object in a namespace. in are the
// namespaces of its objects.
func RequireNamespaceOfBackup(name string, in []string) error {
	if name == "" || slices.Contains(in, name) {
		return nil
	}
	return newMissingNamespaceError("the backup has no object in namespace "+Quote(name), name, in)
}

// requireScanned is RequireNamespace for the namespace of -n, or else for that of the context if
// the scope is limited to it.
func (s *ScanOptions) requireScanned(ctx context.Context, scope scan.Scope, seen *snapshot.Snapshot, live *client.Client) error {
	if name := s.Config.Namespace(); name != "" {
		return s.RequireNamespace(ctx, name, seen, live)
	}
	switch {
	case len(scope.Namespaces) == 1:
	case live == nil:
		return s.requireWholeFile(seen)
	default:
		return nil
	}
	err := s.RequireNamespace(ctx, scope.Namespaces[0], seen, live)
	return WithHint(err, "the namespace is that of the context: choose another with -n")
}

// requireWholeFile returns an error if -A asks for more than a file holds. Otherwise it warns if the file
// is a scan of one namespace, because the answer looks like one about the whole cluster.
func (s *ScanOptions) requireWholeFile(seen *snapshot.Snapshot) error {
	if len(seen.Listed) == 0 || seen.Listed[0].Namespace == "" || slices.ContainsFunc(seen.Listed, func(l snapshot.Listing) bool { return l.Namespace != seen.Listed[0].Namespace }) {
		return nil
	}
	only := "the file is a scan of namespace " + Quote(seen.Listed[0].Namespace) + " only"
	if s.AllNamespaces {
		return Usagef("-A: %s", only)
	}
	fmt.Fprintln(s.Err, "warning: "+only+": it shows nothing of other namespaces")
	return nil
}

// namespacesOf returns the namespaces that a scan shows, with repetitions.
func namespacesOf(seen *snapshot.Snapshot) (names []string) {
	for _, o := range seen.Objects {
		if o.IsNamespace() {
			names = append(names, o.Name)
		}
		names = append(names, o.Namespace)
	}
	return names
}
