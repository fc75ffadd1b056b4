package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const longestEvent = 64 << 20

var errNoEvents = errors.New("the answer is no watch in protobuf")

// initialEvents reads a watch until the server has sent all initial events. Each event has
// its length in four bytes before it, and begins with its type, the first field.
func initialEvents(r reader) error {
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return fmt.Errorf("%w: %w", errNoEvents, err)
		}
		length := int(binary.BigEndian.Uint32(head[:]))
		kind, n, err := eventType(r, length)
		if err != nil {
			return err
		}
		switch kind {
		case "ERROR":
			return errors.New("the server ended the watch with an error")
		case "BOOKMARK":
			bookmark := make([]byte, length-n)
			if _, err := io.ReadFull(r, bookmark); err != nil {
				return fmt.Errorf("%w: %w", errNoEvents, err)
			}
			if bytes.Contains(bookmark, []byte(metav1.InitialEventsAnnotationKey)) {
				return nil
			}
			continue
		}
		if _, err := r.Discard(length - n); err != nil {
			return fmt.Errorf("%w: %w", errNoEvents, err)
		}
	}
}

// eventType reads the type of an event and returns how many bytes that took.
func eventType(r reader, length int) (kind string, n int, err error) {
	const typeField, text = 1, 2
	if length < 2 || length > longestEvent {
		return "", 0, errNoEvents
	}
	tag, err := r.ReadByte()
	if err != nil || tag != typeField<<3|text {
		return "", 0, errNoEvents
	}
	size, err := r.ReadByte()
	if err != nil || int(size) > min(127, length-2) {
		return "", 0, errNoEvents
	}
	name := make([]byte, size)
	if _, err := io.ReadFull(r, name); err != nil {
		return "", 0, fmt.Errorf("%w: %w", errNoEvents, err)
	}
	return string(name), 2 + len(name), nil
}
