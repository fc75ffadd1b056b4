package collector_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestBehaviorOf(t *testing.T) {
	type fields struct{ unsynced, ordered, version, assumed bool }
	for server, want := range map[string]fields{
		"v1.13.4":                {assumed: true},
		"v1.19.16-gke.100":       {assumed: true},
		"1.19":                   {assumed: true},
		"v1.27.16":               {assumed: true},
		"v1.28.0-alpha.1":        {},
		"v1.31.14":               {},
		"v1.32.0":                {unsynced: true},
		"v1.33.13-eks-3ba8b0b":   {unsynced: true, ordered: true},
		"v1.34.1+k3s1":           {unsynced: true, ordered: true, version: true},
		"v1.36.3":                {unsynced: true, ordered: true, version: true},
		"v1.37.2":                {unsynced: true, ordered: true, version: true},
		"v1.38.0-alpha.1":        {true, true, true, true},
		"v2.0.0":                 {true, true, true, true},
		"":                       {true, true, true, true},
		"unknown":                {true, true, true, true},
		"v1":                     {true, true, true, true},
		"99999999999999999999.1": {true, true, true, true},
	} {
		b := collector.BehaviorOf(server)
		if got := (fields{b.StartsWithUnsyncedTypes, b.OrderedNamespaceDeletion, b.DeleteNamesResourceVersion, b.Assumption() != nil}); got != want {
			t.Errorf("%q: got %+v, want %+v", server, got, want)
		}
	}
	for server, want := range map[string]reason.VersionAssumed{
		"v1.39.2":  {Server: "v1.39.2", Known: "1.37"},
		"v1.27.16": {Server: "v1.27.16", Known: "1.28", Older: true},
	} {
		if got := collector.BehaviorOf(server).Assumption(); !got.Equal(reason.Of(want)) {
			t.Errorf("got %s, want %#v", got.Message(), want)
		}
	}
}

func TestThePageOfVersionsNamesTheKnownReleases(t *testing.T) {
	page, err := os.ReadFile("../../docs/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "of Kubernetes " + collector.OldestRelease + " to " + collector.NewestRelease + "."; !strings.Contains(string(page), want) {
		t.Errorf("docs/versions.md lacks %q", want)
	}
}
