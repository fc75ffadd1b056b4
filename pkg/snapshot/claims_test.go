package snapshot_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestSaveKeepsUnreadClaimsApartFromNone(t *testing.T) {
	s := st.New(st.Listing(st.Pod("a/none", st.WithClaims()), st.Pod("a/one", st.WithClaims("data")), st.Pod("a/unread")))
	var file bytes.Buffer
	if err := s.Save(&file); err != nil {
		t.Fatal(err)
	}
	again, err := snapshot.Load(&file, time.Now(), 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Objects {
		if diff := cmp.Diff(s.Objects[i].Claims, again.Objects[i].Claims); diff != "" {
			t.Errorf("%s (-saved +loaded)\n%s", s.Objects[i], diff)
		}
	}
}

func TestLoadKubectlListReadsClaims(t *testing.T) {
	const list = `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"p","uid":"u"},
		"spec":{"nodeName":"n","volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"c"}}]}}]}`
	s, err := snapshot.Load(strings.NewReader(list), time.Now(), 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c"}, s.Objects[0].Claims); diff != "" {
		t.Error(diff)
	}
}
