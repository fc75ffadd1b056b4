package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func restored(name string, uid types.UID) event.Record {
	return event.Record{
		Action: "create", Object: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: name, UID: "u-" + uid},
		UID: uid, Status: "done", Time: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
	}
}

// appendJournal appends lines to the journal of a backup.
func appendJournal(t testing.TB, path string, lines ...event.Record) {
	t.Helper()
	b := open(t, path)
	defer b.Close()
	j, err := b.Journal()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := j.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestJournalAppends(t *testing.T) {
	one, two, three := restored("a", "1"), restored("b", "2"), restored("c", "3")
	path := finishedRun(t)
	appendJournal(t, path, one)
	file := filepath.Join(path, "restored.jsonl")
	line := readText(t, path, "restored.jsonl")
	for name, test := range map[string]struct {
		before    string
		truncated string
		want      []event.Record
	}{
		"a complete journal":         {line, "", []event.Record{one, two, three}},
		"a line is cut off":          {line + line[:30], "restored.jsonl line 2", []event.Record{one, two, three}},
		"a line break is missing":    {strings.TrimSuffix(line, "\n"), "restored.jsonl line 1", []event.Record{two, three}},
		"zero bytes at the end":      {line + "\x00\x00\x00", "restored.jsonl line 2", []event.Record{one, two, three}},
		"zero bytes and more behind": {line + "\x00\x00\n" + line, "restored.jsonl line 2", []event.Record{one, two, three}},
		"an empty journal":           {"", "", []event.Record{two, three}},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, test.before)
			b := open(t, path)
			if b.Truncated != test.truncated {
				t.Errorf("truncated at %q, want %q", b.Truncated, test.truncated)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			appendJournal(t, path, two, three)
			b = open(t, path)
			defer b.Close()
			if diff := cmp.Diff(test.want, b.Restored); diff != "" || b.Truncated != "" {
				t.Errorf("truncated at %q, (-want +got)\n%s", b.Truncated, diff)
			}
		})
	}
}

func TestJournalIsExclusive(t *testing.T) {
	path := finishedRun(t)
	first, second := open(t, path), open(t, path)
	defer first.Close()
	defer second.Close()
	j, err := first.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Journal(); !errors.Is(err, backup.ErrBusy) {
		t.Errorf("the second Journal returns %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(restored("a", "1")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	j, err = second.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenReportsDamagedJournal(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"no JSON":   {"hello\n", "restored.jsonl line 1: malformed JSON"},
		"no action": {`{"result":{"object":{"apiVersion":"v1","kind":"Secret","name":"a","uid":"u"},"status":"done"}}` + "\n", "restored.jsonl line 1: it lacks an action or a status"},
		"no object": {`{"result":{"action":"create","status":"done","uid":"x"}}` + "\n", "restored.jsonl line 1: it lacks the object's"},
		"no result": {`{"finished":"2026-11-20T08:32:07Z"}` + "\n", "restored.jsonl line 1: it is not the result of a step"},
	} {
		t.Run(name, func(t *testing.T) {
			path := finishedRun(t)
			write(t, filepath.Join(path, "restored.jsonl"), test.line)
			_, err := backup.Open(path)
			checkError(t, err, test.want)
		})
	}
}

// FuzzJournal checks that Open rejects a journal, or that lines appended to it are read
// back after it.
func FuzzJournal(f *testing.F) {
	path := finishedRun(f)
	appendJournal(f, path, restored("a", "1"), restored("b", "2"))
	line := readText(f, path, "restored.jsonl")
	for _, s := range []string{"", line, line[:30], line + line[:30], strings.TrimSuffix(line, "\n"), line + "\x00\x00", "\x00\n" + line, `{"object":{"object":{"apiVersion":"v1","kind":"Secret","name":"a","uid":"u"}}}` + "\n", "null", "{}\n", "\n", line + "\r\n", "[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, journal string) {
		write(t, filepath.Join(path, "restored.jsonl"), journal)
		b, err := backup.Open(path)
		if err != nil {
			checkError(t, err, path, "restored.jsonl")
			return
		}
		want := append(b.Restored, restored("c", "3"))
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		appendJournal(t, path, restored("c", "3"))
		b = open(t, path)
		defer b.Close()
		if diff := cmp.Diff(want, b.Restored); diff != "" {
			t.Errorf("after %q (-want +got)\n%s", journal, diff)
		}
	})
}
