package auditlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
)

// maxLine limits a line. kube-apiserver accepts bodies of 3 MiB, and an event has at most two.
const maxLine = 16 << 20

// lines are those of a text that may be gzipped and may begin with a byte order mark.
type lines struct {
	in   *bufio.Reader
	long []byte // a line that is longer than the buffer of in
	next int64  // the offset of the next line
}

func newLines(r io.Reader) (*lines, error) {
	plain, err := input.Gunzip(r)
	if err != nil {
		return nil, err
	}
	return &lines{in: bufio.NewReaderSize(input.DecodeBOM(plain), 1<<20)}, nil
}

// errTooLong is that of a line whose text read does not return.
var errTooLong = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// read returns the next line, without the space around it, and the offset of the line. The line is valid until
// the next call. The error is errTooLong or io.EOF, or else the reader's.
func (l *lines) read() (line []byte, offset int64, err error) {
	offset = l.next
	line, err = l.in.ReadSlice('\n')
	l.next += int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.in.ReadSlice('\n')
			l.next += int64(len(line))
			if l.next-offset <= maxLine {
				l.long = append(l.long, line...)
			}
		}
		line = l.long
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, offset, err
	case l.next == offset:
		return nil, offset, io.EOF
	case l.next-offset > maxLine:
		return nil, offset, errTooLong
	}
	return bytes.TrimSpace(line), offset, nil
}
