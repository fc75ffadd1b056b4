package plan

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Kind is the kind of the JSON document of a plan.
const Kind = "Plan"

// StepDocument is a step as JSON documents hold it.
type StepDocument struct {
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
	*reason.Reason
	ManagedBy *reason.Reason `json:"managedBy,omitempty"` // who may recreate the object
}

// Document returns the step as JSON documents hold it. It shares the step's fields.
func (s *Step) Document() StepDocument {
	out := StepDocument{
		ID: s.ID, Pass: s.Pass, Requested: s.Requested, Action: s.Action, Object: s.Object, OwnerUIDs: s.OwnerUIDs(), Finalizer: s.Finalizer(),
		After: s.After, References: s.References, AcceptedGaps: s.AcceptedGaps, Follows: s.Follows, Reason: s.Reason,
	}
	if d := s.Deletion; d != nil {
		out.PropagationPolicy, out.GracePeriodSeconds, out.WaitsForKubelet = string(d.Policy), d.GraceSeconds, d.WaitsForKubelet
	}
	if s.Creation != nil {
		out.Manifest = s.Creation.Manifest
	}
	if s.ManagedBy != nil {
		out.ManagedBy = reason.Of(*s.ManagedBy)
	}
	return out
}

// MarshalJSON implements json.Marshaler.
func (p *Plan) MarshalJSON() ([]byte, error) {
	steps := make([]StepDocument, len(p.Steps))
	for i := range p.Steps {
		steps[i] = p.Steps[i].Document()
	}
	backends := make([]*reason.Reason, len(p.LostBackends))
	for i, b := range p.LostBackends {
		backends[i] = reason.Of(b)
	}
	return json.Marshal(struct {
		Mode         Mode                  `json:"mode"`
		Complete     bool                  `json:"complete"`
		Gaps         []snapshot.Gap        `json:"gaps"`
		Summary      Summary               `json:"summary"`
		AcceptedGaps snapshot.AcceptedGaps `json:"acceptedGaps,omitempty"`
		Digest       string                `json:"digest"`
		Steps        []StepDocument        `json:"steps"`
		Outcomes     []Outcome             `json:"outcomes"`
		Blocked      []Blocked             `json:"blocked"`
		Retained     []Retained            `json:"retained,omitempty"`
		Kept         []Kept                `json:"kept,omitempty"`
		Lost         []Lost                `json:"lost,omitempty"`

		LostBackends    []*reason.Reason `json:"lostBackends,omitempty"`
		BackendsUnknown bool             `json:"backendsUnknown,omitempty"`
		Impacts         []*reason.Reason `json:"impacts,omitempty"`
	}{
		p.Mode, p.Complete, p.Gaps, p.Summary(), p.AcceptedGaps, p.Digest(), steps, p.Outcomes, append([]Blocked{}, p.Blocked...),
		p.Retained, p.Kept, p.Lost, backends, p.BackendsUnknown, p.Impacts,
	})
}
