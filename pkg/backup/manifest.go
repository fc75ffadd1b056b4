package backup

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// compact returns a manifest on one line. It escapes characters that control a
// terminal or hide text, and replaces invalid bytes as decoders do. Numbers and the
// order of fields do not change.
func compact(manifest json.RawMessage) ([]byte, error) {
	var compacted bytes.Buffer
	if err := json.Compact(&compacted, manifest); err != nil {
		return nil, err
	}
	line := escape.JSON(compacted.Bytes())
	if len(line) > maxLine {
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", len(line), maxLine)
	}
	return line, nil
}

// identify returns the identity and the resourceVersion of a manifest. Like kubectl and
// the API server, it matches the case of field names.
func identify(manifest []byte) (id object.Identity, resourceVersion string, err error) {
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

// checkIdentity returns an error if the manifest is of another object or version.
func checkIdentity(got, want object.Identity, gotVersion, wantVersion string) error {
	if got != want {
		return fmt.Errorf("the manifest is of another object: %s, not %s", describe(got), describe(want))
	}
	if gotVersion != wantVersion {
		return fmt.Errorf("the manifest is of resourceVersion %q, not %q", gotVersion, wantVersion)
	}
	return nil
}

// describe includes every field of an identity, unlike String.
func describe(i object.Identity) string {
	return fmt.Sprintf("%q in %q (%q, uid %q)", i.String(), i.Namespace, i.APIVersion, i.UID)
}
