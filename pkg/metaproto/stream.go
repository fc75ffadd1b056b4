package metaproto

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// errMalformed says that the bytes are no such list as a server writes.
var errMalformed = errors.New("the list is malformed")

// stream reads the fields of a message, of which left bytes are still to come.
type stream struct {
	in   *bufio.Reader
	left int64
	long []byte // holds a field that is larger than the buffer of in
}

// ReadByte never answers io.EOF: inside a message the end is not expected.
func (s *stream) ReadByte() (byte, error) {
	if s.left == 0 {
		return 0, fmt.Errorf("%w: a field reaches beyond its end", errMalformed)
	}
	b, err := s.in.ReadByte()
	s.left--
	return b, midway(err)
}

func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *stream) varint() (uint64, error) {
	v, err := binary.ReadUvarint(s)
	return v, err
}

func (s *stream) tag() (protowire.Number, protowire.Type, error) {
	v, err := s.varint()
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(v)
	if number < protowire.MinValidNumber {
		return 0, 0, fmt.Errorf("%w: there is no field %d", errMalformed, v>>3)
	}
	return number, kind, nil
}

// size reads the length that stands before a field's bytes.
func (s *stream) size(most int64) (int64, error) {
	n, err := s.varint()
	switch {
	case err != nil:
		return 0, err
	case n > uint64(s.left):
		return 0, fmt.Errorf("%w: a field reaches beyond its end", errMalformed)
	case n > uint64(most):
		return 0, fmt.Errorf("a field of the list has %d bytes, more than the %d that are read", n, most)
	}
	return int64(n), nil
}

// bytes reads a field that has a length. They are valid until the next read.
func (s *stream) bytes(most int64) ([]byte, error) {
	n, err := s.size(most)
	if err != nil {
		return nil, err
	}
	s.left -= n
	if n > int64(s.in.Size()) {
		return s.gather(n)
	}
	b, err := s.in.Peek(int(n))
	if err != nil {
		return nil, midway(err)
	}
	_, err = s.in.Discard(len(b)) // of what is buffered, which therefore stays in place
	return b, err
}

// gather reads more than the buffer holds. It takes no memory for bytes that were
// announced and do not come.
func (s *stream) gather(n int64) ([]byte, error) {
	s.long = s.long[:0]
	for int64(len(s.long)) < n {
		b, err := s.in.Peek(int(min(n-int64(len(s.long)), int64(s.in.Size()))))
		if err != nil {
			return nil, midway(err)
		}
		s.long = append(s.long, b...)
		if _, err := s.in.Discard(len(b)); err != nil {
			return nil, err
		}
	}
	return s.long, nil
}

// skip passes over the value of a field.
func (s *stream) skip(kind protowire.Type) error {
	n := int64(0)
	switch kind {
	case protowire.VarintType:
		_, err := s.varint()
		return err
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		var err error
		if n, err = s.size(mostBytes); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: a field is of type %d", errMalformed, kind)
	}
	if n > s.left {
		return fmt.Errorf("%w: a field reaches beyond its end", errMalformed)
	}
	s.left -= n
	_, err := io.CopyN(io.Discard, s.in, n)
	return midway(err)
}
