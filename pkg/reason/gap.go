package reason

import (
	"cmp"
	"fmt"
	"strings"
)

// All stands for every group, resource or namespace of a gap.
const All = "*"

// Gap names a resource type, an API group or a namespace that could not be read.
type Gap struct {
	Group      string `json:"group"`
	Resource   string `json:"resource"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"` // set: not the type, but this object of it could not be read
	ErrorClass string `json:"errorClass"`     // why, as gaps[].reason has it
}

// String returns the gap as kubectl names types: resource.group.
func (g Gap) String() string {
	switch {
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
	const most = 3
	var names []string
	for i, g := range gaps {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(gaps)-most))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", g, g.ErrorClass))
	}
	return strings.Join(names, ", ")
}
