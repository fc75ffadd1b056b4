package input

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Recoded is a text in UTF-8 that begins with the mark of an encoding, as PowerShell
// writes what is piped into a file, and without that mark. Any other is as it was.
func Recoded(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if start, _ := in.Peek(len(mark)); bytes.Equal(start, []byte(mark)) {
			return transform.NewReader(in, unicode.BOMOverride(transform.Nop))
		}
	}
	return in
}
