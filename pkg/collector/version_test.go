package collector_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestBehaviorOf(t *testing.T) {
	type fields struct{ identity, unsynced, ordered, version, assumed bool }
	for server, want := range map[string]fields{
		"v1.13.4":                {},
		"v1.19.16-gke.100":       {},
		"1.19":                   {},
		"v1.20.0-alpha.1":        {identity: true},
		"v1.31.14":               {identity: true},
		"v1.32.0":                {identity: true, unsynced: true},
		"v1.33.13-eks-3ba8b0b":   {identity: true, unsynced: true, ordered: true},
		"v1.34.1+k3s1":           {identity: true, unsynced: true, ordered: true, version: true},
		"v1.36.3":                {identity: true, unsynced: true, ordered: true, version: true},
		"v1.37.0":                {true, true, true, true, true},
		"v2.0.0":                 {true, true, true, true, true},
		"":                       {true, true, true, true, true},
		"unknown":                {true, true, true, true, true},
		"v1":                     {true, true, true, true, true},
		"99999999999999999999.1": {true, true, true, true, true},
	} {
		b := collector.BehaviorOf(server)
		if got := (fields{b.IdentityAwareOwners, b.StartsWithUnsyncedTypes, b.OrderedNamespaceDeletion, b.DeleteNamesResourceVersion, b.Assumed}); got != want {
			t.Errorf("%q: got %+v, want %+v", server, got, want)
		}
		if said := b.Assumption() != nil; said != want.assumed {
			t.Errorf("%q: an assumption is reported: %v", server, said)
		}
	}
	if got, want := collector.BehaviorOf("v1.39.2").Assumption(), (reason.VersionAssumed{Server: "v1.39.2", Known: "1.36"}); got != want {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestChangesAreSortedAndComplete(t *testing.T) {
	if !slices.IsSortedFunc(collector.Changes, func(a, b collector.Change) int {
		if version.MustParseGeneric(a.Since).LessThan(version.MustParseGeneric(b.Since)) {
			return -1
		}
		return 1
	}) {
		t.Error("the changes are not in the order of their releases")
	}
	for _, c := range collector.Changes {
		for _, text := range []string{c.Since, c.Change, c.Before, c.Concerns, c.Modeled, c.Upstream} {
			if text == "" {
				t.Errorf("a field of the change of %s is empty", c.Since)
			}
		}
	}
}
