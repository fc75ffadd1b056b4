package repair_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestForManifests(t *testing.T) {
	web := st.Deployment("shop/web")
	s := st.New(st.Listing(web, st.Node("n"), st.ConfigMap("far/c")), st.Absent("v1", "Pod", "shop/gone"), st.Unreadable("secrets", snapshot.Forbidden))
	for name, c := range map[string]struct {
		namespace string
		owner     object.Reference
		want      repair.Fix
	}{
		"a reference to the live owner stays":             {"shop", st.To(web), repair.None},
		"one to its predecessor is relinked":              {"shop", st.To(web, st.WithUID("before")), repair.Relink},
		"one in a version that is not served is updated":  {"shop", st.To(web, st.As("apps/v1beta1", "Deployment")), repair.UpdateVersion},
		"one to an owner that does not exist is removed":  {"shop", st.To(st.Pod("shop/gone")), repair.Unlink},
		"one to an owner in another namespace is removed": {"shop", st.To(st.ConfigMap("far/c")), repair.Unlink},
		"one to an owner that could not be read stays":    {"shop", st.To(st.Secret("shop/s")), repair.None},
		"a cluster-scoped owner may be anywhere":          {"shop", st.To(st.Node("n")), repair.None},
		"a cluster-scoped object has no namespaced owner": {"", st.To(web), repair.Unlink},
	} {
		t.Run(name, func(t *testing.T) {
			got := repair.ForManifests(s, []repair.Manifest{{Namespace: c.namespace, Owners: []object.Reference{c.owner}}})
			if diff := cmp.Diff(c.want, got[0].Repairs[0].Fix); diff != "" {
				t.Error(diff)
			}
		})
	}
	if len(s.Objects) != 3 {
		t.Errorf("the snapshot has %d objects now", len(s.Objects))
	}
}
