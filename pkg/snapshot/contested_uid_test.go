package snapshot_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func createdLater(o *object.Object) { o.Created = o.Created.Add(time.Second) }

func TestDeduperMarksContestedUIDs(t *testing.T) {
	web := st.Deployment("shop/web", st.UID("u"))
	for name, other := range map[string]object.Object{
		"another name":          st.Deployment("shop/api", st.UID("u")),
		"another namespace":     st.Deployment("test/web", st.UID("u")),
		"no namespace":          st.Deployment("web", st.UID("u")),
		"another creation time": st.Deployment("shop/web", st.UID("u"), createdLater),
		"another kind and name": st.Object("lie.example.com/v1", "Aaa", "zzz/x", st.UID("u")),
	} {
		t.Run(name, func(t *testing.T) {
			for _, arrivals := range [][]object.Object{{web, other}, {other, web}, {web, web, other}, {other, web, other}} {
				s := st.New(st.Deduplicated(arrivals...))
				if len(s.Objects) != 1 || !s.Objects[0].Contested {
					t.Fatalf("got %v", s.Objects)
				}
				for _, o := range arrivals {
					if !s.Objects[0].ServedAs(o.APIVersion, o.Kind, o.Namespace, o.Name) {
						t.Errorf("%s in %q is lost", o, o.Namespace)
					}
				}
				if s.Complete() {
					t.Error("the scan is complete")
				}
			}
		})
	}
}

func TestSortAddsAGapPerContestedType(t *testing.T) {
	s := st.New(st.Deduplicated(
		st.Deployment("shop/web", st.UID("u")), st.Secret("zzz/x", st.UID("u")),
		st.Deployment("shop/api", st.UID("v")), st.Secret("zzz/y", st.UID("v")),
		st.Pod("shop/p"),
	))
	message := "Deployment shop/api (apps/v1) and Secret zzz/y (v1) are different objects with the same UID v"
	want := []snapshot.Gap{
		{Resource: "secrets", Namespace: "zzz", Reason: snapshot.ContestedUID, Message: message},
		{Group: "apps", Resource: "deployments", Namespace: "shop", Reason: snapshot.ContestedUID, Message: message},
	}
	if diff := cmp.Diff(want, s.Gaps); diff != "" {
		t.Error(diff)
	}
}

func TestSortMarksUIDsContestedByLookups(t *testing.T) {
	web := st.Deployment("shop/web", st.UID("u"))
	listed := web
	s := st.New(func(s *snapshot.Snapshot) { s.Objects = append(s.Objects, &listed) }, st.Found(st.Secret("zzz/x", st.UID("u"))))
	if o := s.Objects[0]; !o.Contested || !o.ServedAs("v1", "Secret", "zzz", "x") || o.Kind != "Deployment" {
		t.Errorf("got %+v", o)
	}
	if o := s.Lookups[0].Object; !o.Contested || !o.ServedAs("apps/v1", "Deployment", "shop", "web") || o.Kind != "Secret" {
		t.Errorf("got %+v", o)
	}
	if s.Complete() {
		t.Error("the scan is complete")
	}
	if diff := cmp.Diff(web, listed); diff != "" {
		t.Errorf("an object that others share was changed:\n%s", diff)
	}
	agreeing := st.New(st.Listing(web), st.FoundAs("apps/v1", "deployment", web))
	if agreeing.Objects[0].Contested || !agreeing.Complete() {
		t.Errorf("a lookup that agrees: got %+v", agreeing.Objects[0])
	}
}

func TestUnverifiedIncludesContestedUIDs(t *testing.T) {
	web := st.Deployment("shop/web", st.UID("u"))
	secret := st.Secret("shop/s", st.OwnedBy(web))
	asked := func(s *snapshot.Snapshot) []snapshot.Coordinates {
		var all snapshot.Deduper
		all.Add(s.Objects...)
		return snapshot.NewView(s).UnverifiedOwners(s.Objects, all.Object)
	}
	if got := asked(st.New(st.Deduplicated(web, secret))); len(got) != 0 {
		t.Errorf("a listed owner is looked up: %v", got)
	}
	want := []snapshot.Coordinates{{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}}
	if diff := cmp.Diff(want, asked(st.New(st.Deduplicated(web, secret, st.ConfigMap("zzz/x", st.UID("u")))))); diff != "" {
		t.Error(diff)
	}
}

func TestDeduperIgnoresOrderOfContestedObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var arrivals []object.Object
		for range rapid.IntRange(1, 6).Draw(t, "objects") {
			at := rapid.SampledFrom([]string{"n/x", "n/y", "m/x", "x"}).Draw(t, "at")
			o := st.Object(rapid.SampledFrom([]string{"a/v1", "b/v1"}).Draw(t, "version"), "Thing", at, st.UID("u"))
			if rapid.Bool().Draw(t, "later") {
				createdLater(&o)
			}
			arrivals = append(arrivals, o)
		}
		differ := slices.ContainsFunc(arrivals, func(o object.Object) bool { return !o.Same(&arrivals[0]) })
		one := st.New(st.Deduplicated(arrivals...))
		if one.Objects[0].Contested != differ {
			t.Fatalf("contested: %v, they differ: %v", one.Objects[0].Contested, differ)
		}
		other := st.New(st.Deduplicated(rapid.Permutation(arrivals).Draw(t, "shuffled")...))
		if diff := cmp.Diff(one, other); diff != "" {
			t.Fatal(diff)
		}
	})
}
