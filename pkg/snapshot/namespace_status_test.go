package snapshot_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// savedAndLoaded returns a snapshot as its file has it.
func savedAndLoaded(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	var file bytes.Buffer
	if err := s.Save(&file); err != nil {
		t.Fatal(err)
	}
	again, err := snapshot.Load(&file, time.Now(), 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestSaveKeepsUnreadNamespaceStatusApartFromNoConditions(t *testing.T) {
	silent := st.Namespace("silent", st.Terminating(), func(o *object.Object) {
		o.NamespaceStatus = &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}}
	})
	s := st.New(st.Serving(st.TypesWithContents()...), st.Listing(
		silent, st.Namespace("stuck", st.Terminating(), st.Reporting(object.ContentFailure, "denied")), st.Namespace("unread", st.Terminating()),
	))
	again := savedAndLoaded(t, s)
	for i := range s.Objects {
		if diff := cmp.Diff(s.Objects[i].NamespaceStatus, again.Objects[i].NamespaceStatus); diff != "" {
			t.Errorf("%s (-saved +loaded)\n%s", s.Objects[i], diff)
		}
	}
}

func TestLoadKubectlListReadsStatusOfTerminatingNamespaces(t *testing.T) {
	const list = `{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"alive","uid":"1"},"status":{"conditions":[]}},
		{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"stuck","uid":"2","deletionTimestamp":"2026-11-20T05:00:00Z"},
			"status":{"conditions":[{"type":"NamespaceDeletionContentFailure","status":"True","message":"denied"}]}}]}`
	s, err := snapshot.Load(strings.NewReader(list), time.Now(), 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []*object.NamespaceStatus{nil, {Conditions: []object.NamespaceCondition{{Type: object.ContentFailure, True: true, Message: "denied"}}}}
	if diff := cmp.Diff(want, []*object.NamespaceStatus{s.Objects[0].NamespaceStatus, s.Objects[1].NamespaceStatus}); diff != "" {
		t.Error(diff)
	}
}
