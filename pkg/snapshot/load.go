package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Load reads a saved snapshot or the output of `kubectl get -o json|yaml`, gzipped or not,
// in UTF-8 or in an encoding with a byte order mark, as Windows writes. now becomes the scan
// time of a kubectl list, which has none. If complete is set, the list has all objects of its
// types, and a snapshot is ErrKnowsComplete. An unpacked text of more than maxBytes is an
// *input.TooLongError. Errors have one line and do not name the file.
func Load(r io.Reader, now time.Time, maxBytes int64, complete bool) (*Snapshot, error) {
	var list kubectlList
	own, _, err := list.read(r, maxBytes)
	switch {
	case err != nil:
		return nil, err
	case own != nil && complete:
		return nil, ErrKnowsComplete
	case own != nil:
		return decodeSnapshot(own)
	case len(list.types) == 0:
		return nil, cmp.Or(list.firstLeftOut, errNoObject)
	}
	return list.snapshot(now, complete), nil
}

var errNoObject = errors.New("the file holds no object")

// ErrKnowsComplete reports that a snapshot says by itself what it has completely.
var ErrKnowsComplete = errors.New("a snapshot of this tool knows what was read")

// LoadFolder reads what kubectl wrote into the JSON and YAML files of a folder, at any depth,
// gzipped or not, as Load does. It leaves out links, other files, and documents that are not an object of a cluster.
// maxBytes limits all files together. A folder with a snapshot, or without an object, is an error.
func LoadFolder(folder fs.FS, now time.Time, maxBytes int64, complete bool) (*Snapshot, error) {
	var list kubectlList
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !folderFile.MatchString(name) {
			return err
		}
		f, err := folder.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in := bufio.NewReader(f)
		if start, _ := in.Peek(len("apiVersion:")); path.Ext(name) == "" && !objectStart.Match(start) {
			return nil
		}
		before := list.leftOut
		own, size, err := list.read(in, maxBytes)
		maxBytes -= size
		switch _, long := errors.AsType[*input.TooLongError](err); {
		case long:
			return fmt.Errorf("%q and the files before it: %w", name, err)
		case own != nil:
			return fmt.Errorf("%q is a snapshot, which stands alone", name)
		case err != nil:
			list.leaveOut(err)
		}
		if before == 0 && list.leftOut > 0 {
			list.firstLeftOut = fmt.Errorf("%q: %w", name, list.firstLeftOut)
		}
		return nil
	})
	if err == nil && len(list.types) == 0 {
		err = errors.New("no .json or .yaml file in it has an object of a cluster")
	}
	if err != nil {
		return nil, err
	}
	return list.snapshot(now, complete), nil
}

// folderFile matches the names of files in a folder that may hold what kubectl wrote; those without an extension, as
// sosreport writes them, only if they begin so.
var (
	folderFile  = regexp.MustCompile(`(?i)\.(json|ya?ml)(\.gz)?$|(^|/)[^./]+$`)
	objectStart = regexp.MustCompile(`^(\{|\[|---|apiVersion:)`)
)

// dumpedLog is where kubectl cluster-info dump begins to write the log of a container between its lists.
var dumpedLog = regexp.MustCompile(`(?m)^==== START (logs for container .+ of pod .+) ====\r?$`)

// withoutLogs returns a text without the logs of containers that kubectl cluster-info dump writes to standard output. A log without its
// end goes on to the end of the text.
func withoutLogs(data []byte) (out []byte) {
	if !bytes.Contains(data, []byte("\n==== START logs for container ")) {
		return data
	}
	for {
		at := dumpedLog.FindSubmatchIndex(data)
		if at == nil {
			return append(out, data...)
		}
		out = append(out, data[:at[0]]...)
		_, data, _ = bytes.Cut(data[at[1]:], slices.Concat([]byte("\n==== END "), data[at[2]:at[3]], []byte(" ====")))
	}
}

// read adds the documents in a text. It returns the text's unpacked length in bytes, and the
// document if that is a snapshot of this program.
func (l *kubectlList) read(r io.Reader, maxBytes int64) (own []byte, size int64, err error) {
	in, err := input.Gunzip(r)
	if err != nil {
		return nil, 0, err
	}
	data, err := input.ReadAll(input.DecodeBOM(in), maxBytes)
	size = int64(len(data))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, size, fmt.Errorf("truncated gzip after %d bytes", size)
	case err != nil:
		return nil, size, err
	case len(bytes.TrimSpace(data)) == 0:
		return nil, size, errors.New("the file is empty")
	}
	documents, err := split(withoutLogs(data))
	ownGroup, _, _ := strings.Cut(APIVersion, "/")
	for _, d := range documents {
		if !bytes.Contains(d, []byte(ownGroup)) { // parsing a document costs more than reading it
			l.add(d, metav1.TypeMeta{}, 0)
			continue
		}
		var h metav1.TypeMeta
		_ = json.Unmarshal(d, &h) // other documents are left out
		group, version, _ := strings.Cut(h.APIVersion, "/")
		switch {
		case group != ownGroup:
			l.add(d, metav1.TypeMeta{}, 0)
		case h.Kind != Kind:
			return nil, size, fmt.Errorf("it holds a %q, not a snapshot", h.Kind)
		case h.APIVersion != APIVersion:
			return nil, size, fmt.Errorf("the snapshot has format %q, newer than this version of the tool reads (%s): update it", version, APIVersion)
		case len(documents) > 1:
			return nil, size, fmt.Errorf("a snapshot stands alone, but the file holds %d documents", len(documents))
		default:
			own = d
		}
	}
	return own, size, err
}

func decodeSnapshot(data []byte) (*Snapshot, error) {
	var f file
	var unknown string
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&f); err != nil {
		f = file{}
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, explain(data, err)
		}
		_, unknown, _ = strings.Cut(firstLine(err), "unknown field ") // the only error that Unmarshal ignores
	}
	var objects Deduper
	for i, o := range f.Objects {
		if o == nil || incomplete(o.Identity) {
			return nil, fmt.Errorf("object %d of the snapshot lacks its kind, name or uid", i+1)
		}
		objects.Add(o)
	}
	s := &Snapshot{
		Taken: f.Taken, Server: f.Server, Types: f.Types, Listed: f.Listed,
		Gaps: f.Gaps, Lookups: f.Lookups, Objects: objects.Objects(), UnknownField: strings.Trim(unknown, `"`),
	}
	for _, l := range s.Lookups {
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("the lookup of %q %w", l.Kind+"/"+l.Name, err)
		}
	}
	s.Normalize()
	return s, nil
}

// check returns an error if a lookup from a file contradicts itself, so that it is not taken
// for proof.
func (l Lookup) check() error {
	switch {
	case l.Outcome != Found && l.Outcome != Absent && l.Outcome != Failed:
		return fmt.Errorf("says %q, which is no outcome", l.Outcome)
	case l.Outcome == Found && l.Object == nil:
		return fmt.Errorf("says %q and lacks an object", l.Outcome)
	case l.Outcome != Found && l.Object != nil:
		return fmt.Errorf("says %q and holds an object", l.Outcome)
	case l.Object != nil && incomplete(l.Object.Identity):
		return errors.New("holds an object that lacks its kind, name or uid")
	}
	return nil
}

func incomplete(i object.Identity) bool { return i.UID == "" || i.Kind == "" || i.Name == "" }

// split returns the documents in data as JSON.
func split(data []byte) ([][]byte, error) {
	if trimmed := bytes.TrimSpace(data); trimmed[0] == '{' || trimmed[0] == '[' {
		var documents [][]byte
		for d := json.NewDecoder(bytes.NewReader(data)); ; {
			var raw json.RawMessage
			err := d.Decode(&raw)
			if errors.Is(err, io.EOF) {
				return documents, nil
			}
			if err != nil {
				return nil, explain(data, err)
			}
			documents = append(documents, raw)
		}
	}
	var documents [][]byte
	for d := range input.SplitYAML(data) {
		converted, err := input.YAMLToJSON(d)
		if err != nil {
			return nil, fmt.Errorf("neither JSON nor YAML: %s", firstLine(err))
		}
		if !bytes.Equal(converted, []byte("null")) {
			documents = append(documents, converted)
		}
	}
	if len(documents) == 0 {
		return nil, errNoObject
	}
	return documents, nil
}

// explain returns a JSON error as one line with its position.
func explain(data []byte, err error) error {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("truncated JSON: it ends after %d bytes in the middle of a value", len(data))
	case errors.As(err, &syntax):
		return fmt.Errorf("malformed JSON at byte %d: %s", syntax.Offset, firstLine(err))
	case errors.As(err, &mistyped):
		return fmt.Errorf("malformed JSON at byte %d: field %s holds a %s", mistyped.Offset, mistyped.Field, mistyped.Value)
	}
	return fmt.Errorf("malformed JSON: %s", firstLine(err))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
