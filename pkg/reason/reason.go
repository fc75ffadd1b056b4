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

// Reason is why something is done, is not done, or is the case. Nothing changes one: those without
// parameters are variables. Nil stands for no reason, and says nothing. Where a struct embeds it, its JSON
// has the three fields.
type Reason struct {
	Code       Code `json:"reason"`
	Parameters any  `json:"parameters,omitempty"` // an object in JSON; nil if there are none
	Text       Text `json:"message"`
}

// Text is what a reason says. It is put into words when it is asked for, as most reasons are never printed.
type Text struct{ of sentence }

// sentence says what a reason means. It may have a short form for the cell of a table whose other columns say
// the rest (Brief), and one without what it says of one object alone, such as an age (shared): a table
// says that of all objects with the same cause.
type sentence interface{ Message() string }

// Of returns a reason whose parameters are the fields of a struct, and whose code is the name of its type.
func Of(parameters sentence) *Reason {
	r := &Reason{Code: Code(reflect.TypeOf(parameters).Name()), Text: Text{parameters}}
	if !reflect.ValueOf(parameters).IsZero() {
		r.Parameters = parameters
	}
	return r
}

// Message returns the sentence for people, without a full stop. It is not escaped.
func (r *Reason) Message() string {
	if r == nil {
		return ""
	}
	return r.Text.String()
}

// Brief returns the short form, or the sentence if there is none. It is not escaped.
func (r *Reason) Brief() string {
	if r != nil {
		if of, ok := r.Text.of.(interface{ Brief() string }); ok {
			return of.Brief()
		}
	}
	return r.Message()
}

// Shared returns the short form without what it says of one object alone. It is not escaped.
func (r *Reason) Shared() string {
	if r != nil {
		if of, ok := r.Text.of.(interface{ shared() string }); ok {
			return of.shared()
		}
	}
	return r.Brief()
}

// Equal reports whether r and other are the same reason.
func (r *Reason) Equal(other *Reason) bool { return reflect.DeepEqual(r, other) }

// String returns the sentence.
func (t Text) String() string {
	if t.of == nil {
		return ""
	}
	return t.of.Message()
}

// MarshalText implements encoding.TextMarshaler.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler: a reason that was read from a document says what it said then.
func (t *Text) UnmarshalText(message []byte) error {
	t.of = words{string(message), string(message)}
	return nil
}

// words are the sentence of a reason without parameters, and its short form.
type words struct{ message, brief string }

func (w words) Message() string { return w.message }
func (w words) Brief() string   { return w.brief }

// fixed returns a reason without parameters. Its short form is the message if none is given.
func fixed(code Code, message string, brief ...string) *Reason {
	return &Reason{Code: code, Text: Text{words{message, append(brief, message)[0]}}}
}

// with returns the reasons with one parameter whose message is a format for that.
func with[V any](code Code, parameter, format string) func(V) *Reason {
	return says(code, parameter, func(v V) string { return fmt.Sprintf(format, v) })
}

// says returns the reasons with one parameter that have this message. Their short form is the message if none is given.
// The parameter has ",omitzero" after its name where the zero value is left out; if the name is empty, the fields of V
// are the parameters.
func says[V any](code Code, parameter string, message func(V) string, brief ...func(V) string) func(V) *Reason {
	declared := &declaration[V]{parameter, message, append(brief, message)[0]}
	optional := strings.HasSuffix(parameter, ",omitzero")
	return func(v V) *Reason {
		var text sentence = parametrized[V]{declared, v}
		if optional && reflect.ValueOf(v).IsZero() {
			return &Reason{code, nil, Text{text}}
		}
		return &Reason{code, text, Text{text}}
	}
}

// says2 is says for two parameters; a blank is between their names, and the first is not optional. They have different types,
// or either may come first, so that a call cannot mix them up.
func says2[A, B any](code Code, parameters string, message func(A, B) string, brief ...func(A, B) string) func(A, B) *Reason {
	short := append(brief, message)[0]
	declared := &declaration[pair[A, B]]{
		parameters, func(p pair[A, B]) string { return message(p.A, p.B) }, func(p pair[A, B]) string { return short(p.A, p.B) },
	}
	return func(a A, b B) *Reason {
		var text sentence = parametrized[pair[A, B]]{declared, pair[A, B]{a, b}}
		return &Reason{code, text, Text{text}}
	}
}

// either returns the reasons with one of two messages. Their short forms are these, too, unless one
// is given, or one for each.
func either(code Code, parameter, yes, no string, brief ...string) func(bool) *Reason {
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

// declaration is what the reasons of one code have in common.
type declaration[V any] struct {
	parameters     string
	message, brief func(V) string
}

type pair[A, B any] struct {
	A A
	B B
}

func (p pair[A, B]) values() []any { return []any{p.A, p.B} }

// parametrized is what a reason says of its parameters. In JSON it is these.
type parametrized[V any] struct {
	*declaration[V]
	Value V
}

func (p parametrized[V]) Message() string { return p.message(p.Value) }
func (p parametrized[V]) Brief() string   { return p.brief(p.Value) }

// MarshalJSON implements json.Marshaler.
func (p parametrized[V]) MarshalJSON() ([]byte, error) {
	if p.parameters == "" {
		return json.Marshal(p.Value)
	}
	values := []any{p.Value}
	if several, ok := values[0].(interface{ values() []any }); ok {
		values = several.values()
	}
	var fields []string
	for i, name := range strings.Fields(p.parameters) {
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
