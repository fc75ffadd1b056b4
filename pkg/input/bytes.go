package input

import (
	"fmt"
	"io"
)

// TooLongError says that a text was not read to its end.
type TooLongError struct{ Most int64 }

// Error does not say which text.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("it is longer than the %d MiB that are read", e.Most>>20)
}

// Bytes reads a text of at most so many bytes.
func Bytes(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(data)) > most {
		return nil, &TooLongError{most}
	}
	return data, err
}
