package reason

import (
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
	switch r := r.(type) {
	case nil:
		return ""
	case Fixed:
		return r.code
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

// Cause returns what a step comes from: the same text for all objects that have lost the same
// owners. It is the message of a reason that is about no lost owners.
func Cause(r Reason) string {
	switch r := r.(type) {
	case OwnersLost:
		return facts(r.Owners)
	case OwnersPartlyLost:
		return facts(r.Owners)
	}
	return Message(r)
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

// Nested is a reason as a field of another value. In JSON it is an object of its own.
type Nested struct{ Reason Reason }

// MarshalJSON implements json.Marshaler.
func (n Nested) MarshalJSON() ([]byte, error) { return json.Marshal(Store(n.Reason)) }

// byCode has every reason by its code, without values for its parameters.
var byCode = map[Code]Reason{}

// Registered returns the zero value of every reason, sorted by code.
func Registered() []Reason {
	out := make([]Reason, 0, len(byCode))
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		out = append(out, byCode[code])
	}
	return out
}

// register adds reasons with parameters to Registered. Each file registers those that it
// declares.
func register(reasons ...Reason) struct{} {
	for _, r := range reasons {
		byCode[CodeOf(r)] = r
	}
	return struct{}{}
}

// Fixed is a reason without parameters. Each is a variable that has the code as its name.
type Fixed struct {
	code           Code
	message, brief string
}

// fixed returns a reason without parameters, and adds it to Registered. Its short form is
// the message if none is given.
func fixed(code Code, message string, brief ...string) Fixed {
	f := Fixed{code, message, append(brief, message)[0]}
	byCode[code] = f
	return f
}

// Message implements Reason.
func (f Fixed) Message() string { return f.message }

// Brief implements Brief.
func (f Fixed) Brief() string { return f.brief }

// Equal reports whether f and other are the same reason.
func (f Fixed) Equal(other Fixed) bool { return f == other }
