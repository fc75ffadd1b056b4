package auditlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
)

// maxLine limits a line. kube-apiserver accepts bodies of 3 MiB, and an event has at most two.
const maxLine = 16 << 20

// errTooLong is that of a line whose text eachLine does not pass on.
var errTooLong = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// eachLine calls yield with the lines of a text that may be gzipped and may begin with a byte order mark: with
// their offsets, and without the space around them. It passes over empty ones. The text of a line is valid until
// yield returns; yield gets errTooLong instead of a text that is too long.
func eachLine(ctx context.Context, in io.Reader, yield func(line []byte, n int, offset int64, err error) error) error {
	plain, err := input.Gunzip(in)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(input.DecodeBOM(plain), 1<<16)
	var text []byte
	next := int64(0)
	for n := 1; ctx.Err() == nil; n++ {
		offset, err := next, bufio.ErrBufferFull
		for text = text[:0]; errors.Is(err, bufio.ErrBufferFull); {
			var part []byte
			part, err = lines.ReadSlice('\n')
			if next += int64(len(part)); next-offset <= maxLine {
				text = append(text, part...)
			}
		}
		line := bytes.TrimSpace(text)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case next == offset:
			return nil
		case next-offset > maxLine:
			err = yield(nil, n, offset, errTooLong)
		case len(line) > 0:
			err = yield(line, n, offset, nil)
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
