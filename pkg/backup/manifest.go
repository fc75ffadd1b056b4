package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// ObjectOf reads the metadata of a complete manifest: what Folder.Save takes
// beside it, without labels. It is an error if the manifest lacks its
// apiVersion, kind, name or uid.
func ObjectOf(manifest json.RawMessage) (object.Object, error) {
	var m metav1.PartialObjectMetadata
	if err := utiljson.Unmarshal(manifest, &m); err != nil {
		return object.Object{}, fmt.Errorf("read manifest: %w", err)
	}
	o := object.FromMeta(m.APIVersion, m.Kind, &m, false)
	if nameless(o.Identity) {
		return object.Object{}, errors.New("read manifest: it lacks its apiVersion, kind, name or uid")
	}
	return o, nil
}

// compact returns a manifest in one line. Characters that act on a terminal or hide
// something become escapes that decode to the same value, and invalid bytes what
// decoders take them for. Nothing else changes: numbers and the order of fields stay.
func compact(manifest json.RawMessage) ([]byte, error) {
	var compacted bytes.Buffer
	if err := json.Compact(&compacted, manifest); err != nil {
		return nil, err
	}
	line := escape.JSON(compacted.Bytes())
	if len(line) > limit {
		return nil, fmt.Errorf("%d bytes are more than the %d that a backup takes", len(line), limit)
	}
	return line, nil
}

// identify reads which object a manifest is of, and in which version. Field names
// count in their exact spelling, as kubectl and the server read them.
func identify(manifest []byte) (of object.Identity, resourceVersion string, err error) {
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
	err = utiljson.Unmarshal(manifest, &m)
	return object.Identity{
		APIVersion: m.APIVersion, Kind: m.Kind,
		Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, UID: m.Metadata.UID,
	}, m.Metadata.ResourceVersion, err
}

// compare says how what a manifest is of differs from what it should be of.
func compare(got, want object.Identity, gotVersion, wantVersion string) error {
	if got != want {
		return fmt.Errorf("the manifest is of another object: %s, not %s", describe(got), describe(want))
	}
	if gotVersion != wantVersion {
		return fmt.Errorf("the manifest is of resourceVersion %q, not %q", gotVersion, wantVersion)
	}
	return nil
}

// describe tells objects apart that String does not.
func describe(i object.Identity) string {
	return fmt.Sprintf("%q in %q (%q, uid %q)", i.String(), i.Namespace, i.APIVersion, i.UID)
}
