package snapshot_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestAcceptedGapsCovers(t *testing.T) {
	var (
		secrets   = snapshot.Gap{Resource: "secrets", Namespace: "shop", Reason: snapshot.Forbidden}
		pods      = snapshot.Gap{Group: "metrics.k8s.io", Resource: "pods", Reason: snapshot.TimedOut}
		metrics   = snapshot.Gap{Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unavailable}
		core      = snapshot.Gap{Resource: snapshot.All, Reason: snapshot.Unavailable}
		all       = snapshot.Gap{Group: snapshot.All, Resource: snapshot.All, Reason: snapshot.NotInFile}
		contested = snapshot.Gap{Group: "apps", Resource: "deployments", Reason: snapshot.ContestedUID}
	)
	for name, c := range map[string]struct {
		word string
		gap  snapshot.Gap
		want bool
	}{
		"a type of the core group":            {"secrets", secrets, true},
		"a type of another group":             {"pods.metrics.k8s.io", pods, true},
		"the group of a type":                 {"metrics.k8s.io", pods, true},
		"the group of all its types":          {"metrics.k8s.io", metrics, true},
		"a contested type":                    {"deployments.apps", contested, true},
		"the core type of that name":          {"pods", pods, false},
		"a type is less than its group":       {"pods.metrics.k8s.io", metrics, false},
		"another type":                        {"configmaps", secrets, false},
		"the end of a group's name":           {"k8s.io", metrics, false},
		"the beginning of a name":             {"secret", secrets, false},
		"another case":                        {"Secrets", secrets, false},
		"everything, of a group":              {"*", metrics, false},
		"everything, of all":                  {"*", all, false},
		"nothing, of the core group":          {"", core, false},
		"nothing, of everything":              {"", all, false},
		"a type, of everything":               {"secrets", all, false},
		"a type, of the whole core group":     {"secrets", core, false},
		"a version in the middle of a name":   {"pods.v1beta1.metrics.k8s.io", pods, false},
		"all types of a group, as a wildcard": {"*.metrics.k8s.io", metrics, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (snapshot.AcceptedGaps{"unrelated.example.com", c.word}).Covers(c.gap); got != c.want {
				t.Errorf("got %v", got)
			}
			if word := c.gap.Word(); word != "" && !(snapshot.AcceptedGaps{word}).Covers(c.gap) {
				t.Errorf("%q does not accept it", word)
			}
		})
	}
	got := snapshot.AcceptedGaps{"unrelated.example.com", "secrets", "metrics.k8s.io"}.Matching([]snapshot.Gap{pods, metrics, secrets, all})
	if diff := cmp.Diff(snapshot.AcceptedGaps{"metrics.k8s.io", "secrets"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestContentsGapsOmitsAcceptedGaps(t *testing.T) {
	shop := st.Namespace("shop").Identity
	view := snapshot.NewView(st.New(
		st.Unreadable("secrets", snapshot.Forbidden), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable),
		st.Deduplicated(st.ConfigMap("shop/x", st.UID("u")), st.ConfigMap("zzz/x", st.UID("u"))),
	))
	for name, c := range map[string]struct {
		accepted snapshot.AcceptedGaps
		want     int
	}{
		"none":                           {nil, 3},
		"one":                            {snapshot.AcceptedGaps{"secrets"}, 2},
		"all, but a contested UID stays": {snapshot.AcceptedGaps{"secrets", "metrics.k8s.io", "configmaps"}, 1},
	} {
		if got := view.ContentsGaps(shop, c.accepted); len(got) != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestGapWithUnreadableObjects(t *testing.T) {
	g := snapshot.Gap{Group: "example.com", Resource: "widgets", Reason: snapshot.StoreRead, Objects: []string{"shop/a", "dev/b", "shop-2/c", "/registry/x"}}
	if in, ok := g.In("shop"); !ok || !slices.Equal(in.Objects, []string{"shop/a"}) {
		t.Errorf("in shop: %v, %t", in.Objects, ok)
	}
	if in, ok := g.In("other"); ok || !slices.Equal(in.Objects, g.Objects) {
		t.Errorf("elsewhere: %v, %t", in.Objects, ok)
	}
	if got, want := g.Why(), "4 objects in etcd cannot be read: shop/a, dev/b, shop-2/c, /registry/x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for object, want := range map[string][]string{
		"shop/a": {"widgets.example.com/a", "-n", "shop"}, "node-1": {"widgets.example.com/node-1"}, "/registry/x": nil,
	} {
		if got := (snapshot.Gap{Group: "example.com", Resource: "widgets", Objects: []string{object}}).FirstObject(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", object, got, want)
		}
	}
}

// The list of another namespace may succeed, but not as long as the API server has no cache of the type.
func TestUnreadableObjectKeepsItsNamespace(t *testing.T) {
	s := st.New(st.Unreadable("secrets", snapshot.StoreRead))
	s.Gaps[0].Objects = []string{"shop/web", "dev/db"}
	for namespace, want := range map[string][]string{"shop": {"shop/web"}, "other": {"shop/web", "dev/db"}} {
		gaps, certain := snapshot.NewView(s).FinalizationGaps(namespace)
		if len(gaps) != 1 || certain || !slices.Equal(gaps[0].Objects, want) {
			t.Errorf("%s: %+v, want %q", namespace, gaps, want)
		}
	}
}

func TestANamespaceThatIsTooLargeSaysNothingAboutOthers(t *testing.T) {
	tooLarge := snapshot.Gap{Group: snapshot.All, Resource: snapshot.All, Namespace: "tenant", Reason: snapshot.TooLarge}
	v := snapshot.NewView(&snapshot.Snapshot{Gaps: []snapshot.Gap{tooLarge}})
	if got := v.GroupGap("example.com"); got != nil {
		t.Errorf("a group is unknown because of %+v", got)
	}
	namespace := func(name string) object.Identity {
		return object.Identity{APIVersion: "v1", Kind: "Namespace", Name: name}
	}
	if got := v.ContentsGaps(namespace("shop"), nil); len(got) != 0 {
		t.Errorf("the contents of another namespace are unknown because of %+v", got)
	}
	if got := v.ContentsGaps(namespace("tenant"), snapshot.AcceptedGaps{snapshot.All, "tenant"}); len(got) != 1 {
		t.Errorf("its own contents: got the gaps %+v", got)
	}
	if got := tooLarge.String(); got != "namespace tenant" {
		t.Errorf("got %q", got)
	}
}
