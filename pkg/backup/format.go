package backup

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// The apiVersion and kind of index.json. Open rejects any other apiVersion.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Backup"
)

// The files of a folder.
const (
	indexFile    = "index.json"
	stepsFile    = "steps.jsonl"
	objectsFile  = "objects.jsonl"
	doneFile     = "done.jsonl"
	restoredFile = "restored.jsonl"
)

// FromLog is the mode of a backup that no run made: an audit log had its objects. It has no steps, and the cluster
// is known only if a scan identifies it.
const FromLog = "trace"

const maxLine = 16 << 20 // bytes of a line, and of index.json

// Header describes the run that a backup is of.
type Header struct {
	Tool       string `json:"tool"`       // version of this program
	ClusterUID string `json:"clusterUID"` // UID of namespace kube-system; empty if unknown
	// Witnesses are the UIDs of objects that identify the cluster, too: one is enough. None if ClusterUID is known.
	Witnesses     []types.UID `json:"witnesses,omitempty"`
	Server        string      `json:"server"`        // URL without credentials; does not identify the cluster
	ServerVersion string      `json:"serverVersion"` // empty if unknown
	Context       string      `json:"context"`       // of the kubeconfig; may be empty
	Command       string      `json:"command"`
	Mode          string      `json:"mode"`   // of the plan, or FromLog
	Digest        string      `json:"digest"` // of the plan
	Started       time.Time   `json:"started"`
	Finished      time.Time   `json:"finished,omitzero"` // zero if the run was interrupted or has not finished
}

// index is index.json.
type index struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Header     `json:",inline"`
}

func validateSaved(s event.Saved) error {
	sum, err := hex.DecodeString(s.SHA256)
	switch {
	case incomplete(s.Object):
		return validateObject(s.Object)
	case s.Length <= 0 || s.Length > maxLine:
		return fmt.Errorf("a manifest cannot have %d bytes", s.Length)
	case err != nil || len(sum) != 32:
		return fmt.Errorf("%q is not a sha256", s.SHA256)
	}
	return nil
}

func incomplete(i object.Identity) bool {
	return i.APIVersion == "" || i.Kind == "" || i.Name == "" || i.UID == ""
}

func validateObject(o object.Identity) error {
	if incomplete(o) {
		return errors.New("it lacks the object's apiVersion, kind, name or uid")
	}
	return nil
}

func validateStep(s event.Step) error {
	if s.ID == "" || s.Action == "" {
		return errors.New("it lacks a step or an action")
	}
	return validateObject(s.Object)
}

func validateResult(r event.Record) error {
	if r.Action == "" || r.Status == "" {
		return errors.New("it lacks an action or a status")
	}
	return nil
}

func validateRestored(r event.Record) error {
	return cmp.Or(validateResult(r), validateObject(r.Object))
}

// Truncated describes a part of a file that an interrupted run did not write, or not
// completely. Unless the file was shortened later, Sync had not confirmed it.
type Truncated struct {
	File string // name in the folder
	Line int    // starting at 1
	What string
}

// String returns one line.
func (t Truncated) String() string { return position(t.File, t.Line) + ": " + t.What }

func position(file string, line int) string { return fmt.Sprintf("%s line %d", file, line) }

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
