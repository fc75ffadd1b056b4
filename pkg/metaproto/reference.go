package metaproto

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// The fields of meta.v1.OwnerReference.
const (
	referenceKind               = 1
	referenceName               = 3
	referenceUID                = 4
	referenceAPIVersion         = 5
	referenceController         = 6
	referenceBlockOwnerDeletion = 7
)

var referenceShape = shape{
	bytes:   numbers(referenceKind, referenceName, referenceUID, referenceAPIVersion),
	varints: numbers(referenceController, referenceBlockOwnerDeletion),
}

func (r *Reader) reference(o *object.Reference, message []byte) error {
	for len(message) > 0 {
		f, rest, err := referenceShape.next(message)
		if err != nil {
			return err
		}
		switch f.number {
		case referenceKind:
			o.Kind = r.words.share(f.bytes)
		case referenceName:
			o.Name = r.words.share(f.bytes)
		case referenceUID:
			o.UID = types.UID(r.words.share(f.bytes))
		case referenceAPIVersion:
			o.APIVersion = r.words.share(f.bytes)
		case referenceController:
			o.Controller = object.Flag(f.varint != 0)
		case referenceBlockOwnerDeletion:
			o.BlockOwnerDeletion = object.Flag(f.varint != 0)
		}
		message = rest
	}
	return nil
}
