package metaproto

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

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
