package escape

// JSON returns a JSON document with everything hidden as \u escapes, so that it decodes to
// the same value and can be shown on a terminal. encoding/json escapes only controls below
// U+0020. Line breaks and tabs stay, as they are outside of values.
func JSON(document []byte) []byte {
	const breaks = "\n\t\r"
	if first(document, breaks) == len(document) {
		return document
	}
	return appendVisible(make([]byte, 0, len(document)+64), document, breaks, appendUTF16)
}

// appendUTF16 appends the escape of r in JSON. An invalid byte has that of U+FFFD, as
// decoders replace it.
func appendUTF16(out []byte, r rune, _ byte) []byte {
	if r <= 0xffff {
		return appendHex(append(out, '\\', 'u'), r, 4)
	}
	const surrogates, low = 0xd800, 0xdc00
	r -= 0x10000
	out = appendHex(append(out, '\\', 'u'), surrogates+r>>10, 4)
	return appendHex(append(out, '\\', 'u'), low+r&0x3ff, 4)
}
