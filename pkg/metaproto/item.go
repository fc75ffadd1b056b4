package metaproto

import (
	"bytes"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Field numbers of PartialObjectMetadata, ObjectMeta and the messages in it.
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

	referenceKind               = 1
	referenceName               = 3
	referenceUID                = 4
	referenceAPIVersion         = 5
	referenceController         = 6
	referenceBlockOwnerDeletion = 7
)

var (
	itemFields = fieldTypes{bytes: fieldSet(itemMetadata)}
	metaFields = fieldTypes{
		bytes: fieldSet(metaName, metaNamespace, metaUID, metaResourceVersion, metaCreationTimestamp, metaDeletionTimestamp,
			metaLabels, metaOwnerReferences, metaFinalizers),
		varints: fieldSet(metaDeletionGracePeriodSeconds),
	}
	timestampFields = fieldTypes{varints: fieldSet(timestampSeconds)}
	labelFields     = fieldTypes{bytes: fieldSet(labelKey, labelValue)}
	referenceFields = fieldTypes{
		bytes:   fieldSet(referenceKind, referenceName, referenceUID, referenceAPIVersion),
		varints: fieldSet(referenceController, referenceBlockOwnerDeletion),
	}
)

// item decodes a PartialObjectMetadata.
func (r *Reader) item(o *object.Object, message []byte) error {
	o.APIVersion, o.Kind = r.apiVersion, r.kind
	r.ownerFields = r.ownerFields[:0]
	for len(message) > 0 {
		f, rest, err := itemFields.next(message)
		if err == nil && f.number == itemMetadata {
			err = r.metadata(o, f.bytes)
		}
		if err != nil {
			return err
		}
		message = rest
	}
	var err error
	o.Owners, err = r.references()
	return err
}

func (r *Reader) metadata(o *object.Object, message []byte) error {
	for len(message) > 0 {
		f, rest, err := metaFields.next(message)
		if err != nil {
			return err
		}
		message = rest
		switch f.number {
		case metaName:
			o.Name = r.strings.copy(f.bytes)
		case metaNamespace:
			o.Namespace = r.strings.intern(f.bytes)
		case metaUID:
			o.UID = types.UID(r.strings.copy(f.bytes))
		case metaResourceVersion:
			o.ResourceVersion = r.strings.copy(f.bytes)
		case metaCreationTimestamp:
			o.Created, err = decodeTime(f.bytes)
		case metaDeletionTimestamp:
			var deleted time.Time
			deleted, err = decodeTime(f.bytes)
			o.Deleted = &deleted
		case metaDeletionGracePeriodSeconds:
			seconds := int64(f.varint)
			o.GraceSeconds = &seconds
		case metaLabels:
			if r.labels {
				err = r.label(o, f.bytes)
			}
		case metaOwnerReferences:
			r.ownerFields = append(r.ownerFields, f.bytes)
		case metaFinalizers:
			o.Finalizers = append(o.Finalizers, r.strings.intern(f.bytes))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeTime decodes whole seconds, as metav1.Time does. An empty message is the zero time.
func decodeTime(message []byte) (time.Time, error) {
	if len(message) == 0 {
		return time.Time{}, nil
	}
	var seconds int64
	for len(message) > 0 {
		f, rest, err := timestampFields.next(message)
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
		f, rest, err := labelFields.next(message)
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
	o.Labels[r.strings.intern(key)] = r.strings.intern(value)
	return nil
}

// references decodes the ownerReferences of the current item.
func (r *Reader) references() ([]object.Reference, error) {
	if len(r.ownerFields) == 0 {
		return nil, nil
	}
	single := len(r.ownerFields) == 1
	if single && r.lastOwners != nil && bytes.Equal(r.ownerFields[0], r.lastOwnerField) {
		return r.lastOwners, nil
	}
	out := make([]object.Reference, len(r.ownerFields))
	for i, message := range r.ownerFields {
		if err := r.reference(&out[i], message); err != nil {
			return nil, err
		}
	}
	if single {
		r.lastOwnerField, r.lastOwners = append(r.lastOwnerField[:0], r.ownerFields[0]...), out
	}
	return out, nil
}

func (r *Reader) reference(out *object.Reference, message []byte) error {
	for len(message) > 0 {
		f, rest, err := referenceFields.next(message)
		if err != nil {
			return err
		}
		switch f.number {
		case referenceKind:
			out.Kind = r.strings.intern(f.bytes)
		case referenceName:
			out.Name = r.strings.intern(f.bytes)
		case referenceUID:
			out.UID = types.UID(r.strings.intern(f.bytes))
		case referenceAPIVersion:
			out.APIVersion = r.strings.intern(f.bytes)
		case referenceController:
			out.Controller = object.Flag(f.varint != 0)
		case referenceBlockOwnerDeletion:
			out.BlockOwnerDeletion = object.Flag(f.varint != 0)
		}
		message = rest
	}
	return nil
}
