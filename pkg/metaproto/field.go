package metaproto

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// shape tells of which type the fields of a message are that are read: a bit for
// each number.
type shape struct{ bytes, varints uint64 }

// numbers is the bits of a shape.
func numbers(of ...protowire.Number) (bits uint64) {
	for _, n := range of {
		bits |= 1 << n
	}
	return bits
}

// field is one field of a message that is all there. bytes are the message's own.
type field struct {
	number protowire.Number
	varint uint64
	bytes  []byte
}

// next takes the first field off a message. One that is read and not of its type
// is refused; the value of any other is left out.
func (s shape) next(message []byte) (f field, rest []byte, err error) {
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
		kind != protowire.BytesType && s.bytes&bit != 0, kind != protowire.VarintType && s.varints&bit != 0:
		return f, nil, fmt.Errorf("%w: field %d is of type %d", errMalformed, number, kind)
	}
	return f, message[n:], nil
}
