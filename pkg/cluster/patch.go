package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// operation is one of a JSON patch (RFC 6902), which every type understands.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// at is where a reference of that place is in a patch.
func at(i int) string { return "/metadata/ownerReferences/" + strconv.Itoa(i) }

// patchOf is the change as a JSON patch that fits o alone: another UID fails its test,
// another resourceVersion is a conflict. It touches single references by their place,
// never the others of the same UID (docs/differences.md#what-it-writes), and fails
// where the change names a place or a finalizer that o does not have.
func patchOf(o *object.Object, c object.Change) ([]byte, error) {
	ops := []operation{
		{"test", "/metadata/uid", o.UID},
		{"replace", "/metadata/resourceVersion", o.ResourceVersion},
	}
	for _, i := range c.Touched() {
		if i < 0 || i >= len(o.Owners) {
			return nil, fmt.Errorf("it has no owner reference %d", i)
		}
		ops = append(ops,
			operation{"test", at(i) + "/uid", o.Owners[i].UID},
			operation{"test", at(i) + "/name", o.Owners[i].Name})
	}
	for _, w := range c.Rewrite { // before a removal moves them
		ops = append(ops, rewriting(at(w.Index), o.Owners[w.Index], w.Reference)...)
	}
	for _, i := range c.Unblock { // before a removal, too
		ops = append(ops, operation{"add", at(i) + "/blockOwnerDeletion", false})
	}
	for _, i := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(c.Drop)))) { // no removal moves one that is still to come
		ops = append(ops, operation{Op: "remove", Path: at(i)})
	}
	for i, r := range c.Add {
		if i == 0 && len(o.Owners) == 0 {
			ops = append(ops, operation{"add", "/metadata/ownerReferences", []object.Reference{r}})
			continue
		}
		ops = append(ops, operation{"add", "/metadata/ownerReferences/-", r})
	}
	if c.Release != "" {
		i := slices.Index(o.Finalizers, c.Release)
		if i < 0 {
			return nil, fmt.Errorf("it has no finalizer %s", c.Release)
		}
		at := "/metadata/finalizers/" + strconv.Itoa(i)
		ops = append(ops, operation{"test", at, c.Release}, operation{Op: "remove", Path: at})
	}
	return json.Marshal(ops)
}

// rewriting replaces those fields of a reference that are to be others, and no more
// of it, once each is as it was: the UID and the name are tested already.
func rewriting(at string, from, to object.Reference) []operation {
	var ops []operation
	for _, field := range []struct{ name, from, to string }{
		{"apiVersion", from.APIVersion, to.APIVersion},
		{"kind", from.Kind, to.Kind},
		{"name", from.Name, to.Name},
		{"uid", string(from.UID), string(to.UID)},
	} {
		if field.from != field.to {
			path := at + "/" + field.name
			if field.name == "apiVersion" || field.name == "kind" {
				ops = append(ops, operation{"test", path, field.from})
			}
			ops = append(ops, operation{"replace", path, field.to})
		}
	}
	return ops
}
