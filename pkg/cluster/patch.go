package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// operation is one of a JSON patch (RFC 6902), which every type understands.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

const owners = "/metadata/ownerReferences/"

// patchOf is the change as a JSON patch that fits o alone: another UID fails
// its test, another resourceVersion is a conflict. It touches single references
// by their place, never the others of the same UID (gc-semantics 10.2), and
// fails where the change names a place or a finalizer that o does not have.
func patchOf(o *object.Object, c object.Change) ([]byte, error) {
	ops := []operation{
		{"test", "/metadata/uid", o.UID},
		{"replace", "/metadata/resourceVersion", o.ResourceVersion},
	}
	touched := slices.Concat(c.Unblock, c.Drop)
	slices.Sort(touched)
	for _, i := range slices.Compact(touched) {
		if i < 0 || i >= len(o.Owners) {
			return nil, fmt.Errorf("it has no owner reference %d", i)
		}
		at := owners + strconv.Itoa(i)
		ops = append(ops,
			operation{"test", at + "/uid", o.Owners[i].UID},
			operation{"test", at + "/name", o.Owners[i].Name})
	}
	for _, i := range c.Unblock { // before a removal moves them
		ops = append(ops, operation{"add", owners + strconv.Itoa(i) + "/blockOwnerDeletion", false})
	}
	for _, i := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(c.Drop)))) { // no removal moves one that is still to come
		ops = append(ops, operation{Op: "remove", Path: owners + strconv.Itoa(i)})
	}
	for i, r := range c.Add {
		if i == 0 && len(o.Owners) == 0 {
			ops = append(ops, operation{"add", strings.TrimSuffix(owners, "/"), []object.Reference{r}})
			continue
		}
		ops = append(ops, operation{"add", owners + "-", r})
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
