package write

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// patchOperation is a JSON patch operation (RFC 6902). Every type supports JSON patches.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// referencePath returns the path of an owner reference.
func referencePath(i int) string { return "/metadata/ownerReferences/" + strconv.Itoa(i) }

// patchOf returns a change as a JSON patch that applies only to o in its present state: another
// UID fails a test, another resourceVersion is a conflict. It changes single references by index,
// never others of the same UID (docs/differences.md#what-it-writes). It returns an error if
// o lacks a reference or finalizer of the change.
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
	for _, w := range c.Rewrite { // before removals shift the indexes
		ops = append(ops, rewriteOperations(referencePath(w.Index), o.Owners[w.Index], w.Reference)...)
	}
	for _, i := range c.Unblock { // before removals, too
		ops = append(ops, patchOperation{"add", referencePath(i) + "/blockOwnerDeletion", false})
	}
	for _, i := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(c.Drop)))) { // backwards, so that removals do not shift the next index
		ops = append(ops, patchOperation{Op: "remove", Path: referencePath(i)})
	}
	for i, r := range c.Add {
		if i == 0 && len(o.Owners) == 0 {
			ops = append(ops, patchOperation{"add", "/metadata/ownerReferences", []object.Reference{r}})
			continue
		}
		ops = append(ops, patchOperation{"add", "/metadata/ownerReferences/-", r})
	}
	if c.RemoveFinalizer != "" {
		i := slices.Index(o.Finalizers, c.RemoveFinalizer)
		if i < 0 {
			return nil, fmt.Errorf("it has no finalizer %s", c.RemoveFinalizer)
		}
		at := "/metadata/finalizers/" + strconv.Itoa(i)
		ops = append(ops, patchOperation{"test", at, c.RemoveFinalizer}, patchOperation{Op: "remove", Path: at})
	}
	return json.Marshal(ops)
}

// rewriteOperations replaces the fields of a reference that differ, after testing their old
// values. UID and name are tested already.
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
