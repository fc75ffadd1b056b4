package scan

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// fixedLists are live lists with at most one object.
type fixedLists struct{ has *object.Object }

func (l fixedLists) ListAll(_ context.Context, queries []client.Query, _ bool) ([]client.ListResult, error) {
	return make([]client.ListResult, len(queries)), nil
}

func (l fixedLists) Find(at snapshot.Listing, namespace, name string) *object.Object {
	if l.has != nil && at == (snapshot.Listing{Resource: "pods"}) && l.has.Namespace == namespace && l.has.Name == name {
		return l.has
	}
	return nil
}

func TestMemoKeepsALookupUntilItMayBeWrong(t *testing.T) {
	at := snapshot.Coordinates{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "x"}
	pod := func(name, version string) *object.Object {
		return &object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: name, UID: "u"}, ResourceVersion: version}
	}
	absent := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Absent}
	found := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Found, Object: pod("x", "5")}
	failed := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Failed}
	nothing := func(*Memo) {}
	for name, test := range map[string]struct {
		lookup  snapshot.Lookup
		listed  bool
		between func(*Memo)
		listHas *object.Object // then
		later   time.Duration
		kept    bool
		owner   types.UID // that is asked for then; the lookup was about the one without a UID
	}{
		"of a listed type, for ever":                    {absent, true, nothing, nil, time.Hour, true, ""},
		"not for another owner of that name":            {absent, true, nothing, nil, 0, false, "created since"},
		"of another type, for a while":                  {absent, false, nothing, nil, MaxLookupAge - 1, true, ""},
		"of another type, not longer":                   {absent, false, nothing, nil, MaxLookupAge, false, ""},
		"a failure, for a while":                        {failed, true, nothing, nil, MaxLookupAge - 1, true, ""},
		"a failure, not longer":                         {failed, true, nothing, nil, MaxLookupAge, false, ""},
		"a failure, until a list has its name":          {failed, true, nothing, pod("x", "5"), 0, false, ""},
		"until a list has its name":                     {absent, true, nothing, pod("x", "5"), 0, false, ""},
		"beyond another name":                           {absent, true, nothing, pod("y", "5"), 0, true, ""},
		"as long as the list has what it found":         {found, true, nothing, pod("x", "5"), time.Hour, true, ""},
		"until the list has another state":              {found, true, nothing, pod("x", "6"), 0, false, ""},
		"not if the list lacks what it found":           {found, true, nothing, nil, 0, false, ""},
		"until the types change":                        {found, true, (*Memo).Clear, pod("x", "5"), 0, false, ""},
		"not if a scan did not need it in the meantime": {absent, true, (*Memo).begin, nil, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			now, memo := time.Unix(1000, 0), NewMemo()
			served := []snapshot.Type{{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"list"}}}
			newScanner := func(has *object.Object) *scanner {
				sc := &scanner{
					lists: fixedLists{has}, memo: memo, now: func() time.Time { return now }, reader: &ObjectReader{client: &client.Client{Config: client.Config{SmallConcurrency: 1}}},
					discovery: &discovery.Catalog{Types: served, Mapper: snapshot.NewMapper(served)},
				}
				if test.listed {
					sc.listed = []snapshot.Listing{{Resource: "pods"}}
				}
				memo.begin()
				return sc
			}
			lookUp := func(has *object.Object) snapshot.Lookup {
				dependent := &object.Object{Identity: object.Identity{Namespace: "ns"}, Owners: []object.Reference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: test.owner}}}
				got, err := newScanner(has).lookupAll(t.Context(), []snapshot.Coordinates{at}, []*object.Object{dependent}, func(types.UID) *object.Object { return nil })
				if err != nil || len(got) != 1 {
					t.Fatal(got, err)
				}
				return got[0]
			}
			if got := lookUp(nil); got.Message == "" {
				t.Fatalf("an empty memo knows %+v", got)
			}
			memo.keep(lookupKey{at, test.listed}, referredLookup{test.lookup, map[types.UID]bool{"": true}}, test.listed && test.lookup.Outcome != snapshot.Failed, now)
			test.between(memo)
			now = now.Add(test.later)
			if got := lookUp(test.listHas); (got == test.lookup) != test.kept {
				t.Errorf("kept: %v", !test.kept)
			}
		})
	}
}
