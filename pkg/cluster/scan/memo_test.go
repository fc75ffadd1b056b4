package scan

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestMemoKeepsALookupUntilItMayBeWrong(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	at := snapshot.Coordinates{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "x"}
	where := place{GroupResource: pods, namespace: "ns", name: "x"}
	absent := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Absent}
	found := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Found, Object: &object.Object{Identity: object.Identity{UID: "u"}}}
	failed := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Failed}
	event := func(name string, uid types.UID) func(*Memo) {
		return func(m *Memo) { m.Forget(pods, object.Identity{Namespace: "ns", Name: name, UID: uid}) }
	}
	nothing := func(*Memo) {}
	for name, test := range map[string]struct {
		lookup          snapshot.Lookup
		listed          bool
		during, between func(*Memo)
		later           time.Duration
		kept            bool
	}{
		"of a listed type, for ever":                    {absent, true, nothing, nothing, time.Hour, true},
		"of another type, for a while":                  {absent, false, nothing, nothing, MaxLookupAge - 1, true},
		"of another type, not longer":                   {absent, false, nothing, nothing, MaxLookupAge, false},
		"a failure, for a while":                        {failed, true, nothing, nothing, MaxLookupAge - 1, true},
		"a failure, not longer":                         {failed, true, nothing, nothing, MaxLookupAge, false},
		"until an event at its name":                    {absent, true, nothing, event("x", ""), 0, false},
		"beyond an event at another name":               {absent, true, nothing, event("y", ""), 0, true},
		"until an event of the UID at another name":     {found, true, nothing, event("y", "u"), 0, false},
		"not after an event while it was under way":     {absent, true, event("x", ""), nothing, 0, false},
		"not after a relist while it was under way":     {absent, true, func(m *Memo) { m.ForgetType(pods) }, nothing, 0, false},
		"until the type is listed again":                {found, true, nothing, func(m *Memo) { m.ForgetType(pods) }, 0, false},
		"until the types change":                        {found, true, nothing, (*Memo).Clear, 0, false},
		"not if a scan did not need it in the meantime": {absent, true, nothing, func(m *Memo) { m.begin(time.Now)() }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			clock := func() time.Time { return now }
			m := NewMemo()
			end := m.begin(clock)
			if _, ok := m.recall(at, where); ok {
				t.Fatal("an empty memo knows it")
			}
			test.during(m)
			m.keep(test.lookup, test.listed)
			end()
			test.between(m)
			now = now.Add(test.later)
			defer m.begin(clock)()
			if _, kept := m.recall(at, where); kept != test.kept {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}
