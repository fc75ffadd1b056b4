package logs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// value is a JSON value as the text has it; nil if there is none, or null. It is cut out of a text, and decoded only
// if it is needed: most of a log is not. What is not needed is not checked either.
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
	closing := opening + 2 // of { and [
	if !v.begins(opening) {
		return 0, errJSON
	}
	rest := v[1:].space()
	for first := true; !rest.begins(closing); first = false {
		if rest.begins(',') {
			rest = rest[1:].space()
		} else if !first {
			return 0, rest.wrong()
		}
		var key value
		if opening == '{' {
			n, err := rest.end()
			if err != nil || !rest.begins('"') {
				return 0, cmp.Or(err, errJSON)
			}
			key, rest = rest[:n], rest[n:].space()
			if !rest.begins(':') {
				return 0, rest.wrong()
			}
			rest = rest[1:].space()
		}
		if enter != nil && rest.begins('[') && enter(key) {
			return len(v) - len(rest), errEnter
		}
		n, err := rest.end()
		if err == nil {
			err = yield(key, rest[:n])
		}
		if err != nil {
			return 0, err
		}
		rest = rest[n:].space()
	}
	return len(v) - len(rest) + 1, nil
}

func (v value) begins(with byte) bool { return len(v) > 0 && v[0] == with }

// wrong returns why a text cannot go on like this.
func (v value) wrong() error {
	if len(v) == 0 {
		return errShort
	}
	return errJSON
}

// class tells what a byte is where a value is cut out.
var class [256]byte

const (
	plain = iota
	white
	separates
	newline
	escape
	quote
	opens
	closes
)

func init() {
	for of, bytes := range map[byte]string{white: " \t\r", separates: ",:", newline: "\n", escape: `\`, quote: `"`, opens: "{[", closes: "}]"} {
		for _, b := range []byte(bytes) {
			class[b] = of
		}
	}
}

func (v value) space() value {
	for len(v) > 0 && (class[v[0]] == white || v[0] == '\n') {
		v = v[1:]
	}
	return v
}

// end returns where the value that a text begins with ends.
func (v value) end() (int, error) {
	depth := 0
	for i := 0; i < len(v); i++ {
		switch class[v[i]] {
		case quote:
			n, err := v[i:].endOfString()
			if err != nil {
				return 0, err
			}
			i += n - 1
		case opens:
			depth++
		case closes:
			depth--
		case plain:
			for ; depth == 0 && i < len(v); i++ { // a number or a word
				if class[v[i]] != plain {
					return i, nil
				}
			}
			continue
		default:
			if depth == 0 {
				return 0, errJSON
			}
			continue
		}
		switch {
		case depth < 0:
			return 0, errJSON
		case depth == 0:
			return i + 1, nil
		}
	}
	return 0, errShort
}

// endOfString returns where the string that a text begins with ends. It has no line break.
func (v value) endOfString() (int, error) {
	for i := 1; i < len(v); i++ {
		switch class[v[i]] {
		case quote:
			return i + 1, nil
		case escape:
			i++
		case newline:
			return 0, errJSON
		}
	}
	return 0, errShort
}

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
	text := make([]byte, 0, len(v))
	for rest := v[1 : len(v)-1]; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return append(text, rest...)
		}
		text = append(text, rest[:i]...)
		switch b := rest[i+1]; b {
		case '"', '\\', '/':
			text = append(text, b)
		case 'n':
			text = append(text, '\n')
		case 't':
			text = append(text, '\t')
		default: // few are
			var decoded string
			_ = json.Unmarshal(v, &decoded) // nothing if it is no string
			return []byte(decoded)
		}
		rest = rest[i+2:]
	}
}

// decode decodes a value, if there is one. Case matters, and numbers are integers where they can be.
func (v value) decode(into any) error {
	if v == nil {
		return nil
	}
	return utiljson.Unmarshal(v, into)
}
