// Package metaproto decodes metadata lists while they arrive from an API server: Kubernetes'
// protobuf encoding of a meta.k8s.io/v1 PartialObjectMetadataList.
//
// It keeps the fields of object.Object and skips the rest, such as managedFields and
// annotations, without copying it. The result equals object.FromMeta of the items that
// client-go decodes from the same bytes, but some encodings that no server writes are errors
// (see Reader.Append).
//
// The caller makes the request and handles every other kind of response.
package metaproto

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Head is the beginning of every list: the magic number of Kubernetes' protobuf, and the
// type. This package does not decode anything else.
const Head = "k8s\x00" + // runtime/serializer/protobuf
	"\x0a\x2b" + // runtime.Unknown.typeMeta
	"\x0a\x0emeta.k8s.io/v1" + "\x12\x19PartialObjectMetadataList"

// Field numbers, from the generated.proto files of apimachinery.
const (
	unknownRaw = 2

	listMetadata = 1
	listItems    = 2

	listMetaResourceVersion    = 2
	listMetaContinue           = 3
	listMetaRemainingItemCount = 4
)

// Limits, so that an endless response does not exhaust the memory.
const (
	maxBytes     = 4 << 30  // of a response
	maxItemBytes = 16 << 20 // of an item, ten times the limit of etcd
)

// ErrTooManyObjects means that a list holds more objects than the caller allowed.
var ErrTooManyObjects = errors.New("it holds more objects than are read")

// Reader decodes the pages of one list, which share repeated strings. It is not safe for
// concurrent use.
type Reader struct {
	// OnObject is called with every object as soon as it is decoded. An error ends Append.
	// Optional.
	OnObject func(*object.Object) error

	apiVersion, kind string
	labels           bool
	strings          interner
	slab             []object.Object // len of them are in use
	ownerFields      [][]byte        // encoded ownerReferences of the current item
	// A list is sorted by name, so that the dependents of one owner mostly follow one
	// another. Those with a single reference share its decoded form, which must not be
	// written to.
	lastOwnerField []byte
	lastOwners     []object.Reference
}

// NewReader returns a Reader for a list of the given type, as items need not have their own
// (docs/gc-semantics.md#metadata-and-kinds). labels is whether to keep the items' labels.
func NewReader(apiVersion, kind string, labels bool) *Reader {
	return &Reader{apiVersion: apiVersion, kind: kind, labels: labels}
}

// Append decodes one response body, appends up to limit objects to into, and returns the
// metadata of the list. If it returns an error, the caller must discard the objects. The
// error is io.ErrUnexpectedEOF if the body ended before the list did.
//
// It refuses three things that client-go accepts, but no server writes: deprecated encodings
// (groups, overlong numbers), two lists in one response, and more than the limits.
func (r *Reader) Append(into []*object.Object, in *bufio.Reader, limit int) ([]*object.Object, metav1.ListMeta, error) {
	into, meta, err := r.response(into, in, limit)
	if err != nil {
		err = fmt.Errorf("read list: %w", err)
	}
	return into, meta, err
}

func (r *Reader) response(into []*object.Object, in *bufio.Reader, limit int) (out []*object.Object, meta metav1.ListMeta, err error) {
	head, err := in.Peek(len(Head))
	if err != nil {
		return into, meta, unexpectedEOF(err)
	}
	if string(head) != Head {
		return into, meta, fmt.Errorf("%w: it begins with %q", errMalformed, head)
	}
	if _, err := in.Discard(len(Head)); err != nil {
		return into, meta, err
	}
	s, found := &stream{in: in, left: math.MaxInt64}, false
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			break
		}
		number, kind, err := s.tag()
		switch {
		case err != nil:
		case number != unknownRaw:
			err = s.skip(kind)
		case kind != protowire.BytesType || found:
			err = fmt.Errorf("%w: there is more than one", errMalformed)
		default:
			found = true
			into, err = r.list(into, &meta, s, limit)
		}
		if err != nil {
			return into, meta, err
		}
	}
	if !found {
		return into, meta, io.ErrUnexpectedEOF
	}
	return into, meta, nil
}

// slabLength is the number of objects in the largest size class of the Go runtime.
var slabLength = (32 << 10) / int(reflect.TypeFor[object.Object]().Size())

// newObject allocates objects in slabs.
func (r *Reader) newObject() *object.Object {
	if len(r.slab) == cap(r.slab) {
		r.slab = make([]object.Object, 0, min(max(8, 2*cap(r.slab)), slabLength))
	}
	r.slab = append(r.slab, object.Object{})
	return &r.slab[len(r.slab)-1]
}

func (r *Reader) list(into []*object.Object, meta *metav1.ListMeta, s *stream, limit int) ([]*object.Object, error) {
	n, err := s.size(maxBytes)
	if err != nil {
		return into, err
	}
	after := s.left - n
	for s.left = n; s.left > 0; {
		number, kind, err := s.tag()
		if err != nil {
			return into, err
		}
		if number != listMetadata && number != listItems {
			if err := s.skip(kind); err != nil {
				return into, err
			}
			continue
		}
		if kind != protowire.BytesType {
			return into, fmt.Errorf("%w: field %d is of type %d", errMalformed, number, kind)
		}
		message, err := s.bytes(maxItemBytes)
		if err != nil {
			return into, err
		}
		if number == listMetadata {
			if err := decodeListMeta(meta, message); err != nil {
				return into, err
			}
			continue
		}
		if limit--; limit < 0 {
			return into, ErrTooManyObjects
		}
		o := r.newObject()
		if err := r.item(o, message); err != nil {
			return into, err
		}
		if r.OnObject != nil {
			if err := r.OnObject(o); err != nil {
				return into, err
			}
		}
		if len(into) == cap(into) {
			into = slices.Grow(into, max(8, len(into)+1)) // double; append grows a long slice by a quarter, which leaves more garbage
		}
		into = append(into, o)
	}
	s.left = after
	return into, nil
}

var listMetaFields = fieldTypes{
	bytes:   fieldSet(listMetaResourceVersion, listMetaContinue),
	varints: fieldSet(listMetaRemainingItemCount),
}

func decodeListMeta(meta *metav1.ListMeta, message []byte) error {
	for len(message) > 0 {
		f, rest, err := listMetaFields.next(message)
		if err != nil {
			return err
		}
		switch f.number {
		case listMetaResourceVersion:
			meta.ResourceVersion = string(f.bytes)
		case listMetaContinue:
			meta.Continue = string(f.bytes)
		case listMetaRemainingItemCount:
			count := int64(f.varint)
			meta.RemainingItemCount = &count
		}
		message = rest
	}
	return nil
}
