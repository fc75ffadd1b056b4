package escape

import (
	"io"
	"unicode/utf8"
)

// JSONWriter returns a writer that escapes JSON documents like JSON and writes them to w.
// A character may be split between two writes. Close writes an incomplete character and
// does not close w. It is not safe for concurrent use.
func JSONWriter(w io.Writer) io.WriteCloser { return &writer{to: w} }

type writer struct {
	to   io.Writer
	rest []byte // the beginning of a character, at most three bytes
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
	_, err := w.to.Write(JSON(in))
	return err
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
