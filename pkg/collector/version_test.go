package collector_test

import (
	"os"
	"strings"
	"testing"

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

func TestThePageOfVersionsNamesTheNewestRelease(t *testing.T) {
	page, err := os.ReadFile("../../docs/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "up to Kubernetes " + collector.NewestRelease + "."; !strings.Contains(string(page), want) {
		t.Errorf("docs/versions.md lacks %q", want)
	}
}
