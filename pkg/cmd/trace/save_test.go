package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

func podDeletion(name string, uid types.UID, second int, place *trace.Place) trace.Deletion {
	return trace.Deletion{
		Object:   object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: name, UID: uid},
		Resource: "pods", At: time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC), Whole: place,
	}
}

// A StatefulSet may create its Pod again while it is deleted itself, and only one of both can come back.
func TestOnlyTheLastObjectOfANameIsSaved(t *testing.T) {
	c := trace.Cascade{Deletions: []trace.Deletion{podDeletion("set-0", "1", 1, nil), podDeletion("set-1", "2", 5, nil), podDeletion("set-0", "3", 3, nil), podDeletion("set-1", "4", 4, nil)}}
	var got []string
	for _, d := range lastOfEachName(&c) {
		got = append(got, string(d.Object.UID))
	}
	if want := []string{"3", "2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A log that is rotated while it is read ends in an error, and restore is not told that the backup is complete.
func TestALogThatChangedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "audit.log")
	if err := os.WriteFile(log, []byte("\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	s := cli.NewScanOptions(cli.Streams{In: strings.NewReader(""), Out: &stderr, Err: &stderr, Now: time.Now})
	c := &traceCommand{scan: s, saveBackup: filepath.Join(dir, "saved")}
	err := c.save(t.Context(), nil, &trace.Cascade{Deletions: []trace.Deletion{podDeletion("web", "1", 1, &trace.Place{File: log, Offset: 1})}})
	if err == nil || !strings.Contains(err.Error(), "is not complete: read objects from log") {
		t.Error(err)
	}
	b, err := backup.Open(c.saveBackup)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if !b.Finished.IsZero() || len(b.Entries) > 0 {
		t.Errorf("%+v", b.Header)
	}
}
