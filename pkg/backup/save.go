package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// flushSize is the number of pending bytes from which Save and SaveSteps write them themselves.
const flushSize = 8 << 20

// Save adds the complete manifest of an object, as the API server sent it, to what the
// next Sync writes; it is not safe until that Sync returns nil. A changed object can be
// saved again: the latest manifest of a UID counts.
//
// The manifest must have the identity and resourceVersion of the object, except for
// apiVersion and kind: one UID can be served under two of them, and those of the
// manifest are stored. An error also means that the manifest is not JSON or longer
// than 16 MiB, or ErrShareUsed. It concerns only this object, unless a write has failed before.
func (f *Folder) Save(o object.Object, manifest json.RawMessage) error {
	if err := f.Shares.Take(o.InNamespace(), len(manifest)); err != nil {
		return err
	}
	lines, err := encodeObject(o, manifest)
	if err == nil {
		err = f.records.add(lines, flushSize)
	}
	if err != nil {
		return fmt.Errorf("save %q to %s: %w", o.String(), f.path, err)
	}
	return nil
}

// encodeObject encodes an object with its manifest.
func encodeObject(o object.Object, manifest json.RawMessage) ([]byte, error) {
	line, err := encodeLine(manifest)
	if err != nil {
		return nil, err
	}
	saved, err := identify(line)
	if err != nil {
		return nil, err
	}
	want := event.Saved{Object: o.Identity, ResourceVersion: o.ResourceVersion}
	want.Object.APIVersion, want.Object.Kind = saved.Object.APIVersion, saved.Object.Kind
	if err := checkIdentity(saved, want); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(line[:len(line)-1])
	saved.SHA256 = hex.EncodeToString(sum[:])
	entry, err := encode(record{Object: &saved})
	if err != nil {
		return nil, fmt.Errorf("its entry: %w", err)
	}
	return append(entry, line...), nil
}

// identify returns which object, in which version, a manifest is of. Like kubectl and the API server, it matches the
// case of field names.
func identify(manifest []byte) (event.Saved, error) {
	var m struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace       string    `json:"namespace"`
			Name            string    `json:"name"`
			UID             types.UID `json:"uid"`
			ResourceVersion string    `json:"resourceVersion"`
		} `json:"metadata"`
	}
	err := utiljson.Unmarshal(manifest, &m)
	return event.Saved{ResourceVersion: m.Metadata.ResourceVersion, Object: object.Identity{
		APIVersion: m.APIVersion, Kind: m.Kind,
		Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, UID: m.Metadata.UID,
	}}, err
}

// checkIdentity returns an error if a manifest is of another object or version.
func checkIdentity(got, want event.Saved) error {
	if got.Object != want.Object || got.ResourceVersion != want.ResourceVersion {
		return fmt.Errorf("the manifest is of another object or version: %s, not %s", describe(got), describe(want))
	}
	return nil
}

// describe includes every field of an identity, unlike its String.
func describe(s event.Saved) string {
	o := s.Object
	return fmt.Sprintf("%q in %q (%q, uid %q, resourceVersion %q)", o.String(), o.Namespace, o.APIVersion, o.UID, s.ResourceVersion)
}
