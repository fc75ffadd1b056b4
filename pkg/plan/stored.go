package plan

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// stored is a plan as JSON documents hold it: each reason is a code with parameters,
// beside its sentence. A field of it that has the JSON name of one of fields hides that.
type stored struct {
	*fields
	Steps        []StoredStep         `json:"steps"`
	Outcomes     []Outcome            `json:"outcomes"`
	Blocked      []StoredBlocked      `json:"blocked"`
	Retained     []storedRetained     `json:"retained,omitempty"`
	DeletedLater []storedDeletedLater `json:"deletedLater,omitempty"`
	Kept         []storedKept         `json:"kept,omitempty"`
	Lost         []storedLost         `json:"lost,omitempty"`
	// Informational names fields that a version which does not know them may ignore.
	Informational []string `json:"informational,omitempty"`
	Checksum      string   `json:"checksum,omitempty"`
}

type (
	fields Plan
	// StoredStep is a step as JSON documents hold it.
	StoredStep struct {
		*Step
		reason.Stored
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
	storedDeletedLater struct {
		*DeletedLater
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
func (s *Step) Store() StoredStep { return StoredStep{s, reason.Store(s.Reason)} }

// Store returns the blocked object in its stored form, which shares its fields.
func (b *Blocked) Store() StoredBlocked { return StoredBlocked{b, reason.Store(b.Reason)} }

// store returns the plan in its stored form, without a checksum.
func (p *Plan) store() *stored {
	out := &stored{fields: (*fields)(p), Steps: make([]StoredStep, len(p.Steps)), Outcomes: p.Outcomes, Blocked: make([]StoredBlocked, len(p.Blocked))} // [] in JSON where there are none
	for i := range p.Steps {
		out.Steps[i] = p.Steps[i].Store()
	}
	for i := range p.Blocked {
		out.Blocked[i] = p.Blocked[i].Store()
	}
	for i := range p.Retained {
		out.Retained = append(out.Retained, storedRetained{&p.Retained[i], reason.Store(p.Retained[i].Reason)})
	}
	for i := range p.DeletedLater {
		out.DeletedLater = append(out.DeletedLater, storedDeletedLater{&p.DeletedLater[i], reason.Store(p.DeletedLater[i].Reason)})
	}
	for i := range p.Kept {
		out.Kept = append(out.Kept, storedKept{&p.Kept[i], reason.Store(p.Kept[i].Reason)})
	}
	for i := range p.Lost {
		out.Lost = append(out.Lost, storedLost{reason.Store(p.Lost[i].Reason), &p.Lost[i]})
	}
	return out
}

// load returns the plan that was stored. A reason that is not known is an error.
func (s *stored) load() (*Plan, error) {
	p := (*Plan)(s.fields)
	p.Outcomes = s.Outcomes
	var errs [6]error
	p.Steps, errs[0] = loadAll(s.Steps, func(of StoredStep) (*Step, reason.Stored) { return of.Step, of.Stored }, func(s *Step) *reason.Reason { return &s.Reason })
	p.Blocked, errs[1] = loadAll(s.Blocked, func(of StoredBlocked) (*Blocked, reason.Stored) { return of.Blocked, of.Stored }, func(b *Blocked) *reason.Reason { return &b.Reason })
	p.Retained, errs[2] = loadAll(s.Retained, func(of storedRetained) (*Retained, reason.Stored) { return of.Retained, of.Stored }, func(r *Retained) *reason.Reason { return &r.Reason })
	p.DeletedLater, errs[3] = loadAll(s.DeletedLater, func(of storedDeletedLater) (*DeletedLater, reason.Stored) { return of.DeletedLater, of.Stored }, func(l *DeletedLater) *reason.Reason { return &l.Reason })
	p.Kept, errs[4] = loadAll(s.Kept, func(of storedKept) (*Kept, reason.Stored) { return of.Kept, of.Stored }, func(k *Kept) *reason.Reason { return &k.Reason })
	p.Lost, errs[5] = loadAll(s.Lost, func(of storedLost) (*Lost, reason.Stored) { return of.Lost, of.Stored }, func(l *Lost) *reason.Reason { return &l.Reason })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// loadAll returns what was stored, each with its reason; nil where nothing was. The
// pointer that parts returns may be nil, where no field but the reason was stored.
func loadAll[S, T any](all []S, parts func(S) (*T, reason.Stored), into func(*T) *reason.Reason) ([]T, error) {
	if all == nil {
		return nil, nil
	}
	out := make([]T, len(all))
	for i, s := range all {
		of, why := parts(s)
		if of != nil {
			out[i] = *of
		}
		r, err := why.Load()
		if err != nil {
			return nil, err
		}
		*into(&out[i]) = r
	}
	return out, nil
}

// encoded returns the stored form as JSON.
func (s *stored) encoded() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("encode a plan: %v", err)) // only strings and numbers
	}
	return data
}

// sign returns the plan in its stored form, with the checksum of that.
func (p *Plan) sign() *stored {
	s := p.store()
	s.Checksum = checksum(s.encoded())
	return s
}

// MarshalJSON implements json.Marshaler: it returns the stored form with its checksum.
func (p *Plan) MarshalJSON() ([]byte, error) {
	return p.sign().encoded(), nil
}
