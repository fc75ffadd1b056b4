package logs

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// value is a JSON value as the text has it; nil if there is none, or null. It is cut out of a text, and decoded only
// if it is needed: most of a log is not.
type value []byte

// fields are the members of an object. Case matters, as a custom resource may also have a field named Kind.
type fields []struct{ key, value value }

func (f fields) get(key string) value {
	for i := len(f) - 1; i >= 0; i-- { // the last one counts, as for every decoder
		if string(f[i].key) == key {
			return f[i].value
		}
	}
	return nil
}

// identity returns the object that an object names, as a reference does.
func (v value) identity() object.Identity {
	f, err := v.object(nil)
	if err != nil {
		return object.Identity{}
	}
	return object.Identity{
		APIVersion: f.get("apiVersion").text(), Kind: f.get("kind").text(), Namespace: f.get("namespace").text(), Name: f.get("name").text(),
		UID: f.get("uid").uid(),
	}
}

// get returns a member of an object; for one or two of many.
func (v value) get(key string) (found value) {
	_, _ = v.each('{', nil, func(name, member value) error {
		if name.is(key) {
			found = member.unlessNull()
		}
		return nil
	})
	return found
}

func (v value) unlessNull() value {
	if string(v) == "null" {
		return nil
	}
	return v
}

// object adds the members of an object to others.
func (v value) object(to fields) (fields, error) {
	end, err := v.each('{', nil, func(key, member value) error {
		to = append(to, struct{ key, value value }{key.bytes(), member.unlessNull()})
		return nil
	})
	if err == nil && len(v[end:].space()) > 0 {
		err = errJSON
	}
	return to, err
}

var (
	errJSON  = errors.New("it is not JSON")
	errShort = errors.New("it is JSON that was cut off")
	errEnter = errors.New("an array was entered")
)

// each calls yield with the members of the object, or the elements of the array, that a text begins with, and returns
// where that ends. It stops with errEnter before an array if enter reports true of its name.
func (v value) each(opening byte, enter func(key value) bool, yield func(key, member value) error) (end int, err error) {
	if !v.begins(opening) {
		return 0, errJSON
	}
	d := v.decoder()
	defer decoders.Put(d)
	_, _ = d.ReadToken()
	closing := jsontext.Kind(opening + 2) // of { and [
	for d.PeekKind() != closing {
		var key value
		if opening == '{' {
			if key, err = v.next(d); err != nil {
				return 0, err
			}
		}
		if enter != nil && d.PeekKind() == '[' && enter(key) {
			after := int(d.InputOffset())
			return after + bytes.IndexByte(v[after:], '['), errEnter
		}
		member, err := v.next(d)
		if err == nil {
			err = yield(key, member)
		}
		if err != nil {
			return 0, err
		}
	}
	_, err = d.ReadToken()
	return int(d.InputOffset()), err
}

var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// decoder returns a decoder of v, from the pool. It takes what other decoders take: what a log has is what counts.
func (v value) decoder() *jsontext.Decoder {
	d := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return d
}

// next returns the next value of a decoder of v, as a part of v.
func (v value) next(d *jsontext.Decoder) (value, error) {
	read, err := d.ReadValue()
	switch end := int(d.InputOffset()); {
	case err == nil:
		return v[end-len(read) : end], nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, errShort
	}
	return nil, errJSON
}

// end returns where the value that a text begins with ends.
func (v value) end() (int, error) {
	d := v.decoder()
	defer decoders.Put(d)
	_, err := v.next(d)
	return int(d.InputOffset()), err
}

func (v value) begins(with byte) bool { return len(v) > 0 && v[0] == with }

func (v value) space() value { return bytes.TrimLeft(v, " \t\r\n") }

// is reports whether a value is a string.
func (v value) is(text string) bool { return v.begins('"') && string(v.bytes()) == text }

// text returns a string, or any other value as it is.
func (v value) text() string { return string(v.bytes()) }

func (v value) uid() types.UID { return types.UID(v.bytes()) }

// bytes is as text, without a copy where that is possible.
func (v value) bytes() []byte {
	if !v.begins('"') || bytes.IndexByte(v, '\\') < 0 {
		return bytes.Trim(v, `"`)
	}
	text, _ := jsontext.AppendUnquote(nil, v) // as far as it is well-formed
	return text
}

// decode decodes a value, if there is one. Case matters, and numbers are integers where they can be.
func (v value) decode(into any) error {
	if v == nil {
		return nil
	}
	return utiljson.Unmarshal(v, into)
}
