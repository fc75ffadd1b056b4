// Package input reads untrusted text. The memory that it takes is limited by the
// length of the text, whatever that would expand to.
package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// TooLongError reports that a text was not read completely.
type TooLongError struct{ Limit int64 }

// Error does not name the text.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("it is longer than the %d MiB that are read", e.Limit>>20)
}

// ReadAll reads a text of at most this many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(data)) > most {
		return nil, &TooLongError{most}
	}
	return data, err
}

// DecodeBOM converts a text that begins with a byte order mark, such as PowerShell
// writes, to UTF-8 without the mark. It does not change any other text.
func DecodeBOM(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if start, _ := in.Peek(len(mark)); bytes.Equal(start, []byte(mark)) {
			return transform.NewReader(in, unicode.BOMOverride(transform.Nop))
		}
	}
	return in
}

// A gzipped text may unpack to minUnpacked bytes plus maxRatio times its size. Snapshots and
// audit logs reach a ratio of about 30, because every object and request has a UID; gzip
// itself can reach 1000.
const (
	minUnpacked = 64 << 20
	maxRatio    = 200
)

// ErrUnpackLimit reports that a text unpacks to more than any snapshot or log does.
var ErrUnpackLimit = fmt.Errorf("it unpacks to more than %d times its size: it may have no end", maxRatio)

// Gunzip unpacks a text if it is gzipped. Reading a gzip bomb fails before it fills the
// memory.
func Gunzip(r io.Reader) (io.Reader, error) {
	packed := &countingReader{r: r}
	in := bufio.NewReader(packed)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("unreadable gzip: %w", err)
	}
	return &ratioReader{packed: packed, unpacked: countingReader{r: zip}}, nil
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

type ratioReader struct {
	packed   *countingReader
	unpacked countingReader
}

func (r *ratioReader) Read(p []byte) (int, error) {
	n, err := r.unpacked.Read(p)
	if r.unpacked.n > minUnpacked+r.packed.n*maxRatio {
		return 0, ErrUnpackLimit
	}
	return n, err
}
