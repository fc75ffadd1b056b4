package oracle

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// containers returns the Namespace and the CustomResourceDefinition that an object is deleted
// with.
func containers(s scenario.Scenario, o *scenario.Object) []types.UID {
	t := typeOf(s.Types, o)
	var out []types.UID
	for i := range s.Objects {
		c := &s.Objects[i]
		switch typeOf(s.Types, c).Kind {
		case namespace.Kind:
			if o.Namespace == c.Name {
				out = append(out, c.UID)
			}
		case definition.Kind:
			if groupResource(t) == c.Name {
				out = append(out, c.UID)
			}
		}
	}
	return out
}

// withContainer reports whether an object's Namespace or CustomResourceDefinition is deleted
// at an end.
func withContainer(s scenario.Scenario, e End, o *scenario.Object) bool {
	for _, c := range containers(s, o) {
		if e.Deleted(c) {
			return true
		}
	}
	return false
}

// explained returns the objects that are deleted at an end because of others: those in first,
// and all whose owner, by UID, or container is deleted and explained as well. An object that
// was terminating before needs no explanation.
func explained(s scenario.Scenario, e End, first map[types.UID]bool) map[types.UID]bool {
	out := map[types.UID]bool{}
	for i := range s.Objects {
		o := &s.Objects[i]
		out[o.UID] = first[o.UID] || o.DeletionTimestamp != nil
	}
	for changed := true; changed; {
		changed = false
		for i := range s.Objects {
			o := &s.Objects[i]
			if out[o.UID] || !e.Deleted(o.UID) {
				continue
			}
			causes := containers(s, o)
			for _, r := range o.OwnerReferences {
				if r.UID != o.UID {
					causes = append(causes, r.UID)
				}
			}
			for _, cause := range causes {
				if out[cause] && e.Deleted(cause) {
					out[o.UID], changed = true, true
				}
			}
		}
	}
	return out
}
