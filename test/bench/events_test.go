package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// event returns one event of a watch as an API server sends it.
func event(t *testing.T, kind, object string) []byte {
	t.Helper()
	e := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: []byte(object)}}
	body, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestInitialEvents(t *testing.T) {
	added, later := event(t, "ADDED", "an object"), event(t, "BOOKMARK", "only a resourceVersion")
	end := event(t, "BOOKMARK", metav1.InitialEventsAnnotationKey)
	for name, c := range map[string]struct {
		sent [][]byte
		rest int
		ok   bool
	}{
		"end with their bookmark":                 {[][]byte{added, added, end}, 0, true},
		"of an empty list are only that bookmark": {[][]byte{end}, 0, true},
		"leave later events unread":               {[][]byte{added, end, added}, len(added), true},
		"do not end with another bookmark":        {[][]byte{added, later, end}, 0, true},
		"are incomplete without the bookmark":     {[][]byte{added, later}, 0, false},
		"are incomplete if an event is truncated": {[][]byte{added, end[:len(end)-1]}, 0, false},
		"are incomplete after an error event":     {[][]byte{added, event(t, "ERROR", "expired"), end}, len(end), false},
		"are not JSON":                            {[][]byte{[]byte(`{"type":"ADDED","object":{}}`)}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReader(bytes.NewReader(bytes.Join(c.sent, nil)))
			err := initialEvents(r)
			if ok := err == nil; ok != c.ok {
				t.Errorf("got %v", err)
			}
			if c.ok && r.Buffered() != c.rest {
				t.Errorf("%d bytes are left, want %d", r.Buffered(), c.rest)
			}
		})
	}
}
