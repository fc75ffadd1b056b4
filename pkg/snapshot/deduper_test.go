package snapshot_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func version(v string) st.Option { return func(o *object.Object) { o.ResourceVersion = v } }

// An object may be in several files of one folder, which were written one after the other.
func TestDeduperKeepsTheNewestState(t *testing.T) {
	older := st.Object("a/v1", "Thing", "n/x", st.UID("u"), version("9"), st.Labeled("state", "old"))
	newer := st.Object("b/v1", "Thing", "n/x", st.UID("u"), version("10"), st.Labeled("state", "new"))
	for _, arrivals := range [][]object.Object{{older, newer}, {newer, older}, {older, newer, older}, {newer, older, newer}} {
		var d snapshot.Deduper
		d.Add(st.Pointers(arrivals)...)
		got := d.Object("u")
		if got.Identity != older.Identity || got.ResourceVersion != "10" || got.Labels["state"] != "new" || got.Contested || !slices.Contains(got.Aliases, newer.Identity) {
			t.Errorf("got %+v", got)
		}
	}
	if older.Labels["state"] != "old" || newer.APIVersion != "b/v1" {
		t.Error("an argument was changed")
	}
}

func TestDeduperIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var arrivals []object.Object
		for range rapid.IntRange(1, 6).Draw(t, "duplicates") {
			version := rapid.SampledFrom([]string{"a/v1", "b/v1", "c/v1"})
			o := st.Object(version.Draw(t, "version"), "Thing", "n/x", st.UID("u"))
			for range rapid.IntRange(0, 2).Draw(t, "aliases") {
				st.AlsoServedAs(version.Draw(t, "alias"), "Thing")(&o)
			}
			arrivals = append(arrivals, o)
		}
		var one, other snapshot.Deduper
		one.Add(st.Pointers(arrivals)...)
		shuffled := rapid.Permutation(arrivals).Draw(t, "shuffled")
		for _, o := range shuffled {
			other.Add(&o)
		}
		got := one.Object("u")
		if len(arrivals) > 1 && slices.Contains(got.Aliases, got.Identity) {
			t.Fatalf("%v is its own alias", got.Identity)
		}
		for _, o := range arrivals {
			if !got.ServedAs(o.APIVersion, o.Kind, o.Namespace, o.Name) {
				t.Fatalf("identity %s was lost", o.APIVersion)
			}
			for _, a := range o.Aliases {
				if !got.ServedAs(a.APIVersion, a.Kind, a.Namespace, a.Name) {
					t.Fatalf("the alias %s was lost", a.APIVersion)
				}
			}
		}
		if len(arrivals) == 1 {
			return
		}
		if diff := cmp.Diff(got, other.Object("u")); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDeduperDoesNotModifyArguments(t *testing.T) {
	spare := make([]object.Identity, 0, 8)
	one := st.Object("b/v1", "Thing", "n/x", st.UID("u"))
	one.Aliases = append(spare, object.Identity{APIVersion: "z/v1", Kind: "Thing", Namespace: "n", Name: "x", UID: "u"})
	before := slices.Clone(one.Aliases[:4])
	var d snapshot.Deduper
	as := one.Identity
	another := st.Object("a/v1", "Thing", "n/x", st.UID("u"))
	d.Add(&one, &another)
	if one.Identity != as || another.Aliases != nil {
		t.Errorf("now %v, and %v", one, another)
	}
	if diff := cmp.Diff(before, one.Aliases[:4]); diff != "" {
		t.Error(diff)
	}
}
