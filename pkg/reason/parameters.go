package reason

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// All means every group, resource or namespace of a gap.
const All = "*"

// Gap names a resource type, an API group or a namespace that could not be read.
type Gap struct {
	Group      string `json:"group"`
	Resource   string `json:"resource"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"` // set: not the type, but this object of it could not be read
	ErrorClass string `json:"errorClass"`     // why, as gaps[].reason has it
	// Objects and MoreObjects are as in gaps[].
	Objects     []string `json:"objects,omitempty"`
	MoreObjects bool     `json:"moreObjects,omitempty"`
}

// Why returns the error class, or the objects that keep the type from being read.
func (g Gap) Why() string {
	n := len(g.Objects)
	if n == 0 {
		return g.ErrorClass
	}
	names, count := first(mostNamed, g.Objects, ", ", "and %d more", func(name string) string { return name }), Count(n, "object")
	if g.MoreObjects {
		count = "at least " + count
	}
	return fmt.Sprintf("%s in etcd cannot be read: %s", count, names)
}

// String returns the gap as kubectl names types: resource.group.
func (g Gap) String() string {
	switch {
	case g.Group == All && g.ErrorClass == classNotInFile:
		return "objects that are not in the file"
	case g.Group == All && g.Namespace != "":
		return "namespace " + g.Namespace
	case g.Group == All:
		return "all other types"
	case g.Resource == All:
		return "API group " + cmp.Or(g.Group, "core")
	}
	name := strings.TrimSuffix(g.Resource+"."+g.Group, ".")
	if g.Name != "" {
		name += "/" + g.Name
	}
	switch g.Namespace {
	case "":
	case All:
		name += " in other namespaces"
	default:
		name += " in namespace " + g.Namespace
	}
	return name
}

// listGaps returns the first few gaps with why each could not be read.
func listGaps(gaps []Gap) string {
	return first(3, gaps, ", ", "and %d more", func(g Gap) string { return fmt.Sprintf("%s (%s)", g, g.Why()) })
}

// Since is how long a deletion had been under way when the cluster was scanned. The deletion
// timestamp of a Pod that is stopping is later than the scan, if it still has time.
type Since struct {
	Deleted time.Time `json:"deleted,omitzero"` // zero: it is not being deleted
	Scanned time.Time `json:"scanned,omitzero"`
}

// Age returns how long the deletion had been under way.
func (s Since) Age() time.Duration { return s.Scanned.Sub(s.Deleted) }

func (s Since) phrase() string {
	if s.Deleted.IsZero() || s.Age() < time.Second {
		return ""
	}
	return " for " + duration.HumanDuration(s.Age())
}

// Suggestion is what a person may do about what was found.
type Suggestion struct {
	Sentence string   `json:"sentence"`
	Command  []string `json:"command"` // its words, unquoted; may be empty
}

// Failure is an error of the API server or of the disk.
type Failure struct {
	// ErrorClass is as in gaps[].reason, or conflict, gone, invalid, refused or exists;
	// empty where the error has none of these classes.
	ErrorClass string `json:"errorClass,omitempty"`
	Detail     string `json:"detail"`         // the text of the error
	Hint       string `json:"hint,omitempty"` // what a person may do about it
}

// Text returns the text of the error and the hint.
func (f *Failure) Text() string {
	if f.Hint != "" {
		return fmt.Sprintf("%s (%s)", f.Detail, f.Hint)
	}
	return f.Detail
}

// failed returns reasons that carry a Failure. The message is the text of the failure after a beginning.
func failed(code Code, beginning string) func(Failure) *Reason {
	return says(code, "", func(f Failure) string { return beginning + f.Text() })
}

// Count returns a number with its noun, which takes an s: "1 object", "2 objects".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// named returns the first of several objects, and how manymore there are.
func named(of []object.Identity) string {
	switch len(of) {
	case 0:
		return "another object"
	case 1:
		return of[0].String()
	}
	return fmt.Sprintf("%s and %d more", of[0], len(of)-1)
}

// mostNamed is how many objects a sentence names before it counts the rest.
const mostNamed = 4

// firstFew returns the first few of several phrases, and how manymore there are.
func firstFew[T any](of []T, phrase func(T) string) string {
	return first(mostNamed, of, "; ", "and %d more", phrase)
}

// first joins the first few of several phrases; more is the format for the number of the others.
func first[T any](most int, of []T, separator, more string, phrase func(T) string) string {
	var phrases []string
	for _, item := range of[:min(len(of), most)] {
		phrases = append(phrases, phrase(item))
	}
	if len(of) > most {
		phrases = append(phrases, fmt.Sprintf(more, len(of)-most))
	}
	return strings.Join(phrases, separator)
}
