package metaproto

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Head is how the encoding of a list begins: the mark of Kubernetes' protobuf, and
// the type. What begins otherwise is not for this package.
const Head = "k8s\x00" + // runtime/serializer/protobuf
	"\x0a\x2b" + // runtime.Unknown.typeMeta
	"\x0a\x0emeta.k8s.io/v1" + "\x12\x19PartialObjectMetadataList"

// The fields that are read, as the generated.proto of apimachinery numbers them.
const (
	unknownRaw = 2

	listMetadata = 1
	listItems    = 2

	listMetaResourceVersion    = 2
	listMetaContinue           = 3
	listMetaRemainingItemCount = 4
)

// A server whose answer has no end must not take all memory.
const (
	mostBytes     = 4 << 30  // of one answer
	mostItemBytes = 16 << 20 // of one item, ten times what etcd stores
)

// ErrTooMany says that a list holds more objects than were to be read of it.
var ErrTooMany = errors.New("it holds more objects than are read")

// Reader reads the pages of one list, and shares among all of them the strings
// that repeat. It is not safe for concurrent use.
type Reader struct {
	// Begun, unless it is nil, is told what a list says of itself before its items are
	// read, if it says so first, as servers do.
	Begun func(metav1.ListMeta)
	// Each, unless it is nil, is called with every object as it is read. Its error ends
	// the reading.
	Each func(*object.Object) error

	apiVersion, kind string
	labels           bool
	words            words
	slab             []object.Object // room for objects, of which len are taken
	siblings         siblings
	owners           [][]byte // of the item under way
}

// NewReader is for a list of that type. Items of a list need not say what they
// are (docs/gc-semantics.md#metadata-and-kinds). labels says whether to keep them.
func NewReader(apiVersion, kind string, labels bool) *Reader {
	return &Reader{apiVersion: apiVersion, kind: kind, labels: labels}
}

// Append reads one answer to its end, appends up to most objects, and answers what
// the list says of itself. On an error, what it appended is to be forgotten: one
// that is io.ErrUnexpectedEOF says that the body ended before the list did.
//
// Three things that client-go reads are refused, since no server writes them: an
// encoding that protobuf knows no more (groups, numbers that are too long), two
// lists in one answer, and more than the limits.
func (r *Reader) Append(into []*object.Object, in *bufio.Reader, most int) ([]*object.Object, metav1.ListMeta, error) {
	into, meta, err := r.answer(into, in, most)
	if err != nil {
		err = fmt.Errorf("read list: %w", err)
	}
	return into, meta, err
}

func (r *Reader) answer(into []*object.Object, in *bufio.Reader, most int) (out []*object.Object, meta metav1.ListMeta, err error) {
	head, err := in.Peek(len(Head))
	if err != nil {
		return into, meta, midway(err)
	}
	if string(head) != Head {
		return into, meta, fmt.Errorf("%w: it begins with %q", errMalformed, head)
	}
	if _, err := in.Discard(len(Head)); err != nil {
		return into, meta, err
	}
	s, read := &stream{in: in, left: math.MaxInt64}, false
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			break
		}
		number, kind, err := s.tag()
		switch {
		case err != nil:
		case number != unknownRaw:
			err = s.skip(kind)
		case kind != protowire.BytesType || read:
			err = fmt.Errorf("%w: there is more than one", errMalformed)
		default:
			read = true
			into, err = r.list(into, &meta, s, most)
		}
		if err != nil {
			return into, meta, err
		}
	}
	if !read {
		return into, meta, io.ErrUnexpectedEOF
	}
	return into, meta, nil
}

// slab is how many objects have one piece of memory together: as many as fill one of
// the sizes that the runtime has.
var slab = (32 << 10) / int(reflect.TypeFor[object.Object]().Size())

// room is where an object goes.
func (r *Reader) room() *object.Object {
	if len(r.slab) == cap(r.slab) {
		r.slab = make([]object.Object, 0, min(max(8, 2*cap(r.slab)), slab))
	}
	r.slab = append(r.slab, object.Object{})
	return &r.slab[len(r.slab)-1]
}

// list reads the PartialObjectMetadataList.
func (r *Reader) list(into []*object.Object, meta *metav1.ListMeta, s *stream, most int) ([]*object.Object, error) {
	n, err := s.size(mostBytes)
	if err != nil {
		return into, err
	}
	behind := s.left - n
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
		message, err := s.bytes(mostItemBytes)
		if err != nil {
			return into, err
		}
		if number == listMetadata {
			if err := readListMeta(meta, message); err != nil {
				return into, err
			}
			if r.Begun != nil {
				r.Begun(*meta)
			}
			continue
		}
		if most--; most < 0 {
			return into, ErrTooMany
		}
		o := r.room()
		if err := r.item(o, message); err != nil {
			return into, err
		}
		if r.Each != nil {
			if err := r.Each(o); err != nil {
				return into, err
			}
		}
		into = append(into, o)
	}
	s.left = behind
	return into, nil
}

var listMetaShape = shape{
	bytes:   numbers(listMetaResourceVersion, listMetaContinue),
	varints: numbers(listMetaRemainingItemCount),
}

func readListMeta(meta *metav1.ListMeta, message []byte) error {
	for len(message) > 0 {
		f, rest, err := listMetaShape.next(message)
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
