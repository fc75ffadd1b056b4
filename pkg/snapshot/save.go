package snapshot

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// The apiVersion and kind of a saved snapshot. Another apiVersion in a file
// means another version of this program.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Snapshot"
)

// file is the saved form. Objects come last and one a line, so that a file can
// be read as a stream and compared line by line.
type file struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Taken      time.Time       `json:"taken"`
	Server     string          `json:"server,omitempty"`
	Types      []Type          `json:"types"`
	Listed     []Listing       `json:"listed"`
	Gaps       []Gap           `json:"gaps"`
	Lookups    []Lookup        `json:"lookups"`
	Objects    []object.Object `json:"objects"`
}

// Save writes the snapshot as JSON. compress wraps it in gzip.
func (s *Snapshot) Save(w io.Writer, compress bool) error {
	if !compress {
		return s.save(w)
	}
	zip := gzip.NewWriter(w)
	if err := s.save(zip); err != nil {
		return err
	}
	return zip.Close()
}

func (s *Snapshot) save(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	head, err := json.Marshal(file{
		APIVersion: APIVersion, Kind: Kind, Taken: s.Taken, Server: s.Server,
		Types: orEmpty(s.Types), Listed: orEmpty(s.Listed), Gaps: orEmpty(s.Gaps), Lookups: orEmpty(s.Lookups),
		Objects: []object.Object{},
	})
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	const tail = "]}"
	if _, err := out.Write(head[:len(head)-len(tail)]); err != nil {
		return err
	}
	for i := range s.Objects {
		line, err := json.Marshal(&s.Objects[i])
		if err != nil {
			return fmt.Errorf("encode %s: %w", s.Objects[i].Identity, err)
		}
		separator := ",\n"
		if i == 0 {
			separator = "\n"
		}
		if _, err := out.WriteString(separator); err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	if _, err := out.WriteString("\n" + tail + "\n"); err != nil {
		return err
	}
	return out.Flush()
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
