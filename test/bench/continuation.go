package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// reader is the input for the encoding of a list.
type reader interface {
	io.Reader
	io.ByteReader
	Discard(n int) (int, error)
}

// The parts of a list in protobuf up to its continue token: the envelope (runtime.Unknown)
// has the type and then the list, which begins with its ListMeta.
const (
	magic          = "k8s\x00"
	envelopeObject = 2
	listMeta       = 1
	metaContinue   = 3
	longestMeta    = 1 << 20
)

var errNoList = errors.New("the answer is no list in protobuf")

// continuation returns the continue token of a list, empty on the last page. It does not
// read the rest.
func continuation(r reader) (string, error) {
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(r, begin); err != nil || string(begin) != magic {
		return "", errNoList
	}
	for {
		number, length, err := field(r)
		if err != nil {
			return "", err
		}
		if number == envelopeObject {
			break
		}
		if _, err := r.Discard(length); err != nil {
			return "", fmt.Errorf("%w: %w", errNoList, err)
		}
	}
	number, length, err := field(r)
	if err != nil || number != listMeta || length > longestMeta {
		return "", errNoList
	}
	meta := make([]byte, length)
	if _, err := io.ReadFull(r, meta); err != nil {
		return "", fmt.Errorf("%w: %w", errNoList, err)
	}
	return textField(meta, metaContinue)
}

// field reads the head of a field that has a length.
func field(r io.ByteReader) (number, length int, err error) {
	tag, err := binary.ReadUvarint(r)
	if err != nil || tag&7 != 2 {
		return 0, 0, errNoList
	}
	size, err := binary.ReadUvarint(r)
	if err != nil || size > 1<<40 {
		return 0, 0, errNoList
	}
	return int(tag >> 3), int(size), nil
}

// textField returns a string field of a message of strings and numbers.
func textField(message []byte, number uint64) (string, error) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return "", errNoList
		}
		message = message[n:]
		value, n := binary.Uvarint(message)
		if n <= 0 {
			return "", errNoList
		}
		message = message[n:]
		switch {
		case tag&7 == 0:
			continue
		case tag&7 != 2 || value > uint64(len(message)):
			return "", errNoList
		case tag>>3 == number:
			return string(message[:value]), nil
		}
		message = message[value:]
	}
	return "", nil
}
