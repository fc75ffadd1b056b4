package plan

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// Save writes the plan as one indented JSON document, the same that -o json prints.
func (p *Plan) Save(w io.Writer) error {
	out, checksum := bufio.NewWriter(w), newSum(notChecked) // out remembers the first error
	fmt.Fprintf(out, "{\n    \"apiVersion\": %q,\n    \"kind\": %q,", APIVersion, Kind)
	p.encode(indented(out), checksum.output)
	fmt.Fprintf(out, ",\n    \"checksum\": %q\n}\n", checksum.hex())
	return out.Flush()
}

// Load reads what Save wrote. It refuses a plan that was changed: the checksum and the digest
// must match the file as stored, so that a plan of another version loads if this version
// knows its fields and reasons. Fields that the plan calls informational may be unknown. An
// error is one line that does not name the file; that of a longer file is an *input.TooLongError.
func Load(r io.Reader, maxBytes int64) (*Plan, error) {
	data, err := input.ReadAll(r, maxBytes)
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
	Steps    []StoredStep     `json:"steps"`
	Outcomes []Outcome        `json:"outcomes"`
	Blocked  []StoredBlocked  `json:"blocked"`
	Retained []storedRetained `json:"retained"`
	Kept     []storedKept     `json:"kept"`
	Lost     []storedLost     `json:"lost"`
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

// opening returns what is written of the list before its first element.
func (l *storedList) opening() string {
	switch {
	case l.null:
		return "null"
	case l.length == 0:
		return "[]"
	}
	return "["
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
		{key: "kept", length: len(p.Kept), optional: true, element: func(i int) any { return storedKept{&p.Kept[i], reason.Store(p.Kept[i].Reason)} }},
		{key: "lost", length: len(p.Lost), optional: true, element: func(i int) any { return storedLost{reason.Store(p.Lost[i].Reason), &p.Lost[i]} }},
	}
}

// output is where encode writes, and in which form.
type output struct {
	to      io.Writer                           // a hash, or a writer that remembers its error
	rewrite func(data []byte, depth int) []byte // a value at that depth; valid until the next call
	newline func(depth int) string
	colon   string
	drop    dropFunc
}

func noNewline(int) string { return "" }

func keepAll(int, string) bool { return false }

// indented returns an output in the form of json.Indent with four spaces.
func indented(to io.Writer) output {
	var out bytes.Buffer
	newline := func(depth int) string { return "\n" + strings.Repeat("    ", depth) }
	return output{to: to, newline: newline, colon: ": ", drop: keepAll, rewrite: func(data []byte, depth int) []byte {
		out.Reset()
		_ = json.Indent(&out, data, newline(depth - 1)[1:], "    ") // what the encoder wrote is valid
		return out.Bytes()
	}}
}

// encode writes the fields of the stored form, without the braces around them and without
// the checksum. It encodes one element at a time, because the stored form is several times
// larger than the plan.
func (p *Plan) encode(outputs ...output) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoded := func(value any) []byte {
		buffer.Reset()
		if err := encoder.Encode(value); err != nil {
			panic(fmt.Sprintf("encode a plan: %v", err)) // it holds only strings and numbers
		}
		return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
	}
	head := encoded(storedHead{p.Mode, p.Complete, p.Gaps, p.Summary, p.AcceptedGaps, p.Digest, p.ClusterUID})
	for _, o := range outputs {
		_, _ = o.to.Write(bytes.TrimSuffix(o.rewrite(head, 1)[1:], []byte(o.newline(0)+"}")))
	}
	for _, list := range p.lists() {
		if list.optional && list.length == 0 {
			continue
		}
		into := slices.DeleteFunc(slices.Clone(outputs), func(o output) bool { return o.drop(1, list.key) })
		for _, o := range into {
			_, _ = io.WriteString(o.to, ","+o.newline(1)+`"`+list.key+`"`+o.colon+list.opening())
		}
		for i := range list.length {
			data := encoded(list.element(i))
			for _, o := range into {
				_, _ = io.WriteString(o.to, o.newline(2))
				_, _ = o.to.Write(o.rewrite(data, 3))
				if i < list.length-1 {
					_, _ = io.WriteString(o.to, ",")
				} else {
					_, _ = io.WriteString(o.to, o.newline(1)+"]")
				}
			}
		}
	}
}

// MarshalJSON implements json.Marshaler. It returns the stored form with its checksum.
func (p *Plan) MarshalJSON() ([]byte, error) {
	out, checksum := bytes.NewBufferString("{"), newSum(notChecked)
	unchanged := func(data []byte, _ int) []byte { return data }
	p.encode(output{out, unchanged, noNewline, ":", keepAll}, checksum.output)
	return fmt.Appendf(out.Bytes(), `,"checksum":%q}`, checksum.hex()), nil
}

// load returns the plan that was stored. A reason that is not known is an error.
func (s *stored) load() (*Plan, error) {
	p := &Plan{
		Mode: s.Mode, Complete: s.Complete, Gaps: s.Gaps, Summary: s.Summary, AcceptedGaps: s.AcceptedGaps,
		Digest: s.Digest, ClusterUID: s.ClusterUID, Outcomes: s.Outcomes,
	}
	var errs [5]error
	p.Steps, errs[0] = loadAll(s.Steps, func(of StoredStep) (*Step, reason.Stored) { return of.Step, of.Stored }, func(s *Step) *reason.Reason { return &s.Reason })
	p.Blocked, errs[1] = loadAll(s.Blocked, func(of StoredBlocked) (*Blocked, reason.Stored) { return of.Blocked, of.Stored }, func(b *Blocked) *reason.Reason { return &b.Reason })
	p.Retained, errs[2] = loadAll(s.Retained, func(of storedRetained) (*Retained, reason.Stored) { return of.Retained, of.Stored }, func(r *Retained) *reason.Reason { return &r.Reason })
	p.Kept, errs[3] = loadAll(s.Kept, func(of storedKept) (*Kept, reason.Stored) { return of.Kept, of.Stored }, func(k *Kept) *reason.Reason { return &k.Reason })
	p.Lost, errs[4] = loadAll(s.Lost, func(of storedLost) (*Lost, reason.Stored) { return of.Lost, of.Stored }, func(l *Lost) *reason.Reason { return &l.Reason })
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
