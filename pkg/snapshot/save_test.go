package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestLoadReadsWhatSaveWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAnything(t)
		compress := rapid.Bool().Draw(t, "compress")
		loaded, err := snapshot.Load(bytes.NewReader(saved(t, s, compress)), time.Time{}, 1<<30, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, loaded, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What was not read is another thing than what has nothing.
func TestSaveKeepsWhatWasReadApartFromWhatWasNot(t *testing.T) {
	silent := func(o *object.Object) {
		o.NamespaceStatus = &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}}
	}
	onLostNode := func(o *object.Object) {
		o.Node = &object.PodNode{Name: "worker-3", State: object.NodeNotReady, Since: st.Taken.Add(-time.Hour)}
	}
	s := st.New(
		st.Serving(st.TypesWithContents()...),
		st.Listing(
			st.Pod("a/no-claims", st.WithClaims()), st.Pod("a/claims", st.WithClaims("data")), st.Pod("a/unread-claims"),
			st.Namespace("silent", st.Terminating(), silent), st.Namespace("unread", st.Terminating()),
			st.Namespace("stuck", st.Terminating(), st.Reporting(object.ContentFailure, "denied")),
			st.Pod("a/node", st.InGracePeriod(), onLostNode), st.Pod("a/unread-node", st.InGracePeriod()),
		),
		st.Deduplicated(st.Deployment("shop/web", st.UID("u")), st.ConfigMap("zzz/x", st.UID("u"))), // contested
	)
	loaded, err := snapshot.Load(bytes.NewReader(saved(t, s, false)), time.Time{}, 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{s.Objects, s.Gaps}, []any{loaded.Objects, loaded.Gaps}); diff != "" {
		t.Errorf("(-saved +loaded)\n%s", diff)
	}
}

func TestSaveIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAnything(t)
		shuffled := &snapshot.Snapshot{
			Taken: s.Taken, Server: s.Server,
			Types:   rapid.Permutation(s.Types).Draw(t, "types"),
			Listed:  rapid.Permutation(s.Listed).Draw(t, "listed"),
			Gaps:    rapid.Permutation(s.Gaps).Draw(t, "gaps"),
			Objects: rapid.Permutation(s.Objects).Draw(t, "objects"),
			Lookups: rapid.Permutation(s.Lookups).Draw(t, "lookups"),
		}
		loaded, err := snapshot.Load(bytes.NewReader(saved(t, shuffled, false)), time.Time{}, 1<<30, false)
		if err != nil {
			t.Fatal(err)
		}
		shuffled.Normalize()
		want := string(saved(t, s, false))
		if diff := cmp.Diff(want, string(saved(t, shuffled, false))); diff != "" {
			t.Fatalf("sorted:\n%s", diff)
		}
		if diff := cmp.Diff(want, string(saved(t, loaded, false))); diff != "" {
			t.Fatalf("loaded:\n%s", diff)
		}
	})
}

func TestSaveWritesOneEntryPerLine(t *testing.T) {
	s := st.New(st.Listing(st.Pod("shop/a"), st.Pod("shop/b\nc")))
	lines := strings.Split(strings.TrimSuffix(string(saved(t, s, false)), "\n"), "\n")
	entries := len(s.Types) + len(s.Listed) + len(s.Gaps) + len(s.Lookups) + len(s.Objects)
	if headAndLists := 7; len(lines) != entries+headAndLists {
		t.Errorf("got %d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestSaveReportsWriteErrors(t *testing.T) {
	s := st.New(st.Listing(st.Pod("shop/a")))
	if err := s.Save(full{}); err == nil {
		t.Error("a full disk was not noticed")
	}
}

// full fails every write.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

type failer interface {
	Helper()
	Fatal(...any)
}

func saved(t failer, s *snapshot.Snapshot, compress bool) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := s.Save(&out); err != nil {
		t.Fatal(err)
	}
	if !compress {
		return out.Bytes()
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(out.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// drawAnything returns a random snapshot in which every field may have any valid value.
func drawAnything(t *rapid.T) *snapshot.Snapshot {
	s := st.Draw(t)
	text := rapid.String()
	s.Server = text.Draw(t, "server")
	for _, o := range s.Objects {
		o.ResourceVersion = text.Draw(t, "resourceVersion")
		o.Name += text.Draw(t, "name")
		o.Finalizers = append(o.Finalizers, text.Draw(t, "finalizer"))
		o.Labels = rapid.MapOfN(text, text, 0, 2).Draw(t, "labels")
		if rapid.Bool().Draw(t, "graceful") {
			grace := rapid.Int64().Draw(t, "grace")
			o.GraceSeconds = &grace
		}
		for k := range o.Owners {
			o.Owners[k] = rapid.Custom(drawAnyReference).Draw(t, "reference")
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "gaps") {
		s.Gaps = append(s.Gaps, snapshot.Gap{
			Group: text.Draw(t, "group"), Resource: text.Draw(t, "resource"), Namespace: text.Draw(t, "namespace"),
			Reason:  rapid.SampledFrom([]snapshot.ErrorClass{snapshot.Forbidden, snapshot.Webhook}).Draw(t, "reason"),
			Message: text.Draw(t, "message"),
		})
	}
	s.Gaps = append(s.Gaps, s.Gaps...)
	for i := range s.Gaps {
		s.Gaps[i].Message += text.Draw(t, "message")
	}
	s.Normalize()
	return s
}

func drawAnyReference(t *rapid.T) object.Reference {
	text := rapid.String()
	flag := rapid.Ptr(rapid.Bool(), true)
	return object.Reference{
		APIVersion: text.Draw(t, "apiVersion"), Kind: text.Draw(t, "kind"), Name: text.Draw(t, "name"),
		Controller: flag.Draw(t, "controller"), BlockOwnerDeletion: flag.Draw(t, "blockOwnerDeletion"),
	}
}
