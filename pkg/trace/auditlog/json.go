package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
)

var errSyntax = errors.New("it is not JSON, or it ends early")

// members calls yield with the members of a JSON object until that returns false. It decodes nothing, and
// checks no more of the syntax than it needs to find the values; a value that is decoded later is checked
// then. A key that contains escapes is passed decoded.
func members(object []byte, yield func(key, value []byte) bool) error {
	i := skipSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return errSyntax
	}
	for i = skipSpace(object, i+1); i < len(object) && object[i] != '}'; {
		end := endOfValue(object, i)
		colon := skipSpace(object, end)
		if object[i] != '"' || colon >= len(object) || object[colon] != ':' {
			return errSyntax
		}
		key := object[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(text(object[i:end]))
		}
		i = skipSpace(object, colon+1)
		if end = endOfValue(object, i); end <= i || end > len(object) {
			return errSyntax
		}
		if !yield(key, object[i:end]) {
			return nil
		}
		if i = skipSpace(object, end); i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		} else if i < len(object) && object[i] != '}' {
			return errSyntax
		}
	}
	if i >= len(object) {
		return errSyntax
	}
	return nil
}

// elements calls yield with the elements of a JSON array, as members does.
func elements(array []byte, yield func(value []byte) error) error {
	if len(array) == 0 || array[0] != '[' {
		return errSyntax
	}
	for i := skipSpace(array, 1); i < len(array) && array[i] != ']'; {
		end := endOfValue(array, i)
		if end <= i || end > len(array) {
			return errSyntax
		}
		if err := yield(array[i:end]); err != nil {
			return err
		}
		if i = skipSpace(array, end); i < len(array) && array[i] == ',' {
			i = skipSpace(array, i+1)
		} else if i < len(array) && array[i] != ']' {
			return errSyntax
		}
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// endOfValue returns the index after the value that begins at i, and len(b)+1 if it does not end. It needs
// no stack, so nesting has no limit.
func endOfValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = endOfString(b, i); i > len(b) {
				return i
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // after a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	if depth > 0 {
		return len(b) + 1
	}
	return i
}

// endOfString returns the index after the string that begins at i, and len(b)+1 if it does not end.
func endOfString(b []byte, i int) int {
	for i++; ; i++ {
		quote := bytes.IndexByte(b[i:], '"')
		if quote < 0 {
			return len(b) + 1
		}
		start := i
		i += quote
		escapes := 0
		for i-escapes > start && b[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// text returns a JSON string, and an empty one for any other value.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(value, &s) // leaves it empty
	return s
}

// is reports whether a value is that string.
func is(value []byte, s string) bool {
	if len(value) == len(s)+2 && value[0] == '"' {
		return string(value[1:len(value)-1]) == s
	}
	return bytes.IndexByte(value, '\\') >= 0 && text(value) == s
}

// decode decodes a value, and nothing if there is none.
func decode(value []byte, into any) error {
	if len(value) == 0 {
		return nil
	}
	return json.Unmarshal(value, into)
}
