package snapshot_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestListed(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		part      st.Part
		namespace string
		want      bool
	}{
		"listed everywhere, for a namespace":          {st.Listing(), "shop", true},
		"listed everywhere, for all namespaces":       {st.Listing(), "", true},
		"listed in that namespace":                    {st.ListedIn("pods", "shop"), "shop", true},
		"listed in another namespace":                 {st.ListedIn("pods", "other"), "shop", false},
		"listed in one namespace, for all namespaces": {st.ListedIn("pods", "shop"), "", false},
		"not listed": {st.Unlisted("pods"), "shop", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := snapshot.NewView(st.New(test.part)).Listed(pods, test.namespace); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestGapAt(t *testing.T) {
	widgets := schema.GroupResource{Group: "example.com", Resource: "widgets"}
	gap := func(group, resource, namespace string) st.Part {
		return func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: resource, Namespace: namespace, Reason: snapshot.Forbidden})
		}
	}
	tests := map[string]struct {
		parts     []st.Part
		namespace string
		want      bool
	}{
		"no gap":                              {[]st.Part{st.Unlisted("widgets.example.com")}, "shop", false},
		"a gap of the type":                   {[]st.Part{st.Unlisted("widgets.example.com"), gap("example.com", "widgets", "")}, "shop", true},
		"a gap of the group":                  {[]st.Part{st.Unlisted("widgets.example.com"), gap("example.com", "*", "")}, "shop", true},
		"a gap of everything":                 {[]st.Part{st.Unlisted("widgets.example.com"), gap("*", "*", "")}, "shop", true},
		"a gap of that namespace":             {[]st.Part{st.Unlisted("widgets.example.com"), gap("example.com", "widgets", "shop")}, "shop", true},
		"a gap of another namespace":          {[]st.Part{st.Unlisted("widgets.example.com"), gap("example.com", "widgets", "other")}, "shop", false},
		"a search of other namespaces failed": {[]st.Part{st.Unlisted("widgets.example.com"), st.Unsearched("widgets.example.com")}, "shop", false},
		"a gap of another type":               {[]st.Part{st.Unlisted("widgets.example.com"), gap("example.com", "gadgets", "")}, "shop", false},
		"a gap of the same name elsewhere":    {[]st.Part{st.Unlisted("widgets.example.com"), gap("legacy.example.com", "widgets", "")}, "shop", false},
		"a gap, yet listed everywhere":        {[]st.Part{gap("example.com", "widgets", "")}, "shop", false},
		"a gap, yet listed in that namespace": {[]st.Part{st.ListedIn("widgets.example.com", "shop"), gap("example.com", "widgets", "")}, "shop", false},
		"a gap, listed in another namespace":  {[]st.Part{st.ListedIn("widgets.example.com", "other"), gap("example.com", "widgets", "")}, "shop", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := snapshot.NewView(st.New(test.parts...)).GapAt(widgets, test.namespace)
			if (got != nil) != test.want {
				t.Errorf("got %v, want a gap: %v", got, test.want)
			}
		})
	}
}

func TestGroupGap(t *testing.T) {
	tests := map[string]struct {
		part st.Part
		want bool
	}{
		"discovered":                     {st.Listing(), false},
		"one type of it was unreadable":  {st.Unreadable("widgets.example.com", snapshot.Forbidden), false},
		"undiscovered":                   {st.Undiscovered("example.com", snapshot.Unavailable), true},
		"another group was undiscovered": {st.Undiscovered("apps", snapshot.Unavailable), false},
		"a file holds nothing else": {func(s *snapshot.Snapshot) {
			s.Gaps = []snapshot.Gap{{Group: snapshot.All, Resource: snapshot.All, Reason: snapshot.NotInFile}}
		}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := snapshot.NewView(st.New(test.part)).GroupGap("example.com"); (got != nil) != test.want {
				t.Errorf("got %v, want a gap: %v", got, test.want)
			}
		})
	}
}

func TestUnverified(t *testing.T) {
	owner := st.Pod("shop/owner")
	role := st.Role("shop/role")
	tests := map[string]struct {
		parts []st.Part
		want  []string
	}{
		"the owner is in the lists": {
			[]st.Part{st.Listing(owner, st.ConfigMap("shop/a", st.OwnedBy(owner)))}, nil,
		},
		"the cluster-scoped owner is in the lists": {
			[]st.Part{st.Listing(st.Node("n"), st.ConfigMap("shop/a", st.OwnedBy(st.Node("n"))))}, nil,
		},
		"the owner is in no list": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.OwnedBy(owner)))}, []string{"v1 Pod shop/owner"},
		},
		"many dependents of one absent owner": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.OwnedBy(owner)), st.ConfigMap("shop/b", st.OwnedBy(owner, owner)))},
			[]string{"v1 Pod shop/owner"},
		},
		"dependents of one absent cluster-scoped owner in two namespaces": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.OwnedBy(st.Node("n"))), st.ConfigMap("other/a", st.OwnedBy(st.Node("n"))))},
			[]string{"v1 Node /n"},
		},
		"the UID lives in another namespace": {
			[]st.Part{st.Listing(st.Pod("other/owner", st.UID(owner.UID)), st.ConfigMap("shop/a", st.OwnedBy(owner)))},
			[]string{"v1 Pod shop/owner"},
		},
		"the UID lives under another name": {
			[]st.Part{st.Listing(owner, st.ConfigMap("shop/a", st.Owned(st.To(owner, st.Named("else")))))},
			[]string{"v1 Pod shop/else"},
		},
		"the owner is listed in another version": {
			[]st.Part{st.Listing(role, st.ConfigMap("shop/a", st.Owned(st.To(role, st.As("rbac.authorization.k8s.io/v1beta1", "Role")))))},
			[]string{"rbac.authorization.k8s.io/v1beta1 Role shop/role"},
		},
		"the owner is listed under an alias": {
			[]st.Part{st.Listing(
				st.Object("example.com/v1", "Widget", "shop/w", st.AlsoServedAs("legacy.example.com/v1", "Widget")),
				st.ConfigMap("shop/a", st.OwnedBy(st.Object("legacy.example.com/v1", "Widget", "shop/w"))))},
			nil,
		},
		"the owner is of a kind that is not listed": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.OwnedBy(st.Object("v1", "ComponentStatus", "cs"))))},
			[]string{"v1 ComponentStatus /cs"},
		},
		"the owner's type has a gap": {
			[]st.Part{st.Unreadable("pods", snapshot.Forbidden), st.Listing(st.ConfigMap("shop/a", st.OwnedBy(owner)))}, nil,
		},
		"the owner's kind is unknown": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.Owned(st.To(owner, st.As("v1", "Foo")))))}, nil,
		},
		"the owner's version is not served: the one that is": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.Owned(st.To(st.Deployment("shop/d"), st.As("apps/v1beta1", "Deployment")))))},
			[]string{"apps/v1 Deployment shop/d"},
		},
		"the owner's version is not served, and its UID was listed in the one that is": {
			[]st.Part{st.Listing(st.Deployment("shop/d"), st.ConfigMap("shop/a", st.Owned(st.To(st.Deployment("shop/d"), st.As("apps/v1beta1", "Deployment")))))}, nil,
		},
		"the owner's kind is a guessed list": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.Owned(st.To(owner, st.As("v1", "PodList")))))}, nil,
		},
		"a cluster-scoped dependent of a namespaced kind": {
			[]st.Part{st.Listing(st.Node("n", st.OwnedBy(owner)))}, nil,
		},
		"a name that leaves its path": {
			[]st.Part{st.Listing(st.ConfigMap("shop/a", st.Owned(st.To(owner, st.Named("../../nodes/n")))))}, nil,
		},
		"the lookup exists already": {
			[]st.Part{st.Absent("v1", "Pod", "shop/owner"), st.Listing(st.ConfigMap("shop/a", st.OwnedBy(owner)))}, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := st.New(test.parts...)
			var objects snapshot.Deduper
			objects.Add(s.Objects...)
			var got []string
			for _, c := range snapshot.NewView(s).UnverifiedOwners(s.Objects, objects.Object) {
				got = append(got, strings.Join([]string{c.APIVersion, c.Kind, c.Namespace + "/" + c.Name}, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnverifiedOmitsExistingLookups(t *testing.T) {
	s := st.New(st.Listing(st.ConfigMap("shop/a", st.OwnedBy(st.Pod("shop/p"), st.Node("n")))))
	nothing := func(types.UID) *object.Object { return nil }
	for _, c := range snapshot.NewView(s).UnverifiedOwners(s.Objects, nothing) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{Coordinates: c, Outcome: snapshot.Failed})
	}
	if got := snapshot.NewView(s).UnverifiedOwners(s.Objects, nothing); got != nil {
		t.Errorf("looked up again: %v", got)
	}
}

// docs/gc-semantics.md#owner-name-in-a-url
func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"web": true, "system:node-reader": true, "..a": true, "Ünïcode": true, "a b": true,
		"": false, ".": false, "..": false, "a/b": false, "../../nodes/n": false, "a%2fb": false,
	} {
		if got := snapshot.ValidName(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
