package escape

import "unicode/utf8"

// Terminal returns s with everything hidden, including line breaks and tabs, and every
// invalid byte made visible. Escaping twice is the same as escaping once.
func Terminal(s string) string {
	i := first(s)
	if i == len(s) {
		return s
	}
	out := make([]byte, i, len(s)+16)
	copy(out, s)
	for i < len(s) {
		r, size, escape := next(s[i:])
		if escape {
			out = appendText(out, r, s[i])
		} else {
			out = append(out, s[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

const hex = "0123456789abcdef"

// appendText appends the escape of r. raw is its first byte, which is shown if it is
// invalid.
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
