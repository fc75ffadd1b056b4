package client

import (
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// DefaultMaxMemory is enough for several million objects.
const DefaultMaxMemory = 2 << 30

// MemoryError reports that a server sent more than a scan or a backup may hold.
type MemoryError struct{ Limit int64 } // bytes

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the server sends more than the %d MiB of memory that may be used for its answers", e.Limit>>20)
}

// Memory limits the bytes that are held of a server's responses. It is safe for concurrent use.
type Memory struct {
	limit int64
	held  atomic.Int64
}

func (m *Memory) Take(n int64) error {
	if m.held.Add(n) > m.limit {
		return &MemoryError{m.limit}
	}
	return nil
}

func (m *Memory) Release(n int64) { m.held.Add(-n) }

func (m *Memory) releaseObjects(objects []*object.Object) {
	for _, o := range objects {
		m.Release(sizeOf(o))
	}
}

// sizeOf estimates the bytes an object uses, including strings that it shares.
func sizeOf(o *object.Object) int64 {
	n := int(unsafe.Sizeof(*o)) + len(o.Name) + len(o.Namespace) + len(o.UID) + len(o.ResourceVersion)
	for i := range o.Owners {
		r := &o.Owners[i]
		n += int(unsafe.Sizeof(*r)) + len(r.APIVersion) + len(r.Kind) + len(r.Name) + len(r.UID)
	}
	for _, f := range o.Finalizers {
		n += int(unsafe.Sizeof(f)) + len(f)
	}
	for k, v := range o.Labels {
		n += 2*int(unsafe.Sizeof(k)) + len(k) + len(v)
	}
	return int64(n)
}

// JSONCost is how many times its length a JSON response uses while it is decoded: the bytes
// received, the items cut from it, and the decoded values.
const JSONCost = 3

// readAll reads a response to its end. The caller must release held, even on an error.
func (m *Memory) readAll(in io.Reader) (raw []byte, held int64, err error) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := in.Read(chunk)
		raw = append(raw, chunk[:n]...)
		cost := int64(n) * JSONCost
		held += cost
		if full := m.Take(cost); full != nil {
			return nil, held, full
		}
		switch {
		case err == io.EOF:
			return raw, held, nil
		case err != nil:
			return nil, held, err
		}
	}
}
