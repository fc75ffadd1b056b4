package reason

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Code is the stable name of a reason, in CamelCase as in the conditions of Kubernetes
// objects. It is part of the JSON contract.
type Code string

// Reason is why something is done, is not done, or is the case. In JSON it is an object with
// its parameters.
type Reason interface {
	// Message returns the sentence for people, without a full stop. It is not escaped.
	Message() string
}

// Brief is a reason that also has a short form, for the cell of a table whose other
// columns say the rest.
type Brief interface {
	Reason
	// Brief returns the short form. It is not escaped.
	Brief() string
}

// CodeOf returns the code of a reason, and an empty one for nil.
func CodeOf(r Reason) Code {
	switch r := r.(type) {
	case nil:
		return ""
	case interface{ Code() Code }:
		return r.Code()
	}
	return Code(reflect.TypeOf(r).Name())
}

// Shared returns the short form of a reason without what it says of one object alone, such as an
// age: a table says it of all objects with the same cause. It is not escaped.
func Shared(r Brief) string {
	if r, ok := r.(interface{ shared() string }); ok {
		return r.shared()
	}
	return r.Brief()
}

// Message returns the sentence of a reason, and an empty one for nil.
func Message(r Reason) string {
	if r == nil {
		return ""
	}
	return r.Message()
}

// Short returns the short form of a reason, the sentence of one that has none, and an empty one for nil.
func Short(r Reason) string {
	if r, ok := r.(Brief); ok {
		return r.Brief()
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

// Fixed is a reason without parameters. Each is a variable that has the code as its name.
type Fixed struct {
	code           Code
	message, brief string
}

// fixed returns a reason without parameters. Its short form is the message if none is given.
func fixed(code Code, message string, brief ...string) Fixed {
	return Fixed{code, message, append(brief, message)[0]}
}

// Code returns the code.
func (f Fixed) Code() Code { return f.code }

// Message implements Reason.
func (f Fixed) Message() string { return f.message }

// Brief implements Brief.
func (f Fixed) Brief() string { return f.brief }

// Equal reports whether f and other are the same reason.
func (f Fixed) Equal(other Fixed) bool { return f == other }

// With is what the reasons of one code have in common that have one parameter, a V. Each is a
// variable that has the code as its name.
type With[V any] struct {
	code Code
	// parameter is its name in JSON, with ",omitzero" where the zero value is left out; if it is
	// empty, the fields of V are the parameters.
	parameter      string
	message, brief func(V) string
}

// With2 is With for two parameters. They have different types, or either may come first, so that a call
// cannot mix them up.
type With2[A, B any] struct{ With[pair[A, B]] }

type pair[A, B any] struct {
	A A
	B B
}

func (p pair[A, B]) values() []any { return []any{p.A, p.B} }

// with returns the reasons whose message is a format for the parameter.
func with[V any](code Code, parameter, format string) *With[V] {
	return says(code, parameter, func(v V) string { return fmt.Sprintf(format, v) })
}

// says returns the reasons with this message. Their short form is the message if none is given.
func says[V any](code Code, parameter string, message func(V) string, brief ...func(V) string) *With[V] {
	return &With[V]{code, parameter, message, append(brief, message)[0]}
}

// with2 returns the reasons whose message is a format for two parameters; a blank is between their names.
func with2[A, B any](code Code, parameters, format string) *With2[A, B] {
	return says2(code, parameters, func(a A, b B) string { return fmt.Sprintf(format, a, b) })
}

// says2 is says for two parameters; a blank is between their names.
func says2[A, B any](code Code, parameters string, message func(A, B) string, brief ...func(A, B) string) *With2[A, B] {
	short := append(brief, message)[0]
	return &With2[A, B]{*says(code, parameters,
		func(p pair[A, B]) string { return message(p.A, p.B) }, func(p pair[A, B]) string { return short(p.A, p.B) })}
}

// either returns the reasons with one of two messages. Their short forms are these, too, unless one
// is given, or one for each.
func either(code Code, parameter, yes, no string, brief ...string) *With[bool] {
	choose := func(yes, no string) func(bool) string {
		return func(is bool) string {
			if is {
				return yes
			}
			return no
		}
	}
	brief = append(brief, brief...)
	if len(brief) == 0 {
		brief = []string{yes, no}
	}
	return says(code, parameter, choose(yes, no), choose(brief[0], brief[1]))
}

// Of returns the reason with this parameter.
func (w *With[V]) Of(v V) Brief { return parametrized[V]{w, v} }

// Of returns the reason with these parameters.
func (w *With2[A, B]) Of(a A, b B) Brief { return w.With.Of(pair[A, B]{a, b}) }

// Code returns the code.
func (w *With[V]) Code() Code { return w.code }

type parametrized[V any] struct {
	*With[V]
	Value V
}

func (p parametrized[V]) Message() string { return p.message(p.Value) }
func (p parametrized[V]) Brief() string   { return p.brief(p.Value) }

// Equal reports whether p and other are the same reason.
func (p parametrized[V]) Equal(other parametrized[V]) bool { return reflect.DeepEqual(p, other) }

// MarshalJSON implements json.Marshaler.
func (p parametrized[V]) MarshalJSON() ([]byte, error) {
	if p.parameter == "" {
		return json.Marshal(p.Value)
	}
	values := []any{p.Value}
	if several, ok := values[0].(interface{ values() []any }); ok {
		values = several.values()
	}
	var fields []string
	for i, name := range strings.Fields(p.parameter) {
		name, optional := strings.CutSuffix(name, ",omitzero")
		if optional && reflect.ValueOf(values[i]).IsZero() {
			continue
		}
		value, err := json.Marshal(values[i])
		if err != nil {
			return nil, err
		}
		fields = append(fields, fmt.Sprintf("%q:%s", name, value))
	}
	return []byte("{" + strings.Join(fields, ",") + "}"), nil
}
