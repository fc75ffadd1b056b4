package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// How far a text may unpack: to so many bytes whatever it is, and beyond them to so
// many times what was read of it. Every object has a UID, which hardly shrinks, so
// that what a cluster holds shrinks to a thirtieth or so; gzip itself reaches a
// thousandth.
const (
	unpackedAnyway = 64 << 20
	unpackedTimes  = 200
)

// EndlessError says that a text unpacks to more than any look at a cluster does.
type EndlessError struct{}

// Error does not say which text.
func (EndlessError) Error() string {
	return fmt.Sprintf("it unpacks to more than %d times its size, as no snapshot does: it may have no end", unpackedTimes)
}

// Unpacked is a text that may be gzipped. Where it is, what is read of it ends with
// Endless before it takes all memory.
func Unpacked(r io.Reader) (io.Reader, error) {
	packed := &counting{r: r}
	in := bufio.NewReader(packed)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("unreadable gzip: %w", err)
	}
	return &unpacking{packed: packed, unpacked: counting{r: zip}}, nil
}

type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

type unpacking struct {
	packed   *counting
	unpacked counting
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.unpacked.Read(p)
	if u.unpacked.n > unpackedAnyway+u.packed.n*unpackedTimes {
		return 0, EndlessError{}
	}
	return n, err
}
