package steps

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

// sweep is what others delete because a namespace or a CustomResourceDefinition
// goes: what has no step of its own.
type sweep struct {
	members []object.Identity
	left    int // those that stay terminating
}

// sweep finds for every outcome without a step the line that brings it about, and
// answers that by the object's UID.
func (l *layout) sweep() map[string]int {
	c := containers{namespaces: map[string]int{}, definitions: map[string]int{}, groups: map[string]int{}}
	own := make(map[object.Identity]bool, len(l.lines))
	for i := range l.lines {
		o := l.main(i).Object.Identity
		own[o] = true
		if l.deletes(i) {
			c.add(o, i)
		}
	}
	by := map[string]int{}
	for i := range l.plan.Outcomes {
		o := &l.plan.Outcomes[i]
		if own[o.Object] || o.State == plan.Changed {
			continue
		}
		if at, found := c.of(o.Object); found {
			l.lines[at].swept.add(o)
			by[string(o.Object.UID)] = at
		}
	}
	return by
}

// containers are the lines that delete what takes other objects along.
type containers struct {
	namespaces  map[string]int // by name
	definitions map[string]int // by name, which is plural.group
	groups      map[string]int // the first of the definitions of a group
}

func (c *containers) add(o object.Identity, line int) {
	switch {
	case isNamespace(o):
		c.namespaces[o.Name] = line
	case isDefinition(o):
		c.definitions[o.Name] = line
		_, group, named := strings.Cut(o.Name, ".")
		if _, known := c.groups[group]; named && !known {
			c.groups[group] = line
		}
	}
}

// of is the line with which an object goes. A plan does not say what the plural
// of a kind is: where it is not the regular one, the first definition of the
// group is as good a place to count the object at.
func (c *containers) of(o object.Identity) (line int, found bool) {
	if line, found = c.namespaces[o.Namespace]; found {
		return line, true
	}
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	if line, found = c.definitions[plural.GroupResource().String()]; found {
		return line, true
	}
	line, found = c.groups[plural.Group]
	return line, found
}

func (s *sweep) add(o *plan.Outcome) {
	s.members = append(s.members, o.Object)
	if o.State == plan.Terminating {
		s.left++
	}
}

// along says what goes along with a line's object, and how; it is empty where
// nothing does.
func (l *layout) along(i int) (what, how string) {
	s := &l.lines[i].swept
	if len(s.members) == 0 {
		return "", ""
	}
	what, how = phrase.Count(len(s.members), "object")+" in it", "go too"
	if isDefinition(l.main(i).Object.Identity) {
		what = phrase.Count(len(s.members), "object") + " of its kind"
	}
	if len(s.members) == 1 {
		how = "goes too"
	}
	if s.left > 0 {
		how += ", " + phrase.Thousands(s.left) + " of them held up on the way"
	}
	return what, how
}

func groupKind(o object.Identity) schema.GroupKind { return o.GroupVersionKind().GroupKind() }

func isNamespace(o object.Identity) bool { return groupKind(o) == schema.GroupKind{Kind: "Namespace"} }

func isDefinition(o object.Identity) bool {
	return groupKind(o) == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}
