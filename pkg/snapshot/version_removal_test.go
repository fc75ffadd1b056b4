package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// served returns the versions of a resource, the preferred one with a star.
func served(s *snapshot.Snapshot, resource string) []string {
	var out []string
	for _, t := range s.Types {
		if t.Resource == resource {
			star := ""
			if t.Preferred {
				star = "*"
			}
			out = append(out, t.APIVersion()+star)
		}
	}
	return out
}

func TestWithoutVersions(t *testing.T) {
	const rbac = "rbac.authorization.k8s.io"
	role, pod := st.Role("ns/role"), st.Pod("ns/pod")
	before := st.New(st.Listing(role, pod), st.Absent(rbac+"/v1beta1", "Role", "ns/gone"), st.Absent(rbac+"/v1", "Role", "ns/gone"), st.Unreadable("secrets", snapshot.Forbidden))
	for name, c := range map[string]struct {
		removed schema.GroupVersion
		roles   []string // types
		objects []string
		lookups []string
		gaps    int
	}{
		"the version that nobody prefers leaves only its types and lookups out": {
			schema.GroupVersion{Group: rbac, Version: "v1beta1"},
			[]string{rbac + "/v1*"},
			[]string{"v1 Pod/pod", rbac + "/v1 Role/role"},
			[]string{rbac + "/v1"},
			1,
		},
		"after the preferred version the next one is": {
			schema.GroupVersion{Group: rbac, Version: "v1"},
			[]string{rbac + "/v1beta1*"},
			[]string{"v1 Pod/pod", rbac + "/v1beta1 Role/role"},
			[]string{rbac + "/v1beta1"},
			1,
		},
		"with its only version a type is gone, with its objects and its gap": {
			schema.GroupVersion{Version: "v1"},
			[]string{rbac + "/v1*", rbac + "/v1beta1"},
			[]string{rbac + "/v1 Role/role"},
			[]string{rbac + "/v1", rbac + "/v1beta1"},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := before.WithoutVersions(c.removed)
			var objects, lookups []string
			for _, o := range after.Objects {
				objects = append(objects, o.APIVersion+" "+o.String())
			}
			for _, l := range after.Lookups {
				lookups = append(lookups, l.APIVersion)
			}
			for what, diff := range map[string]string{
				"types": cmp.Diff(c.roles, served(after, "roles")), "objects": cmp.Diff(c.objects, objects), "lookups": cmp.Diff(c.lookups, lookups),
				"gaps": cmp.Diff(c.gaps, len(after.Gaps)),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got)\n%s", what, diff)
				}
			}
		})
	}
	if got := served(before, "roles"); len(got) != 2 {
		t.Errorf("the snapshot itself has changed: %v", got)
	}
}

// A server lists an object in each group that serves it.
func TestWithoutVersionsKeepsAnObjectThatAnotherGroupServes(t *testing.T) {
	widget := st.Object("example.com/v1", "Widget", "ns/w", st.AlsoServedAs("legacy.example.com/v1", "Widget"))
	after := st.New(st.Listing(widget)).WithoutVersions(schema.GroupVersion{Group: "example.com", Version: "v1"})
	if len(after.Objects) != 1 || fmt.Sprint(after.Objects[0].APIVersion, after.Objects[0].Aliases) != "legacy.example.com/v1[]" {
		t.Errorf("got %+v", after.Objects)
	}
}
