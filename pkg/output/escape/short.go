package escape

import "fmt"

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
