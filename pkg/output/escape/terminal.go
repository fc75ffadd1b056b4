// Package escape makes hidden characters visible. Names, kinds and messages come from
// anyone who may write to the cluster. The API server does not validate the name in an
// owner reference at all, so it may contain a terminal escape sequence, a line break that
// forges a row, or characters that reverse or hide others. Hidden decides for text, JSON
// and YAML what is escaped. Escapes look like those of Go: \n, \x1b, \u202e, \U000e0001.
// Text does not escape the backslash, so it is only for reading; JSON and YAML decode to
// the original value.
package escape

import (
	"fmt"
	"unicode/utf8"
)

// Terminal returns s with everything hidden, including line breaks and tabs, and every
// invalid byte made visible. Escaping twice is the same as escaping once.
func Terminal(s string) string {
	if first(s, "") == len(s) {
		return s
	}
	return string(appendVisible(make([]byte, 0, len(s)+16), s, "", appendText))
}

// Lines returns text escaped like Terminal, except line breaks and tabs. It is for text
// with a layout by the user, such as the output of a template.
func Lines(text []byte) []byte {
	return appendVisible(make([]byte, 0, len(text)), text, "\n\t", appendText)
}

// Word returns Terminal(s), cut as output for a person has it, where s is a word: a kind, a
// namespace, a UID. The limits are longer than any real string from a cluster, so that names
// can be pasted into a command.
func Word(s string) string { return Short(s, 200) }

// Line is like Word, where s is a name or a brief reason.
func Line(s string) string { return Short(s, 400) }

// Sentence is like Word, where s is an explanation.
func Sentence(s string) string { return Short(s, 1200) }

// Short returns Terminal(s), cut to at most limit characters. A cut never splits an escape
// and is marked with the length of s, as in "abc…(102400 bytes)"; the mark is not counted.
// Short reads no more of s than it shows.
func Short(s string, limit int) string {
	shown := 0
	for i := 0; i < len(s); {
		r, size, escape := next(s[i:])
		width := 1
		if escape {
			width = len(appendText(nil, r, s[i]))
		}
		if shown+width > limit {
			return fmt.Sprintf("%s…(%d bytes)", Terminal(s[:i]), len(s))
		}
		shown += width
		i += size
	}
	return Terminal(s)
}

const hex = "0123456789abcdef"

// appendText appends the escape of r in text. raw is its first byte, which is shown if it
// is invalid.
func appendText(out []byte, r rune, raw byte) []byte {
	switch {
	case r == '\n':
		return append(out, `\n`...)
	case r == '\r':
		return append(out, `\r`...)
	case r == '\t':
		return append(out, `\t`...)
	case r < utf8.RuneSelf || r == utf8.RuneError:
		return append(out, '\\', 'x', hex[raw>>4], hex[raw&0xf])
	case r <= 0xffff:
		return appendHex(append(out, '\\', 'u'), r, 4)
	default:
		return appendHex(append(out, '\\', 'U'), r, 8)
	}
}

func appendHex(out []byte, r rune, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		out = append(out, hex[r>>shift&0xf])
	}
	return out
}
