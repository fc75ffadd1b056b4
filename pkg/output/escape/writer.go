package escape

import (
	"bytes"
	"io"
)

// JSONWriter returns a writer that escapes JSON documents like JSON and writes them to w, whole
// lines at a time. Close writes an incomplete line and does not close w. It is not safe for
// concurrent use.
func JSONWriter(w io.Writer) io.WriteCloser { return &writer{to: w} }

type writer struct {
	to   io.Writer
	line []byte // the beginning of a line: a character may be split between two writes
}

func (w *writer) Write(p []byte) (int, error) {
	whole := bytes.LastIndexByte(p, '\n') + 1
	if whole == 0 {
		w.line = append(w.line, p...)
		return len(p), nil
	}
	_, err := w.to.Write(JSON(append(w.line, p[:whole]...)))
	w.line = append(w.line[:0], p[whole:]...)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error {
	if len(w.line) == 0 {
		return nil
	}
	_, err := w.to.Write(JSON(w.line))
	w.line = nil
	return err
}
