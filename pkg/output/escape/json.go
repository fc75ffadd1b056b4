package escape

// JSON returns a JSON document with everything hidden as \u escapes, so that it decodes to
// the same value and can be shown on a terminal. encoding/json escapes only controls below
// U+0020. Line breaks and tabs stay, as they are outside of values.
func JSON(document []byte) []byte {
	i := firstInJSON(document)
	if i == len(document) {
		return document
	}
	out := make([]byte, 0, len(document)+64)
	for {
		out = append(out, document[:i]...)
		document = document[i:]
		if len(document) == 0 {
			return out
		}
		r, size, _ := next(document)
		out = appendUTF16(out, r)
		document = document[size:]
		i = firstInJSON(document)
	}
}

func firstInJSON(document []byte) int {
	for i := 0; ; i++ {
		i += first(document[i:])
		if i == len(document) || document[i] != '\n' && document[i] != '\t' && document[i] != '\r' {
			return i
		}
	}
}

func appendUTF16(out []byte, r rune) []byte {
	if r <= 0xffff {
		return appendHex(append(out, '\\', 'u'), r, 4)
	}
	const surrogates, low = 0xd800, 0xdc00
	r -= 0x10000
	out = appendHex(append(out, '\\', 'u'), surrogates+r>>10, 4)
	return appendHex(append(out, '\\', 'u'), low+r&0x3ff, 4)
}
