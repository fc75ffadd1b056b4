package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// Line is a line of a text.
type Line struct {
	Text    []byte // without its end; valid until the next one is read. Nil if the line is too long
	Number  int    // from 1
	Offset  int64  // bytes, of the text without its packing and its byte order mark
	TooLong bool
}

// EachLine calls yield with the lines of a text that may be gzipped and may begin with a byte order mark. It
// keeps no more than most bytes of a line in memory. It ends with an error of yield, of the text or of the
// context; what is left of a line before an error of the text is no line.
func EachLine(ctx context.Context, in io.Reader, most int, yield func(Line) error) error {
	plain, err := Gunzip(in)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(DecodeBOM(plain), 1<<16)
	var text []byte
	next := int64(0)
	for n := 1; ctx.Err() == nil; n++ {
		offset, err := next, bufio.ErrBufferFull
		for text = text[:0]; errors.Is(err, bufio.ErrBufferFull); {
			var part []byte
			part, err = lines.ReadSlice('\n')
			if next += int64(len(part)); next-offset <= int64(most) {
				text = append(text, part...)
			}
		}
		line := Line{Text: bytes.TrimRight(text, "\r\n"), Number: n, Offset: offset}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case next == offset:
			return nil
		case next-offset > int64(most):
			line.Text, line.TooLong = nil, true
		}
		if err := yield(line); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
