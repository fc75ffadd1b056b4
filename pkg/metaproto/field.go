package metaproto

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// errMalformed means that no server writes such a list.
var errMalformed = errors.New("the list is malformed")

// stream reads the fields of a message from the network.
type stream struct {
	in   *bufio.Reader
	left int64  // bytes of the message that were not read yet
	long []byte // a field that is larger than the buffer of in
}

// ReadByte never returns io.EOF, as a message must not end inside a field.
func (s *stream) ReadByte() (byte, error) {
	if s.left == 0 {
		return 0, fmt.Errorf("%w: a field reaches beyond its end", errMalformed)
	}
	b, err := s.in.ReadByte()
	s.left--
	return b, unexpectedEOF(err)
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *stream) tag() (protowire.Number, protowire.Type, error) {
	v, err := binary.ReadUvarint(s)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(v)
	if number < protowire.MinValidNumber {
		return 0, 0, fmt.Errorf("%w: there is no field %d", errMalformed, v>>3)
	}
	return number, kind, nil
}

// size reads the length of a field.
func (s *stream) size(limit int64) (int64, error) {
	n, err := binary.ReadUvarint(s)
	switch {
	case err != nil:
		return 0, err
	case n > uint64(s.left):
		return 0, fmt.Errorf("%w: a field reaches beyond its end", errMalformed)
	case n > uint64(limit):
		return 0, fmt.Errorf("a field of the list has %d bytes, more than the %d that are read", n, limit)
	}
	return int64(n), nil
}

// bytes reads a field with a length. The result is valid until the next read.
func (s *stream) bytes(limit int64) ([]byte, error) {
	n, err := s.size(limit)
	if err != nil {
		return nil, err
	}
	s.left -= n
	if n > int64(s.in.Size()) {
		return s.readLong(n)
	}
	b, err := s.in.Peek(int(n))
	if err != nil {
		return nil, unexpectedEOF(err)
	}
	_, err = s.in.Discard(len(b)) // does not overwrite the buffer
	return b, err
}

// readLong reads more than the buffer holds. It allocates only for bytes that arrive.
func (s *stream) readLong(n int64) ([]byte, error) {
	s.long = s.long[:0]
	for int64(len(s.long)) < n {
		b, err := s.in.Peek(int(min(n-int64(len(s.long)), int64(s.in.Size()))))
		if err != nil {
			return nil, unexpectedEOF(err)
		}
		s.long = append(s.long, b...)
		if _, err := s.in.Discard(len(b)); err != nil {
			return nil, err
		}
	}
	return s.long, nil
}

// skip skips the value of a field.
func (s *stream) skip(kind protowire.Type) error {
	n := int64(0)
	switch kind {
	case protowire.VarintType:
		_, err := binary.ReadUvarint(s)
		return err
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		var err error
		if n, err = s.size(maxBytes); err != nil {
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
	return unexpectedEOF(err)
}

// fieldTypes are the types of the fields that are decoded, as a bit per field number.
type fieldTypes struct{ bytes, varints uint64 }

func fieldSet(numbers ...protowire.Number) (bits uint64) {
	for _, n := range numbers {
		bits |= 1 << n
	}
	return bits
}

// field is a field of a message in memory. bytes is a part of that message.
type field struct {
	number protowire.Number
	varint uint64
	bytes  []byte
}

// next returns the first field of a message and the rest of the message. The field must have
// its type in t if it has one.
func (t fieldTypes) next(message []byte) (f field, rest []byte, err error) {
	number, kind, n := protowire.ConsumeTag(message)
	if n < 0 {
		return f, nil, fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
	}
	message, f.number = message[n:], number
	switch kind {
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(message)
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(message)
	case protowire.Fixed32Type:
		_, n = protowire.ConsumeFixed32(message)
	case protowire.Fixed64Type:
		_, n = protowire.ConsumeFixed64(message)
	case protowire.StartGroupType, protowire.EndGroupType: // refused below
	}
	bit := uint64(1) << number
	switch {
	case n < 0:
		return f, nil, fmt.Errorf("%w: field %d: %w", errMalformed, number, protowire.ParseError(n))
	case kind == protowire.StartGroupType, kind == protowire.EndGroupType, kind > protowire.Fixed32Type,
		kind != protowire.BytesType && t.bytes&bit != 0, kind != protowire.VarintType && t.varints&bit != 0:
		return f, nil, fmt.Errorf("%w: field %d is of type %d", errMalformed, number, kind)
	}
	return f, message[n:], nil
}
