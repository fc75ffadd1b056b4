package reason

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Code is the stable name of a reason, in CamelCase as in the conditions of Kubernetes
// objects. It is part of the JSON contract.
type Code string

// Reason is why something is done, is not done, or is the case.
type Reason interface {
	// Message returns the sentence for people, without a full stop. It is not escaped.
	Message() string
}

// CodeOf returns the code of a reason, and an empty one for nil.
func CodeOf(r Reason) Code {
	if r == nil {
		return ""
	}
	return Code(reflect.TypeOf(r).Name())
}

// Message returns the sentence of a reason, and an empty one for nil.
func Message(r Reason) string {
	if r == nil {
		return ""
	}
	return r.Message()
}

// Stored is a reason as JSON documents hold it: to be embedded in the struct that is
// encoded. The zero value stands for no reason.
type Stored struct {
	Code       Code            `json:"reason"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // an object; nil where the reason has none
	Message    string          `json:"message"`
}

// Store returns a reason, which may be nil, in its stored form.
func Store(r Reason) Stored {
	if r == nil {
		return Stored{}
	}
	parameters, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("encode the parameters of %s: %v", CodeOf(r), err)) // they are strings and numbers
	}
	if string(parameters) == "{}" {
		parameters = nil
	}
	return Stored{CodeOf(r), parameters, r.Message()}
}

// StoreOptional is Store for documents that leave out what there is no reason for: it
// returns nil for nil.
func StoreOptional(r Reason) *Stored {
	if r == nil {
		return nil
	}
	s := Store(r)
	return &s
}

// Load returns the reason that was stored: nil where there was none. The message is not
// read, as another version may word it otherwise. A code or parameter that this version
// does not know is an error.
func (s Stored) Load() (Reason, error) {
	if s.Code == "" {
		return nil, nil
	}
	of, known := byCode[s.Code]
	if !known {
		return nil, fmt.Errorf("unknown reason %q", s.Code)
	}
	into := reflect.New(of)
	if len(s.Parameters) > 0 {
		if err := decodeStrictly(s.Parameters, into.Interface()); err != nil {
			return nil, fmt.Errorf("parameters of reason %s: %w", s.Code, err)
		}
	}
	return into.Elem().Interface().(Reason), nil
}

// Nested is a reason as a field of another value. In JSON it is an object of its own.
type Nested struct{ Reason Reason }

// MarshalJSON implements json.Marshaler.
func (n Nested) MarshalJSON() ([]byte, error) { return json.Marshal(Store(n.Reason)) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Nested) UnmarshalJSON(data []byte) error {
	var s Stored
	err := decodeStrictly(data, &s)
	if err == nil {
		n.Reason, err = s.Load()
	}
	return err
}

func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// byCode are the types of all reasons by their code.
var byCode = map[Code]reflect.Type{}

// Registered returns the zero value of every reason, sorted by code.
func Registered() []Reason {
	out := make([]Reason, 0, len(byCode))
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		out = append(out, reflect.Zero(byCode[code]).Interface().(Reason))
	}
	return out
}

// register makes reasons known to Load. Each file that declares reasons registers them.
func register(reasons ...Reason) struct{} {
	for _, r := range reasons {
		byCode[CodeOf(r)] = reflect.TypeOf(r)
	}
	return struct{}{}
}
