package plan

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Kind is the kind of the JSON document of a plan.
const Kind = "Plan"

type (
	// StoredStep is a step as JSON documents hold it: with its reason as a code, parameters and a message.
	StoredStep struct {
		stepFields
		reason.Stored
		ManagedBy *reason.Stored `json:"managedBy,omitempty"` // who may recreate the object
	}
	stepFields struct {
		ID                 string                `json:"id"`
		Pass               int                   `json:"pass"`
		Requested          bool                  `json:"requested,omitempty"`
		Action             Action                `json:"action"`
		Object             ObjectState           `json:"object"`
		PropagationPolicy  string                `json:"propagationPolicy"`            // of a deletion
		GracePeriodSeconds *int64                `json:"gracePeriodSeconds,omitempty"` // requested; nil: the object's own
		OwnerUIDs          []types.UID           `json:"ownerUIDs"`
		Finalizer          string                `json:"finalizer"`
		After              []string              `json:"after"`
		References         []StepReference       `json:"references"`
		AcceptedGaps       snapshot.AcceptedGaps `json:"acceptedGaps,omitempty"`
		Follows            string                `json:"follows"`
		WaitsForKubelet    bool                  `json:"waitsForKubelet,omitempty"`
		Manifest           string                `json:"manifest,omitempty"`
	}
	// StoredBlocked is a blocked object as JSON documents hold it.
	StoredBlocked struct {
		*Blocked
		reason.Stored
	}
	storedRetained struct {
		*Retained
		reason.Stored
	}
	storedKept struct {
		*Kept
		reason.Stored
	}
	storedLost struct {
		reason.Stored
		*Lost
	}
)

// Store returns the step in its stored form, which shares its fields.
func (s *Step) Store() StoredStep {
	out := StoredStep{s.fields(), reason.Store(s.Reason), nil}
	if s.ManagedBy != nil {
		out.ManagedBy = reason.StoreOptional(*s.ManagedBy)
	}
	return out
}

func (s *Step) fields() stepFields {
	out := stepFields{
		ID: s.ID, Pass: s.Pass, Requested: s.Requested, Action: s.Action, Object: s.Object, OwnerUIDs: s.OwnerUIDs(), Finalizer: s.Finalizer(),
		After: s.After, References: s.References, AcceptedGaps: s.AcceptedGaps, Follows: s.Follows,
	}
	if d := s.Deletion; d != nil {
		out.PropagationPolicy, out.GracePeriodSeconds, out.WaitsForKubelet = string(d.Policy), d.GraceSeconds, d.WaitsForKubelet
	}
	if s.Creation != nil {
		out.Manifest = s.Creation.Manifest
	}
	return out
}

// Store returns the blocked object in its stored form, which shares its fields.
func (b *Blocked) Store() StoredBlocked { return StoredBlocked{b, reason.Store(b.Reason)} }

// MarshalJSON implements json.Marshaler.
func (p *Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mode         Mode                  `json:"mode"`
		Complete     bool                  `json:"complete"`
		Gaps         []snapshot.Gap        `json:"gaps"`
		Summary      Summary               `json:"summary"`
		AcceptedGaps snapshot.AcceptedGaps `json:"acceptedGaps,omitempty"`
		Digest       string                `json:"digest"`
		Steps        []StoredStep          `json:"steps"`
		Outcomes     []Outcome             `json:"outcomes"`
		Blocked      []StoredBlocked       `json:"blocked"`
		Retained     []storedRetained      `json:"retained,omitempty"`
		Kept         []storedKept          `json:"kept,omitempty"`
		Lost         []storedLost          `json:"lost,omitempty"`

		LostBackends    []reason.Stored `json:"lostBackends,omitempty"`
		BackendsUnknown bool            `json:"backendsUnknown,omitempty"`
	}{
		p.Mode, p.Complete, p.Gaps, p.Summary(), p.AcceptedGaps, p.Digest(), stored(p.Steps, (*Step).Store), p.Outcomes, stored(p.Blocked, (*Blocked).Store),
		stored(p.Retained, func(r *Retained) storedRetained { return storedRetained{r, reason.Store(r.Reason)} }),
		stored(p.Kept, func(k *Kept) storedKept { return storedKept{k, reason.Store(k.Reason)} }),
		stored(p.Lost, func(l *Lost) storedLost { return storedLost{reason.Store(l.Reason), l} }),
		stored(p.LostBackends, func(b *reason.BackendLost) reason.Stored { return reason.Store(*b) }), p.BackendsUnknown,
	})
}

func stored[T, S any](all []T, store func(*T) S) []S {
	out := make([]S, len(all))
	for i := range all {
		out[i] = store(&all[i])
	}
	return out
}
