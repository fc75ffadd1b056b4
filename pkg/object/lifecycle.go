package object

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Lifecycle is what an object says about its end outside of the metadata that a scan keeps: when a controller
// besides the garbage collector deletes it, and what its own controller does without it.
type Lifecycle struct {
	With Identity `json:"with,omitzero"` // what it is deleted with; the UID is empty if the object names none
}

// whole has the fields that decide, under their names in JSON.
type whole struct {
	Type     string
	Metadata struct{ Annotations map[string]string }
}

// lifecycles reads the Lifecycle of the kinds that have one.
var lifecycles = map[schema.GroupKind]func(i Identity, w *whole, l *Lifecycle){
	{Kind: "Secret"}: func(i Identity, w *whole, l *Lifecycle) {
		if w.Type == "kubernetes.io/service-account-token" {
			l.With = AccountOfToken(i.Namespace, w.Metadata.Annotations)
		}
	},
}

// LifecycleOf returns the Lifecycle of an object from its JSON, and nil if its kind has none or it is malformed.
func LifecycleOf(i Identity, raw json.RawMessage) *Lifecycle {
	read := lifecycles[i.GroupVersionKind().GroupKind()]
	var w whole
	if read == nil || json.Unmarshal(raw, &w) != nil {
		return nil
	}
	l := &Lifecycle{}
	read(i, &w, l)
	return l
}

// AccountOfToken returns the ServiceAccount of a token Secret in that namespace.
func AccountOfToken(namespace string, annotations map[string]string) Identity {
	const prefix = "kubernetes.io/service-account."
	return Identity{
		APIVersion: "v1", Kind: "ServiceAccount", Namespace: namespace, Name: annotations[prefix+"name"], UID: types.UID(annotations[prefix+"uid"]),
	}
}
