package snapshot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestSaveKeepsTheNodeOfAPod(t *testing.T) {
	down := &object.PodNode{Name: "worker-3", State: object.NodeNotReady, Since: st.Taken.Add(-time.Hour)}
	s := st.New(st.Listing(st.Pod("ns/lost", st.InGracePeriod(), func(o *object.Object) { o.Node = down }), st.Pod("ns/unread", st.InGracePeriod())))
	again := savedAndLoaded(t, s)
	if diff := cmp.Diff([]*object.PodNode{down, nil}, []*object.PodNode{again.Objects[0].Node, again.Objects[1].Node}); diff != "" {
		t.Error(diff)
	}
}

func TestLoadKubectlListReadsTheNodeOfPods(t *testing.T) {
	const list = `{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"alive","namespace":"ns","uid":"1"},"spec":{"nodeName":"worker-3"}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"lost","namespace":"ns","uid":"2","deletionTimestamp":"2026-11-20T05:00:00Z","deletionGracePeriodSeconds":30},
			"spec":{"nodeName":"worker-3"}}]}`
	s, err := snapshot.Load(strings.NewReader(list), time.Now(), 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []*object.PodNode{{Name: "worker-3", State: object.NodeUnknown}, {Name: "worker-3", State: object.NodeUnknown}}
	if diff := cmp.Diff(want, []*object.PodNode{s.Objects[0].Node, s.Objects[1].Node}); diff != "" {
		t.Error(diff)
	}
}
