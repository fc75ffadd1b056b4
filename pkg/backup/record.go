package backup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// APIVersion is the format of a backup. Open rejects any other.
const APIVersion = "kubectl-gc.dev/v1alpha1"

// The files of a folder.
const (
	RecordsFile  = "records.jsonl"
	restoredFile = "restored.jsonl"
)

// FromLog is the mode of a backup that no run made: an audit log had its objects. It has no steps, and the cluster
// is known only if a scan identifies it.
const FromLog = "trace"

const maxLine = 16 << 20 // bytes

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
}

// record is a line of a file: one of these. An object has a second line, its manifest.
type record struct {
	APIVersion string        `json:"apiVersion,omitempty"` // with the header
	Header     *Header       `json:"header,omitempty"`
	Step       *event.Step   `json:"step,omitempty"`
	Object     *event.Saved  `json:"object,omitempty"`
	Result     *event.Record `json:"result,omitempty"`
	Finished   time.Time     `json:"finished,omitzero"` // when the run finished
}

// about returns the object that a record is about, if it is about one.
func (r *record) about() object.Identity {
	switch {
	case r.Step != nil:
		return r.Step.Object
	case r.Object != nil:
		return r.Object.Object
	case r.Result != nil:
		return r.Result.Object
	}
	return object.Identity{}
}

// validate returns an error if a record lacks something. It is called before writing and after reading.
func (r *record) validate() error {
	kinds := 0
	for _, is := range []bool{r.Header != nil, r.Step != nil, r.Object != nil, r.Result != nil, !r.Finished.IsZero()} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("it is not one of a header, a step, an object, a result and an end")
	case r.Header != nil && r.APIVersion != APIVersion:
		return fmt.Errorf("the backup has format %q, and this version of the tool reads %q", r.APIVersion, APIVersion)
	case r.Header != nil || !r.Finished.IsZero():
		return nil
	case r.Step != nil && (r.Step.ID == "" || r.Step.Action == ""):
		return errors.New("it lacks a step or an action")
	case r.Result != nil && (r.Result.Action == "" || r.Result.Status == ""):
		return errors.New("it lacks an action or a status")
	}
	if o := r.about(); o.APIVersion == "" || o.Kind == "" || o.Name == "" || o.UID == "" {
		return errors.New("it lacks the object's apiVersion, kind, name or uid")
	}
	return nil
}

// encode encodes a record that Open accepts.
func encode(r record) ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	return encodeLine(r)
}

// encodeLine encodes a value on one line, with its line break. It escapes characters that control a terminal or hide
// text, because people read these files, and replaces invalid bytes as decoders do. Numbers and the order of fields in
// a json.RawMessage do not change.
func encodeLine(v any) ([]byte, error) {
	var encoded bytes.Buffer
	to := json.NewEncoder(&encoded)
	to.SetEscapeHTML(false)
	if err := to.Encode(v); err != nil {
		return nil, err
	}
	line := escape.JSON(encoded.Bytes())
	if len(line) > maxLine {
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", len(line), maxLine)
	}
	return line, nil
}

// readRecords calls use for the records of a file, with the number of bytes that each takes up. It stops at what an
// interruption or a power failure left incomplete, since whatever was synced lies before it. end is where it
// stopped; cut names that line, and is empty if the file ends there.
func readRecords(file *os.File, use func(r *record, length int64) error) (end int64, cut string, err error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine+1)
	lines.Split(completeLine)
	number := 0
	next := func() bool { number++; return lines.Scan() }
	position := func() string { return fmt.Sprintf("%s line %d", filepath.Base(file.Name()), number) }
	lacksManifest := false
	for next() {
		r, length := &record{}, int64(len(lines.Bytes()))+1
		if err := utiljson.Unmarshal(lines.Bytes(), r); err != nil {
			return end, "", fmt.Errorf("%s: malformed JSON: %w", position(), err)
		}
		if err := r.validate(); err != nil {
			return end, "", fmt.Errorf("%s: %w", position(), err)
		}
		if r.Object != nil {
			if lacksManifest = !next(); lacksManifest {
				break
			}
			r.Object.Offset, r.Object.Length = end+length, int64(len(lines.Bytes()))
			length += r.Object.Length + 1
		}
		if err := use(r, length); err != nil {
			return end, "", fmt.Errorf("%s: %w", position(), err)
		}
		end += length
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return end, "", fmt.Errorf("%s: it is longer than %d bytes", position(), maxLine)
	case errors.Is(err, errIncomplete) || err == nil && lacksManifest:
		return end, position(), nil
	case err != nil:
		return end, "", fmt.Errorf("%s: %w", position(), withoutPath(err))
	}
	return end, "", nil
}

var errIncomplete = errors.New("the line is incomplete")

// completeLine is a bufio.SplitFunc. A line is incomplete without its line break, or if it contains zero bytes: the
// length of a file can reach the disk before its contents.
func completeLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	line, _, whole := bytes.Cut(data, []byte{'\n'})
	switch {
	case bytes.IndexByte(line, 0) >= 0 || atEOF && !whole && len(line) > 0:
		return 0, nil, errIncomplete
	case !whole:
		return 0, nil, nil
	}
	return len(line) + 1, line, nil
}
