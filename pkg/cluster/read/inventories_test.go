package read

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func application(name string, finalizers ...string) object.Object {
	return st.Object("argoproj.io/v1alpha1", "Application", "argocd/"+name, st.UID("uid-app"), st.WithFinalizers(finalizers...))
}

func TestMarkInventories(t *testing.T) {
	app := application("app", "resources-finalizer.argocd.argoproj.io")
	kept, goes, unread := st.ConfigMap("shop/kept"), st.ConfigMap("shop/goes"), st.ConfigMap("shop/unread")
	seen := st.New(st.Listing(app, kept, goes, unread))
	seen.Types = append(seen.Types, snapshot.Type{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications", Kind: "Application", Namespaced: true, Preferred: true})
	member := func(name string) clustertest.Fields {
		return clustertest.Fields{"version": "v1", "kind": "ConfigMap", "namespace": "shop", "name": name}
	}
	whole := clustertest.Fields{
		"kind": "Application", "apiVersion": "argoproj.io/v1alpha1",
		"metadata": clustertest.Fields{"name": "app", "namespace": "argocd", "uid": app.UID, "resourceVersion": "5"},
		"spec":     clustertest.Fields{"destination": clustertest.Fields{"name": "in-cluster"}},
		"status":   clustertest.Fields{"resources": []clustertest.Fields{member("kept"), member("goes"), member("unread"), member("absent")}},
	}
	metadata := func(o object.Object, annotations clustertest.Fields) func(*http.Request) any {
		return clustertest.Reply(clustertest.Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": clustertest.Fields{
			"name": o.Name, "namespace": o.Namespace, "uid": o.UID, "resourceVersion": "5", "annotations": annotations,
		}})
	}
	const place, maps = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/app", "/api/v1/namespaces/shop/configmaps/"
	forbidden := clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))
	answers := map[string]func(*http.Request) any{
		place: clustertest.Reply(whole), maps + "goes": metadata(goes, nil), maps + "unread": forbidden,
		maps + "kept": metadata(kept, clustertest.Fields{"argocd.argoproj.io/sync-options": "Delete=false"}),
	}
	mark := func(answers map[string]func(*http.Request) any) (*snapshot.Snapshot, *snapshot.Inventory) {
		t.Helper()
		c, _ := clustertest.Serve(t, answers)
		found, err := MarkInventories(context.Background(), c, seen, []*object.Object{&app})
		if err != nil {
			t.Fatal(err)
		}
		return found, found.Inventories[app.UID]
	}

	_, in := mark(answers)
	got := map[string][2]bool{}
	for _, m := range in.Members {
		got[m.Name] = [2]bool{m.Kept != nil, m.Unread}
	}
	if diff := cmp.Diff(map[string][2]bool{"kept": {true, false}, "goes": {false, false}, "unread": {false, true}}, got); diff != "" || in.Unread != 0 {
		t.Errorf("%d unread, (-want +got)\n%s", in.Unread, diff)
	}

	answers[place] = forbidden
	marked, in := mark(answers)
	gap := func(g snapshot.Gap) bool {
		return g.Resource == "applications" && g.Name == "app" && g.Reason == snapshot.Forbidden
	}
	if in.Unknown != snapshot.Forbidden || !slices.ContainsFunc(marked.Gaps, gap) || len(seen.Gaps) > 0 {
		t.Errorf("an Application that cannot be read: %q, %v", in.Unknown, marked.Gaps)
	}

	replaced := clustertest.Fields{}
	for key, value := range whole {
		replaced[key] = value
	}
	replaced["metadata"] = clustertest.Fields{"name": "app", "namespace": "argocd", "uid": "another", "resourceVersion": "5"}
	answers[place] = clustertest.Reply(replaced)
	if _, in = mark(answers); in.Unknown == "" || len(in.Members) > 0 {
		t.Errorf("another Application of that name: %+v", in)
	}

	app = application("app") // of which nothing has to be read
	if marked, in = mark(nil); in.Nothing == nil || len(marked.Gaps) > 0 {
		t.Errorf("without its finalizer: %+v, %v", in, marked.Gaps)
	}
}
