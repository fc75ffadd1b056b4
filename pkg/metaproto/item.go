package metaproto

import (
	"bytes"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// The fields of meta.v1.ObjectMeta and of what is in it.
const (
	itemMetadata = 1

	metaName                       = 1
	metaNamespace                  = 3
	metaUID                        = 5
	metaResourceVersion            = 6
	metaCreationTimestamp          = 8
	metaDeletionTimestamp          = 9
	metaDeletionGracePeriodSeconds = 10
	metaLabels                     = 11
	metaOwnerReferences            = 13
	metaFinalizers                 = 14

	timestampSeconds = 1

	labelKey   = 1
	labelValue = 2
)

var (
	itemShape = shape{bytes: numbers(itemMetadata)}
	metaShape = shape{
		bytes: numbers(metaName, metaNamespace, metaUID, metaResourceVersion, metaCreationTimestamp, metaDeletionTimestamp,
			metaLabels, metaOwnerReferences, metaFinalizers),
		varints: numbers(metaDeletionGracePeriodSeconds),
	}
	timestampShape = shape{varints: numbers(timestampSeconds)}
	labelShape     = shape{bytes: numbers(labelKey, labelValue)}
)

// item reads a PartialObjectMetadata.
func (r *Reader) item(o *object.Object, message []byte) error {
	o.APIVersion, o.Kind = r.apiVersion, r.kind
	r.owners = r.owners[:0]
	for len(message) > 0 {
		f, rest, err := itemShape.next(message)
		if err == nil && f.number == itemMetadata {
			err = r.metadata(o, f.bytes)
		}
		if err != nil {
			return err
		}
		message = rest
	}
	var err error
	o.Owners, err = r.references(r.owners)
	return err
}

func (r *Reader) metadata(o *object.Object, message []byte) error {
	for len(message) > 0 {
		f, rest, err := metaShape.next(message)
		if err != nil {
			return err
		}
		message = rest
		switch f.number {
		case metaName:
			o.Name = r.words.keep(f.bytes)
		case metaNamespace:
			o.Namespace = r.words.share(f.bytes)
		case metaUID:
			o.UID = types.UID(r.words.keep(f.bytes))
		case metaResourceVersion:
			o.ResourceVersion = r.words.keep(f.bytes)
		case metaCreationTimestamp:
			o.Created, err = readTime(f.bytes)
		case metaDeletionTimestamp:
			var at time.Time
			at, err = readTime(f.bytes)
			o.Deleted = &at
		case metaDeletionGracePeriodSeconds:
			seconds := int64(f.varint)
			o.GraceSeconds = &seconds
		case metaLabels:
			if r.labels {
				err = r.label(o, f.bytes)
			}
		case metaOwnerReferences:
			r.owners = append(r.owners, f.bytes)
		case metaFinalizers:
			o.Finalizers = append(o.Finalizers, r.words.share(f.bytes))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readTime reads whole seconds, as metav1.Time does: of nothing, the zero time.
func readTime(message []byte) (time.Time, error) {
	if len(message) == 0 {
		return time.Time{}, nil
	}
	var seconds int64
	for len(message) > 0 {
		f, rest, err := timestampShape.next(message)
		if err != nil {
			return time.Time{}, err
		}
		if f.number == timestampSeconds {
			seconds = int64(f.varint)
		}
		message = rest
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (r *Reader) label(o *object.Object, message []byte) error {
	var key, value []byte
	for len(message) > 0 {
		f, rest, err := labelShape.next(message)
		if err != nil {
			return err
		}
		switch f.number {
		case labelKey:
			key = f.bytes
		case labelValue:
			value = f.bytes
		}
		message = rest
	}
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	o.Labels[r.words.share(key)] = r.words.share(value)
	return nil
}

// siblings are the references that an item had last, and their bytes. A list is in
// the order of names, so that the objects of one owner mostly follow one another:
// they share one slice. Nobody may write into it.
type siblings struct {
	bytes      []byte
	references []object.Reference
}

// references reads the ownerReferences of an item.
func (r *Reader) references(owners [][]byte) ([]object.Reference, error) {
	if len(owners) == 0 {
		return nil, nil
	}
	single := len(owners) == 1
	if single && r.siblings.references != nil && bytes.Equal(owners[0], r.siblings.bytes) {
		return r.siblings.references, nil
	}
	out := make([]object.Reference, len(owners))
	for i, message := range owners {
		if err := r.reference(&out[i], message); err != nil {
			return nil, err
		}
	}
	if single {
		r.siblings.bytes, r.siblings.references = append(r.siblings.bytes[:0], owners[0]...), out
	}
	return out, nil
}
