package read

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The pages behind a repeated page are unknown, so nobody may conclude that no Pod uses a claim.
func TestReadClaimsFailsOnRepeatedPage(t *testing.T) {
	c := clustertest.Connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"again"},"items":[{"metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5"}}]}`)
	}), client.Options{Timeout: time.Minute})
	if got, err := readClaims(context.Background(), c, clustertest.Pods, "shop"); !errors.Is(err, client.ErrRepeatedPage) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// podOf returns a Pod on a node that mounts a claim.
func podOf(namespace, uid, claim string) clustertest.Fields {
	return clustertest.Fields{"metadata": clustertest.Fields{"name": "p", "namespace": namespace, "uid": uid, "resourceVersion": "5"}, "spec": clustertest.Fields{
		"nodeName": "n", "volumes": []clustertest.Fields{{"name": "data", "persistentVolumeClaim": clustertest.Fields{"claimName": claim}}},
	}}
}

func podList(next string, items ...clustertest.Fields) clustertest.Fields {
	return clustertest.Fields{"kind": "PodList", "apiVersion": "v1", "metadata": clustertest.Fields{"resourceVersion": "10", "continue": next}, "items": items}
}

func TestMarkClaims(t *testing.T) {
	seen := st.New(st.Listing(
		st.Pod("a/p", st.UID("1")), st.Pod("a/q", st.UID("2")), st.Pod("b/p", st.UID("3")), st.Pod("c/p", st.UID("4")), st.Pod("d/p", st.UID("5")),
		st.Object("v1", "PersistentVolume", "v", st.UID("6")),
	))
	expired := false
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/namespaces/a/pods": func(r *http.Request) any {
			switch {
			case r.URL.Query().Get("continue") == "more":
				expired = true
				return clustertest.Refuse(http.StatusGone, "Expired")
			case !expired:
				return podList("more", podOf("a", "1", "old"))
			}
			return podList("", podOf("a", "1", "data"), clustertest.Fields{"metadata": clustertest.Fields{"name": "q", "namespace": "a", "uid": "2", "resourceVersion": "5"}, "spec": clustertest.Fields{}})
		},
		"/api/v1/namespaces/b/pods": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
		"/api/v1/namespaces/c/pods": clustertest.Reply(podList("", podOf("c", "4", "data"), podOf("c", "came since", "other"))),
		"/api/v1/persistentvolumes": clustertest.Reply(clustertest.Fields{"kind": "PersistentVolumeList", "apiVersion": "v1", "metadata": clustertest.Fields{"resourceVersion": "10"}, "items": []clustertest.Fields{{"metadata": clustertest.Fields{"name": "v", "uid": "6", "resourceVersion": "5"}, "spec": clustertest.Fields{"claimRef": clustertest.Fields{"namespace": "a", "name": "data"}}, "status": clustertest.Fields{"phase": "Bound"}}}}),
	})
	marked, err := MarkClaims(t.Context(), c, seen, []string{"", "a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, o := range marked.Objects {
		got[string(o.UID)] = o.Claims
	}
	want := map[string][]string{
		"1": {"data"}, "2": {}, // read again from the start, since the token expired
		"3": nil,        // forbidden
		"4": nil,        // a Pod missing from the scan uses a claim
		"5": nil,        // not requested
		"6": {"a/data"}, // bound
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, o := range seen.Objects {
		if o.Claims != nil {
			t.Errorf("%s was marked in the look itself", o)
		}
	}
}
