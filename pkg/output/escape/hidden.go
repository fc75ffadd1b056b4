package escape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character acts on a terminal or shows nothing: a control, a
// line or paragraph separator, a format character (bidi, zero-width, tags), a variation
// selector, a filler, or one that is not assigned.
func Hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r < 0xa0:
		return true
	case r <= unicode.MaxLatin1:
		return r == 0xad // the soft hyphen is the only format character of Latin-1
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// next returns the first character of s, its length, and whether it must be escaped. An
// invalid byte must: 0x9b alone begins a sequence on some terminals.
func next[T string | []byte](s T) (r rune, size int, escape bool) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1, Hidden(rune(c))
	}
	// The conversion does not escape, so it does not allocate.
	r, size = utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
	return r, size, r == utf8.RuneError && size == 1 || Hidden(r)
}

// first returns the index of the first character that must be escaped and is not in
// except, or len(s).
func first[T string | []byte](s T, except string) int {
	for i := 0; i < len(s); {
		r, size, escape := next(s[i:])
		if escape && !strings.ContainsRune(except, r) {
			return i
		}
		i += size
	}
	return len(s)
}

// appendVisible appends in to out, escaped except for the characters in except.
func appendVisible[T string | []byte](out []byte, in T, except string, appendEscape func(out []byte, r rune, raw byte) []byte) []byte {
	for {
		i := first(in, except)
		out = append(out, in[:i]...)
		if in = in[i:]; len(in) == 0 {
			return out
		}
		r, size, _ := next(in)
		out = appendEscape(out, r, in[0])
		in = in[size:]
	}
}
