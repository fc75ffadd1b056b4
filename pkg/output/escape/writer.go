package escape

import (
	"io"
	"unicode/utf8"
)

// Writer returns a writer that escapes text like Terminal, except line breaks and tabs,
// and writes it to w. It is for text with a layout by the user, such as the output of a
// template. A character may be split between two writes. Close writes an incomplete
// character and does not close w. It is not safe for concurrent use.
func Writer(w io.Writer) io.WriteCloser {
	return &writer{to: w, escape: appendLines}
}

// JSONWriter returns a writer that escapes JSON documents like JSON and writes them to w.
// In all else it is like Writer.
func JSONWriter(w io.Writer) io.WriteCloser {
	return &writer{to: w, escape: func(out, in []byte) []byte { return append(out, JSON(in)...) }}
}

type writer struct {
	to     io.Writer
	escape func(out, in []byte) []byte // appends in, escaped, to out
	rest   []byte                      // the beginning of a character, at most three bytes
	out    []byte
}

func (w *writer) Write(p []byte) (int, error) {
	in := p
	if len(w.rest) > 0 {
		in = append(w.rest, p...)
	}
	whole := wholeCharacters(in)
	err := w.write(in[:whole])
	w.rest = append([]byte(nil), in[whole:]...)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error {
	rest := w.rest
	w.rest = nil
	return w.write(rest)
}

func (w *writer) write(in []byte) error {
	if len(in) == 0 {
		return nil
	}
	w.out = w.escape(w.out[:0], in)
	_, err := w.to.Write(w.out)
	return err
}

// appendLines appends text that is escaped, except line breaks and tabs.
func appendLines(out, in []byte) []byte {
	for len(in) > 0 {
		r, size, escape := next(in)
		if escape && r != '\n' && r != '\t' {
			out = appendText(out, r, in[0])
		} else {
			out = append(out, in[:size]...)
		}
		in = in[size:]
	}
	return out
}

// wholeCharacters returns the length of b without an incomplete last character.
func wholeCharacters(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				return len(b)
			}
			return i
		}
	}
	return len(b)
}
