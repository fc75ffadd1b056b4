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
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The pages behind a repeated page are unknown, so nobody may conclude that no Pod uses a claim.
func TestReadVolumeFactsFailsOnRepeatedPage(t *testing.T) {
	c := clustertest.Connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"again"},"items":[{"metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"5"}}]}`)
	}), client.Config{Timeout: time.Minute})
	if _, err := readVolumeFacts(context.Background(), c, client.Query{Type: clustertest.Pods, Namespace: "shop"}); !errors.Is(err, client.ErrEndlessPages) {
		t.Errorf("got %v", err)
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

func TestMarkVolumes(t *testing.T) {
	seen := st.New(st.Listing(
		st.Pod("a/p", st.UID("1")), st.Pod("a/q", st.UID("2")), st.Pod("b/p", st.UID("3")), st.Pod("c/p", st.UID("4")), st.Pod("d/p", st.UID("5")),
		st.Object("v1", "PersistentVolume", "v", st.UID("6")), st.Object("v1", "PersistentVolumeClaim", "a/data", st.UID("7")),
		st.Object("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "a/nightly", st.UID("8")), st.Object("storage.k8s.io/v1", "VolumeAttachment", "csi-1", st.UID("9")),
	))
	snapshots := snapshot.Type{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshots", Kind: "VolumeSnapshot", Namespaced: true, Preferred: true}
	claims := snapshot.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true, Preferred: true}
	seen.Types = append(seen.Types, claims, snapshots)
	forbidden := clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))
	list := func(apiVersion, kind, namespace, uid string, spec, status clustertest.Fields) func(*http.Request) any {
		item := clustertest.Fields{"metadata": clustertest.Fields{"name": "it", "namespace": namespace, "uid": uid, "resourceVersion": "5"}, "spec": spec, "status": status}
		return clustertest.Reply(clustertest.Fields{"kind": kind + "List", "apiVersion": apiVersion, "metadata": clustertest.Fields{"resourceVersion": "10"}, "items": []clustertest.Fields{item}})
	}
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/namespaces/a/pods": func(r *http.Request) any {
			if r.URL.Query().Get("continue") == "" {
				return podList("more", podOf("a", "1", "data"))
			}
			return podList("", clustertest.Fields{"metadata": clustertest.Fields{"name": "q", "namespace": "a", "uid": "2", "resourceVersion": "5"}, "spec": clustertest.Fields{}})
		},
		"/api/v1/namespaces/b/pods": forbidden,
		"/api/v1/namespaces/d/pods": func(r *http.Request) any {
			if r.URL.Query().Get("continue") == "" {
				return podList("more", podOf("d", "5", "data"))
			}
			return clustertest.Refuse(http.StatusGone, "Expired")
		},
		"/api/v1/namespaces/c/pods": clustertest.Reply(podList("", podOf("c", "4", "data"), podOf("c", "came since", "other"))),
		"/api/v1/persistentvolumes": list("v1", "PersistentVolume", "", "6",
			clustertest.Fields{"claimRef": clustertest.Fields{"namespace": "a", "name": "data"}, "persistentVolumeReclaimPolicy": "Delete"}, clustertest.Fields{"phase": "Bound"}),
		"/apis/storage.k8s.io/v1/volumeattachments": list("storage.k8s.io/v1", "VolumeAttachment", "", "9",
			clustertest.Fields{"source": clustertest.Fields{"persistentVolumeName": "v"}}, nil),
		"/api/v1/namespaces/a/persistentvolumeclaims": list("v1", "PersistentVolumeClaim", "a", "7",
			clustertest.Fields{"volumeName": "v"}, clustertest.Fields{"capacity": clustertest.Fields{"storage": "8Gi"}}),
		"/api/v1/namespaces/b/persistentvolumeclaims": forbidden,
		"/api/v1/namespaces/c/persistentvolumeclaims": forbidden,
		"/apis/snapshot.storage.k8s.io/v1/namespaces/a/volumesnapshots": list("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "a", "8",
			clustertest.Fields{"source": clustertest.Fields{"persistentVolumeClaimName": "data"}}, nil),
		"/apis/snapshot.storage.k8s.io/v1/namespaces/b/volumesnapshots": forbidden,
		"/apis/snapshot.storage.k8s.io/v1/namespaces/c/volumesnapshots": forbidden,
		"/api/v1/namespaces/d/persistentvolumeclaims":                   forbidden,
		"/apis/snapshot.storage.k8s.io/v1/namespaces/d/volumesnapshots": forbidden,
	})
	marked, err := MarkVolumes(t.Context(), c, seen, []string{"", "a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	got, stored := map[string][]string{}, map[string]*object.Storage{}
	for _, o := range marked.Objects {
		got[string(o.UID)] = o.Claims
		if o.Storage != nil {
			stored[string(o.UID)] = o.Storage
		}
	}
	want := map[string][]string{
		"1": {"data"}, "2": {}, // on two pages
		"3": nil,        // forbidden
		"4": nil,        // a Pod missing from the scan uses a claim
		"5": nil,        // the token expired
		"6": {"a/data"}, // bound
		"7": {}, "8": nil,
		"9": {"v"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	wantStored := map[string]*object.Storage{"6": {ReclaimPolicy: "Delete"}, "7": {Size: "8Gi", Volume: "v"}, "8": {Claim: "data"}}
	if diff := cmp.Diff(wantStored, stored); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, o := range seen.Objects {
		if o.Claims != nil || o.Storage != nil {
			t.Errorf("%s was marked in the look itself", o)
		}
	}
}
