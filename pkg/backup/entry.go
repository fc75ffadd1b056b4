package backup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// The apiVersion and kind of index.json. Another apiVersion means another
// version of this program.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Backup"
)

// The files of a folder beside its manifests.
const (
	indexFile    = "index.json"
	planFile     = "plan.json"
	objectsFile  = "objects.jsonl"
	doneFile     = "done.jsonl"
	restoredFile = "restored.jsonl"
	ending       = ".json" // of a file with manifests
)

// limit is the longest line that is written or read, and what index.json may
// hold; planLimit is what a plan may hold.
const (
	limit     = 16 << 20
	planLimit = 256 << 20
)

// Header says what run a backup is of.
type Header struct {
	Tool          string    `json:"tool"`          // the version of this program
	ClusterUID    string    `json:"clusterUID"`    // UID of Namespace kube-system, which identifies the cluster; empty: unknown
	Server        string    `json:"server"`        // URL, without credentials; for information, two clusters may share one
	ServerVersion string    `json:"serverVersion"` // empty: unknown
	Context       string    `json:"context"`       // of the kubeconfig; empty: none
	Command       string    `json:"command"`       // the mode of the plan
	Digest        string    `json:"digest"`        // of the plan
	Started       time.Time `json:"started"`
	Finished      time.Time `json:"finished,omitzero"` // zero: the run was cut off, or is under way
}

// index is index.json.
type index struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Header     `json:",inline"`
}

// Entry is where the manifest of one object is: a line of objects.jsonl.
type Entry struct {
	Object          object.Identity `json:"object"`
	ResourceVersion string          `json:"resourceVersion"`
	File            string          `json:"file"`   // its name in the folder
	Offset          int64           `json:"offset"` // of its first byte
	Length          int64           `json:"length"` // in bytes, without the line break
	SHA256          string          `json:"sha256"` // of these bytes, in hexadecimal
}

// check says what is wrong with an entry that was read.
func (e Entry) check() error {
	sum, err := hex.DecodeString(e.SHA256)
	switch {
	case nameless(e.Object):
		return errors.New("it lacks the object's apiVersion, kind, name or uid")
	case !single(e.File) || !holdsManifests(e.File):
		return fmt.Errorf("%q is no name of a file with manifests", e.File)
	case e.Offset < 0 || e.Length <= 0 || e.Length > limit || e.Offset+e.Length < e.Offset:
		return fmt.Errorf("%d bytes at %d is no place of a manifest", e.Length, e.Offset)
	case err != nil || len(sum) != 32:
		return fmt.Errorf("%q is no sha256", e.SHA256)
	}
	return nil
}

func holdsManifests(file string) bool {
	return strings.HasSuffix(file, ending) && file != indexFile && file != planFile
}

func nameless(i object.Identity) bool {
	return i.APIVersion == "" || i.Kind == "" || i.Name == "" || i.UID == ""
}

// Result is how a step of the plan ended: a line of done.jsonl. Action and
// status are words of the plan and of its execution.
type Result struct {
	Step   string          `json:"step"` // its id in the plan
	Action string          `json:"action"`
	Object object.Identity `json:"object"`
	Status string          `json:"status"`
	*reason.Stored
	Time time.Time `json:"time,omitzero"`
}

// check says what is wrong with a result.
func (r Result) check() error {
	if r.Action == "" || r.Status == "" {
		return errors.New("it lacks an action or a status")
	}
	return nil
}

// Truncated is an end that was not written, or not in full, when a run was cut off.
// What Sync confirmed is not in it, unless the file was shortened afterwards.
type Truncated struct {
	File string // its name in the folder
	Line int    // counted from 1; 0: it is about the file
	What string
}

// String is one line, with the name of the file quoted where it needs to be.
func (t Truncated) String() string { return where(t.File, t.Line) + ": " + t.What }

func where(file string, line int) string {
	if quoted := fmt.Sprintf("%q", file); quoted != `"`+file+`"` {
		file = quoted
	}
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s line %d", file, line)
}
