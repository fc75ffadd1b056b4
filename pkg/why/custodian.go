package why

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// whose says who sets a finalizer, and so who has to take it away, as far as its
// name tells.
func whose(finalizer string) string {
	switch finalizer {
	case object.ForegroundFinalizer:
		return "the garbage collector's: it takes it away when nothing blocks the deletion any more"
	case object.OrphanFinalizer:
		return "the garbage collector's: it takes it away when no dependent refers to the object any more"
	}
	if domain, _, ok := strings.Cut(finalizer, "/"); ok && domain != "" {
		return "set under the name " + domain + ": whoever runs that has to take it away"
	}
	return "its name does not say whose it is"
}
