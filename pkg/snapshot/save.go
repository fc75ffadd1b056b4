package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// The apiVersion and kind of a saved snapshot. A file with another version of the API group
// was written by another version of this tool.
const (
	APIVersion = "kubectl-gc.dev/v1alpha1"
	Kind       = "Snapshot"
)

// file is the saved form.
type file struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Taken      time.Time        `json:"taken"`
	Server     string           `json:"server,omitempty"`
	Types      []Type           `json:"types"`
	Listed     []Listing        `json:"listed"`
	Gaps       []Gap            `json:"gaps"`
	Lookups    []Lookup         `json:"lookups"`
	Objects    []*object.Object `json:"objects"`
}

// Save writes the snapshot as JSON, with a line for each entry of a list so that files can
// be compared line by line. Strings are not escaped for terminals.
func (s *Snapshot) Save(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	head, err := json.Marshal(file{APIVersion: APIVersion, Kind: Kind, Taken: s.Taken, Server: s.Server})
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	head, _, _ = bytes.Cut(head, []byte(`,"types":`))
	out.Write(head) // the writer keeps its first error for Flush
	if err := errors.Join(
		saveList(out, "types", s.Types),
		saveList(out, "listed", s.Listed),
		saveList(out, "gaps", s.Gaps),
		saveList(out, "lookups", s.Lookups),
		saveList(out, "objects", s.Objects),
	); err != nil {
		return err
	}
	out.WriteString("\n}\n")
	return out.Flush()
}

func saveList[T any](out *bufio.Writer, name string, list []T) error {
	fmt.Fprintf(out, ",\n%q: [", name)
	separator := "\n"
	for i := range list {
		line, err := json.Marshal(&list[i])
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		out.WriteString(separator)
		out.Write(line)
		separator = ",\n"
	}
	out.WriteString("]")
	return nil
}
