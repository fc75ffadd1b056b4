package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// The apiVersion and kind of a saved plan. Another apiVersion in a file means
// another version of this program.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Plan"
)

// maxPlanBytes limits what is read of a plan; it is enough for about a million steps.
const maxPlanBytes = 1 << 30

// Save writes the plan as one indented JSON document, the same that -o json prints.
func (p *Plan) Save(w io.Writer) error {
	data, err := p.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s`, APIVersion, Kind, data[1:]), "", "    "); err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(w)
	return err
}

// Load reads what Save wrote. It refuses a plan that was changed: the checksum and the digest
// must match the file as stored, so that a plan of another version loads if this version
// knows its fields and reasons. Fields that the plan calls informational may be unknown. An
// error is one line that does not name the file.
func Load(r io.Reader) (*Plan, error) {
	data, err := input.ReadAll(r, maxPlanBytes)
	if err != nil {
		return nil, err
	}
	var head struct {
		APIVersion    string   `json:"apiVersion"`
		Kind          string   `json:"kind"`
		Informational []string `json:"informational"`
	}
	err = json.Unmarshal(data, &head)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("the file is empty")
	case head.Kind != "" && head.Kind != Kind:
		return nil, fmt.Errorf("it holds a %q, not a plan", head.Kind)
	case head.APIVersion != "" && head.APIVersion != APIVersion:
		return nil, fmt.Errorf("the plan has format %q, which this version of the program does not read (%s): make a new one", head.APIVersion, APIVersion)
	case err != nil:
		return nil, fmt.Errorf("not a plan: %w", err)
	case head.Kind == "":
		return nil, errors.New("not a plan: no apiVersion or kind")
	}
	known := canonical(data, func(_ int, key string) bool { return slices.Contains(head.Informational, key) })
	var f struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		stored
	}
	d := json.NewDecoder(bytes.NewReader(known))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("this version of the program cannot read the plan: %w: make a new one", err)
	}
	p, err := f.load()
	switch {
	case err != nil:
		return nil, fmt.Errorf("this version of the program cannot read the plan: %w: make a new one", err)
	case f.Checksum != checksum(data) || f.Digest != digest(data):
		return nil, errors.New("the plan was changed after it was made: its checksum or digest is not that of its content")
	}
	return p, nil
}

// stored is a plan as JSON documents hold it. Each reason is a code with parameters and a
// message, which nobody reads back.
type stored struct {
	storedHead
	Steps        []StoredStep         `json:"steps"`
	Outcomes     []Outcome            `json:"outcomes"`
	Blocked      []StoredBlocked      `json:"blocked"`
	Retained     []storedRetained     `json:"retained"`
	DeletedLater []storedDeletedLater `json:"deletedLater"`
	Kept         []storedKept         `json:"kept"`
	Lost         []storedLost         `json:"lost"`
	// Informational names fields that a version which does not know them may ignore.
	Informational []string `json:"informational"`
	Checksum      string   `json:"checksum"`
}

// storedHead is what precedes the lists.
type storedHead struct {
	Mode         Mode                  `json:"mode"`
	Complete     bool                  `json:"complete"`
	Gaps         []snapshot.Gap        `json:"gaps"`
	Summary      Summary               `json:"summary"`
	AcceptedGaps snapshot.AcceptedGaps `json:"acceptedGaps,omitempty"`
	Digest       string                `json:"digest"`
	ClusterUID   string                `json:"clusterUID,omitempty"`
}

type (
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

// storedList is a list of the stored form, whose elements are stored one at a time.
type storedList struct {
	key      string
	length   int
	element  func(i int) any
	optional bool // left out if it is empty
	null     bool
}

// lists returns the lists of the stored form, in their order.
func (p *Plan) lists() []storedList {
	return []storedList{
		{key: "steps", length: len(p.Steps), element: func(i int) any { return p.Steps[i].Store() }},
		{key: "outcomes", length: len(p.Outcomes), null: p.Outcomes == nil, element: func(i int) any { return &p.Outcomes[i] }},
		{key: "blocked", length: len(p.Blocked), element: func(i int) any { return p.Blocked[i].Store() }},
		{key: "retained", length: len(p.Retained), optional: true, element: func(i int) any {
			return storedRetained{&p.Retained[i], reason.Store(p.Retained[i].Reason)}
		}},
		{key: "deletedLater", length: len(p.DeletedLater), optional: true, element: func(i int) any {
			return storedDeletedLater{&p.DeletedLater[i], reason.Store(p.DeletedLater[i].Reason)}
		}},
		{key: "kept", length: len(p.Kept), optional: true, element: func(i int) any { return storedKept{&p.Kept[i], reason.Store(p.Kept[i].Reason)} }},
		{key: "lost", length: len(p.Lost), optional: true, element: func(i int) any { return storedLost{reason.Store(p.Lost[i].Reason), &p.Lost[i]} }},
	}
}

// encode writes the stored form, without a checksum, in the form that rewrite gives to JSON
// values at a depth and without the lists that drop reports. It encodes one element at a
// time, because the stored form is several times larger than the plan.
func (p *Plan) encode(w io.Writer, rewrite func(data []byte, depth int) []byte, drop dropFunc) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encode := func(value any, depth int) []byte {
		buffer.Reset()
		if err := encoder.Encode(value); err != nil {
			panic(fmt.Sprintf("encode a plan: %v", err)) // it holds only strings and numbers
		}
		return rewrite(bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), depth)
	}
	head := encode(storedHead{p.Mode, p.Complete, p.Gaps, p.Summary, p.AcceptedGaps, p.Digest, p.ClusterUID}, 1)
	_, _ = w.Write(head[:len(head)-1]) // neither a hash nor a buffer returns an error
	for _, list := range p.lists() {
		if list.optional && list.length == 0 || drop(1, list.key) {
			continue
		}
		if list.null {
			_, _ = io.WriteString(w, `,"`+list.key+`":null`)
			continue
		}
		_, _ = io.WriteString(w, `,"`+list.key+`":[`)
		for i := range list.length {
			if i > 0 {
				_, _ = io.WriteString(w, ",")
			}
			_, _ = w.Write(encode(list.element(i), 3))
		}
		_, _ = io.WriteString(w, "]")
	}
	_, _ = io.WriteString(w, "}")
}

// MarshalJSON implements json.Marshaler. It returns the stored form with its checksum.
func (p *Plan) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	p.encode(&out, func(data []byte, _ int) []byte { return data }, func(int, string) bool { return false })
	return fmt.Appendf(out.Bytes()[:out.Len()-1], `,"checksum":%q}`, p.sum(notChecked)), nil
}

// load returns the plan that was stored. A reason that is not known is an error.
func (s *stored) load() (*Plan, error) {
	p := &Plan{
		Mode: s.Mode, Complete: s.Complete, Gaps: s.Gaps, Summary: s.Summary, AcceptedGaps: s.AcceptedGaps,
		Digest: s.Digest, ClusterUID: s.ClusterUID, Outcomes: s.Outcomes,
	}
	var errs [6]error
	p.Steps, errs[0] = loadAll(s.Steps, func(of StoredStep) (*Step, reason.Stored) { return of.Step, of.Stored }, func(s *Step) *reason.Reason { return &s.Reason })
	p.Blocked, errs[1] = loadAll(s.Blocked, func(of StoredBlocked) (*Blocked, reason.Stored) { return of.Blocked, of.Stored }, func(b *Blocked) *reason.Reason { return &b.Reason })
	p.Retained, errs[2] = loadAll(s.Retained, func(of storedRetained) (*Retained, reason.Stored) { return of.Retained, of.Stored }, func(r *Retained) *reason.Reason { return &r.Reason })
	p.DeletedLater, errs[3] = loadAll(s.DeletedLater, func(of storedDeletedLater) (*DeletedLater, reason.Stored) { return of.DeletedLater, of.Stored }, func(l *DeletedLater) *reason.Reason { return &l.Reason })
	p.Kept, errs[4] = loadAll(s.Kept, func(of storedKept) (*Kept, reason.Stored) { return of.Kept, of.Stored }, func(k *Kept) *reason.Reason { return &k.Reason })
	p.Lost, errs[5] = loadAll(s.Lost, func(of storedLost) (*Lost, reason.Stored) { return of.Lost, of.Stored }, func(l *Lost) *reason.Reason { return &l.Reason })
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, err
	}
	return p, nil
}

// loadAll returns what was stored, each with its reason; nil where nothing was. The
// pointer that parts returns is nil if only the reason was stored.
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
