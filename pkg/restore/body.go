package restore

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Body is what the i-th step sends to have its object made: the manifest that was
// saved, without what the server sets and what belonged to the object that is
// gone, and with these owner references alone.
func (r *Restoration) Body(i int, refs []object.Reference) (json.RawMessage, error) {
	saved := r.works[i].saved
	raw, err := r.read(saved)
	if err != nil {
		return nil, err
	}
	m, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read manifest of %s: %w", saved.Object, err)
	}
	clean(m, kindOf(saved.Object), r.surroundings)
	m.own(refs)
	return json.Marshal(m)
}

// WithoutAllocatedFields is a body that asks for less where the server refuses it as it is: a
// Service without the addresses and ports that are taken. It answers false where
// there is nothing to leave out.
func WithoutAllocatedFields(o object.Identity, body json.RawMessage) (json.RawMessage, bool) {
	if of := o.GroupVersionKind().GroupKind(); of.Group != "" || of.Kind != "Service" {
		return nil, false
	}
	m, err := parse(body)
	if err != nil || !plainer(m) {
		return nil, false
	}
	out, err := json.Marshal(m)
	return out, err == nil
}
