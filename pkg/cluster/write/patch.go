package write

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// patchOperation is one of a JSON patch (RFC 6902), which every type understands.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// referencePath is where a reference of that place is in a patch.
func referencePath(i int) string { return "/metadata/ownerReferences/" + strconv.Itoa(i) }

// patchOf is the change as a JSON patch that fits o alone: another UID fails its test,
// another resourceVersion is a conflict. It touches single references by their place,
// never the others of the same UID (docs/differences.md#what-it-writes), and fails
// where the change names a place or a finalizer that o does not have.
func patchOf(o *object.Object, c object.Change) ([]byte, error) {
	ops := []patchOperation{
		{"test", "/metadata/uid", o.UID},
		{"replace", "/metadata/resourceVersion", o.ResourceVersion},
	}
	for _, i := range c.Touched() {
		if i < 0 || i >= len(o.Owners) {
			return nil, fmt.Errorf("it has no owner reference %d", i)
		}
		ops = append(ops,
			patchOperation{"test", referencePath(i) + "/uid", o.Owners[i].UID},
			patchOperation{"test", referencePath(i) + "/name", o.Owners[i].Name})
	}
	for _, w := range c.Rewrite { // before a removal moves them
		ops = append(ops, rewriteOperations(referencePath(w.Index), o.Owners[w.Index], w.Reference)...)
	}
	for _, i := range c.Unblock { // before a removal, too
		ops = append(ops, patchOperation{"add", referencePath(i) + "/blockOwnerDeletion", false})
	}
	for _, i := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(c.Drop)))) { // no removal moves one that is still to come
		ops = append(ops, patchOperation{Op: "remove", Path: referencePath(i)})
	}
	for i, r := range c.Add {
		if i == 0 && len(o.Owners) == 0 {
			ops = append(ops, patchOperation{"add", "/metadata/ownerReferences", []object.Reference{r}})
			continue
		}
		ops = append(ops, patchOperation{"add", "/metadata/ownerReferences/-", r})
	}
	if c.Release != "" {
		i := slices.Index(o.Finalizers, c.Release)
		if i < 0 {
			return nil, fmt.Errorf("it has no finalizer %s", c.Release)
		}
		at := "/metadata/finalizers/" + strconv.Itoa(i)
		ops = append(ops, patchOperation{"test", at, c.Release}, patchOperation{Op: "remove", Path: at})
	}
	return json.Marshal(ops)
}

// rewriteOperations replaces those fields of a reference that are to be others, and no more
// of it, once each is as it was: the UID and the name are tested already.
func rewriteOperations(at string, from, to object.Reference) []patchOperation {
	var ops []patchOperation
	for _, field := range []struct{ name, from, to string }{
		{"apiVersion", from.APIVersion, to.APIVersion},
		{"kind", from.Kind, to.Kind},
		{"name", from.Name, to.Name},
		{"uid", string(from.UID), string(to.UID)},
	} {
		if field.from != field.to {
			path := at + "/" + field.name
			if field.name == "apiVersion" || field.name == "kind" {
				ops = append(ops, patchOperation{"test", path, field.from})
			}
			ops = append(ops, patchOperation{"replace", path, field.to})
		}
	}
	return ops
}
