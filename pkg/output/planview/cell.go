package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// How many characters of a string from the cluster are shown. A real object
// fits, so that it can be pasted back; what is longer was made to be.
const (
	objectWidth = 400
	reasonWidth = 400
	textWidth   = 200
)

// mostNamed is how many finalizers one line names.
const mostNamed = 3

func text(s string) string { return escape.Short(s, textWidth) }

func name(o object.Identity) string { return escape.Short(o.String(), objectWidth) }

func namespace(o object.Identity) string {
	if o.Namespace == "" {
		return "-" // cluster-scoped
	}
	return text(o.Namespace)
}
