package snapshot_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func FuzzLoad(f *testing.F) {
	s := st.New(
		st.Listing(st.Pod("shop/a", st.OwnedBy(st.Node("n")), st.Foreground()), st.Node("n", st.AlsoServedAs("v2", "Node"))),
		st.Found(st.Object("v1", "ComponentStatus", "cs")),
		st.Failed("v1", "Secret", "shop/s", snapshot.Forbidden),
		st.Unreadable("secrets", snapshot.Forbidden))
	f.Add(saved(f, s, false))
	f.Add(saved(f, s, true))
	for _, text := range []string{
		kubectlJSON, kubectlYAML, "", "---\n", "null", "[]", "{}", "a: &a [*a]\n",
		`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","uid":"u"}}]}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","creationTimestamp":"9999-12-31T23:59:59-23:59"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","deletionTimestamp":"0000-01-01T00:00:00+23:59"}}`,
		`{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Snapshot","taken":"2026-11-20T08:00:00+01:00","objects":[{"kind":"Pod","name":"a","uid":"u","aliases":[{"kind":"Pod","name":"a","uid":"u"}]},{"kind":"Pod","name":"a","uid":"u"}]}`,
		`{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Snapshot","taken":"2026-11-20T08:00:00Z","objects":[{"kind":"Pod","name":"a","uid":"u","later":1}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		loaded, err := snapshot.Load(bytes.NewReader(data), st.Taken, 1<<30, false)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || err.Error() == "" {
				t.Fatalf("the error is not one line: %q", err)
			}
			return
		}
		again, err := snapshot.Load(bytes.NewReader(saved(t, loaded, false)), st.Taken, 1<<30, false)
		if err != nil {
			t.Fatalf("what was accepted does not survive: %v", err)
		}
		loaded.UnknownField, loaded.LeftOut, loaded.FirstLeftOut, loaded.Usages = "", 0, nil, nil // they are of the file that was loaded
		if diff := cmp.Diff(loaded, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}
