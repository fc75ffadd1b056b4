package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestContentsGaps(t *testing.T) {
	shop, widgets := st.Namespace("shop").Identity, st.CRD("widgets.example.com").Identity
	tags := snapshot.Type{Group: "image.example.com", Version: "v1", Resource: "tags", Kind: "Tag", Namespaced: true, Verbs: []string{"delete", "get", "list"}, Preferred: true}
	serving := func(change func(*snapshot.Type)) st.Part {
		changed := tags
		change(&changed)
		return st.Serving(changed)
	}
	inShop := func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{Resource: "secrets", Namespace: "shop", Reason: snapshot.Forbidden})
	}
	for name, c := range map[string]struct {
		parts            []st.Part
		shop, definition []string
	}{
		"everything was listed":        {},
		"a forbidden type":             {[]st.Part{st.Unreadable("secrets", snapshot.Forbidden)}, []string{"secrets (forbidden)"}, nil},
		"forbidden in the namespace":   {[]st.Part{st.ListedIn("secrets", "other"), inShop}, []string{"secrets in namespace shop (forbidden)"}, nil},
		"listed in the namespace":      {[]st.Part{st.ListedIn("secrets", "shop"), st.ListedIn("widgets.example.com", "shop")}, nil, []string{"widgets.example.com (unlisted)"}},
		"listed in another namespace":  {[]st.Part{st.ListedIn("secrets", "other")}, []string{"secrets in namespace shop (unlisted)"}, nil},
		"a failing conversion webhook": {[]st.Part{st.Unreadable("widgets.example.com", snapshot.Webhook)}, []string{"widgets.example.com (conversion-webhook)"}, []string{"widgets.example.com (conversion-webhook)"}},
		"an unavailable group":         {[]st.Part{st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)}, []string{"API group metrics.k8s.io (unavailable)"}, nil},
		"its own unavailable group":    {[]st.Part{st.Undiscovered("example.com", snapshot.Unavailable)}, []string{"API group example.com (unavailable)"}, []string{"API group example.com (unavailable)"}},
		"a type that discovery lacks": {[]st.Part{func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{Group: "example.com", Resource: "gadgets", Reason: snapshot.Undiscovered})
		}}, []string{"gadgets.example.com (undiscovered)"}, nil},
		"a cluster-scoped type": {[]st.Part{st.Unreadable("nodes", snapshot.Forbidden)}, nil, nil},
		"Events":                {[]st.Part{st.Unlisted("events"), st.Unlisted("events.events.k8s.io")}, nil, nil},
		"a type that cannot be watched": {
			[]st.Part{serving(func(*snapshot.Type) {})}, []string{"tags.image.example.com in namespace shop (unlisted)"}, nil,
		},
		"a type that cannot be deleted": {
			[]st.Part{serving(func(t *snapshot.Type) { t.Verbs = []string{"get", "list"} })}, nil, nil,
		},
		"a version that is not preferred": {
			[]st.Part{serving(func(t *snapshot.Type) { t.Preferred = false })}, nil, nil,
		},
		"a single owner that could not be read": {[]st.Part{func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{Resource: "secrets", Name: "x", Reason: snapshot.TimedOut})
		}}, nil, nil},
		"a contested UID in it": {
			[]st.Part{st.Deduplicated(st.Secret("shop/x", st.UID("u")), st.Secret("zzz/x", st.UID("u")))},
			[]string{"secrets in namespace shop (contested-uid)"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := snapshot.NewView(st.New(c.parts...))
			describe := func(gaps []snapshot.Gap) (out []string) {
				for _, g := range gaps {
					out = append(out, fmt.Sprintf("%s (%s)", g, g.Reason))
				}
				return out
			}
			if diff := cmp.Diff(c.shop, describe(view.ContentsGaps(shop, nil))); diff != "" {
				t.Errorf("of the namespace:\n%s", diff)
			}
			if diff := cmp.Diff(c.definition, describe(view.ContentsGaps(widgets, nil))); diff != "" {
				t.Errorf("of the definition:\n%s", diff)
			}
		})
	}
	missing := snapshot.NewView(st.New()).ContentsGaps(st.CRD("gadgets.example.com").Identity, nil)
	if len(missing) != 1 || missing[0].Message != "the API server does not serve this type" {
		t.Errorf("a type that discovery lacks: %v", missing)
	}
	if gaps := snapshot.NewView(st.New(st.Unreadable("secrets", snapshot.Forbidden))).ContentsGaps(st.Deployment("shop/web").Identity, nil); gaps != nil {
		t.Errorf("of an object without contents: %v", gaps)
	}
}

func TestFinalizationGaps(t *testing.T) {
	gap := func(g snapshot.Gap) st.Part { return func(s *snapshot.Snapshot) { s.Gaps = append(s.Gaps, g) } }
	for name, c := range map[string]struct {
		parts   []st.Part
		gaps    []string
		certain bool
	}{
		"everything was read":                      {},
		"a group that is unavailable":              {[]st.Part{st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)}, []string{"API group metrics.k8s.io"}, true},
		"a group that answers with an error":       {[]st.Part{st.Undiscovered("metrics.k8s.io", snapshot.ServerError)}, []string{"API group metrics.k8s.io"}, true},
		"a group that the user may not discover":   {[]st.Part{st.Undiscovered("metrics.k8s.io", snapshot.Forbidden)}, nil, false},
		"a group that answers too late":            {[]st.Part{st.Undiscovered("metrics.k8s.io", snapshot.TimedOut)}, []string{"API group metrics.k8s.io"}, false},
		"all groups":                               {[]st.Part{gap(snapshot.Gap{Group: snapshot.All, Resource: snapshot.All, Reason: snapshot.Unavailable})}, []string{"all other types"}, false},
		"a group is certain, a type is not":        {[]st.Part{st.Undiscovered("metrics.k8s.io", snapshot.Unavailable), st.Unreadable("widgets.example.com", snapshot.Webhook)}, []string{"API group metrics.k8s.io"}, true},
		"a failing conversion webhook":             {[]st.Part{st.Unreadable("widgets.example.com", snapshot.Webhook)}, []string{"widgets.example.com"}, false},
		"a type that the user may not list":        {[]st.Part{st.Unreadable("widgets.example.com", snapshot.Forbidden)}, nil, false},
		"a type that was not listed":               {[]st.Part{st.Unlisted("widgets.example.com")}, nil, false},
		"a type that fails elsewhere":              {[]st.Part{st.ListedIn("widgets.example.com", "shop"), gap(snapshot.Gap{Group: "example.com", Resource: "widgets", Namespace: "far", Reason: snapshot.Webhook})}, nil, false},
		"a cluster-scoped type":                    {[]st.Part{st.Unreadable("nodes", snapshot.ServerError)}, nil, false},
		"a type that discovery lacks":              {[]st.Part{gap(snapshot.Gap{Group: "example.com", Resource: "gadgets", Reason: snapshot.Undiscovered})}, nil, false},
		"a file that does not contain all":         {[]st.Part{gap(snapshot.Gap{Group: snapshot.All, Resource: snapshot.All, Reason: snapshot.NotInFile})}, nil, false},
		"a single owner that could not be read":    {[]st.Part{gap(snapshot.Gap{Resource: "secrets", Name: "a", Reason: snapshot.ServerError})}, nil, false},
		"objects that share a UID with other ones": {[]st.Part{gap(snapshot.Gap{Resource: "secrets", Namespace: "shop", Reason: snapshot.ContestedUID})}, nil, false},
		"a type that the server no longer knows":   {[]st.Part{st.Unreadable("widgets.example.com", snapshot.Vanished)}, nil, false},
	} {
		gaps, certain := snapshot.NewView(st.New(c.parts...)).FinalizationGaps("shop")
		var got []string
		for _, g := range gaps {
			got = append(got, g.String())
		}
		if diff := cmp.Diff(c.gaps, got); diff != "" || certain != c.certain {
			t.Errorf("%s: certain %v, gaps (-want +got)\n%s", name, certain, diff)
		}
	}
}
