package wrap

import (
	"bytes"
	"io"
	"strings"
)

// LineWriter writes text for a terminal: it breaks the lines that are too long, and indents what
// follows a break. A line has to be written at once.
type LineWriter struct {
	out   io.Writer
	width func() int
}

// NewWriter returns a LineWriter to a terminal of so many columns; 0 is no limit, and so is a nil width.
func NewWriter(out io.Writer, width func() int) *LineWriter { return &LineWriter{out, width} }

// Unwrap returns the writer below a LineWriter, and the columns of its terminal, for text that is laid
// out already. It returns another writer as it is, with 0 columns, which is no limit.
func Unwrap(w io.Writer) (out io.Writer, columns int) {
	wrapped, ok := w.(*LineWriter)
	switch {
	case !ok:
		return w, 0
	case wrapped.width == nil:
		return wrapped.out, 0
	}
	return wrapped.out, max(wrapped.width(), 0)
}

// indent is how much farther right a line goes on after a break.
const indent = 2

func (w *LineWriter) Write(text []byte) (int, error) {
	out, columns := Unwrap(w)
	if columns == 0 || bytes.ContainsRune(text, '\r') { // a line that the next one overwrites
		return out.Write(text)
	}
	var wrapped strings.Builder
	for line := range strings.Lines(string(text)) {
		content := strings.TrimSuffix(line, "\n")
		begin := len(content) - len(strings.TrimLeft(content, " ")) + indent
		wrapped.WriteString(Text(content, begin, columns))
		wrapped.WriteString(line[len(content):])
	}
	if _, err := io.WriteString(out, wrapped.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
