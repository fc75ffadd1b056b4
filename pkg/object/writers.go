package object

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Write is what the API server recorded of a manager that wrote a reference or a finalizer: an
// entry of metadata.managedFields.
type Write struct {
	Manager     string `json:"manager"`               // not escaped
	Operation   string `json:"operation"`             // Apply or Update
	Subresource string `json:"subresource,omitempty"` // through which it wrote; empty for the object itself
	// Time is when the manager last changed any field of its entry, so it wrote this one then, or
	// before. It is zero if the API server did not record it: it does not for a manager that
	// applies what is there already.
	Time time.Time `json:"time,omitzero"`
}

// Writers holds, for the owner references and finalizers of one object, the managers that wrote
// them: first those without a time, the latest last. What has no entry is unknown.
type Writers struct {
	References map[types.UID][]Write // by the owner's UID
	Finalizers map[string][]Write
}

// The API server writes these in place of a manager that it does not know (any more).
const (
	beforeFirstApply = "before-first-apply" // the object had no managedFields when it was first applied
	ancientChanges   = "ancient-changes"    // it keeps ten entries of updates, and merges older ones
)

// WritersOf returns who wrote the references and finalizers according to managedFields. It ignores an
// entry that names no manager, or that it cannot read. It ignores an entry that owns a list without
// its elements, too: that does not tell who wrote an element.
func WritersOf(entries []metav1.ManagedFieldsEntry) Writers {
	out := Writers{References: map[types.UID][]Write{}, Finalizers: map[string][]Write{}}
	for _, e := range entries {
		if e.Manager == "" || e.Manager == beforeFirstApply || e.Manager == ancientChanges || e.FieldsType != "FieldsV1" || e.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				References map[string]json.RawMessage `json:"f:ownerReferences"`
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		w := Write{Manager: e.Manager, Operation: string(e.Operation), Subresource: e.Subresource}
		if e.Time != nil {
			w.Time = e.Time.UTC()
		}
		for element := range fields.Metadata.References {
			var key struct{ UID types.UID }
			if readElement(element, "k:", &key) && key.UID != "" {
				out.References[key.UID] = append(out.References[key.UID], w)
			}
		}
		for element := range fields.Metadata.Finalizers {
			var name string
			if readElement(element, "v:", &name) {
				out.Finalizers[name] = append(out.Finalizers[name], w)
			}
		}
	}
	for _, writes := range out.References {
		sortWrites(writes)
	}
	for _, writes := range out.Finalizers {
		sortWrites(writes)
	}
	return out
}

// ActiveWriters returns the managers that wrote the status or a finalizer and changed that after a time. Whoever
// creates an object or uses kubectl may be a person.
func ActiveWriters(entries []metav1.ManagedFieldsEntry, after time.Time) []string {
	var out []string
	for _, e := range entries {
		wrote := e.Subresource == "status" || e.FieldsV1 != nil && bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:finalizers"`))
		if wrote && e.Time != nil && e.Time.After(after) && !strings.HasPrefix(e.Manager, "kubectl") && !slices.Contains(out, e.Manager) {
			out = append(out, e.Manager)
		}
	}
	return out
}

// readElement decodes the element of a list as FieldsV1 names it, and reports whether it has that
// prefix and is valid.
func readElement(element, prefix string, into any) bool {
	return len(element) > len(prefix) && element[:len(prefix)] == prefix && json.Unmarshal([]byte(element[len(prefix):]), into) == nil
}

// sortWrites puts those without a time first, and the latest last. Those of the same time keep the
// API server's order.
func sortWrites(writes []Write) {
	slices.SortStableFunc(writes, func(a, b Write) int { return a.Time.Compare(b.Time) })
}
