package discovery

import (
	"encoding/json"
	"slices"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// FuzzDecodeRoot checks that each type of a group has one preferred version and that failed
// groups are gaps, whatever the server sends.
func FuzzDecodeRoot(f *testing.F) {
	list := &apidiscovery.APIGroupDiscoveryList{Items: []apidiscovery.APIGroupDiscovery{aggregated("g", versionOf("v1", "both"), versionOf("v2beta1", "both", "newest"))}}
	list.Items[0].Versions[1].Freshness = apidiscovery.DiscoveryFreshnessStale
	raw, err := list.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{Raw: raw}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte(client.ProtobufPrefix), envelope...))
	inJSON, err := json.Marshal(list)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(inJSON)
	for _, s := range []string{
		"", client.ProtobufPrefix, "{}", `{"versions":["v1","v1",""]}`, `{"items":[{"versions":[{"resources":[{}]}]}]}`,
		`{"groups":[{"name":"g","versions":[{"groupVersion":"g/v1","version":"v1"},{"groupVersion":"g/v1","version":"v1"},{}],"preferredVersion":{"groupVersion":"g/v1"}}]}`,
		`{"items":[{"metadata":{"name":"../g"},"versions":[{"version":"..","resources":[{"resource":"../x","responseKind":{"kind":"\u001b[31m"},"scope":"Namespaced"}]}]}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		answer, err := decodeRoot(raw)
		if err != nil {
			return
		}
		for _, g := range answer.Groups {
			if sorted := preferredFirst(g); len(sorted) != len(g.Versions) {
				t.Errorf("%d versions became %d", len(g.Versions), len(sorted))
			}
		}
		s := withoutStale(answer.Items)
		seen := typesOf(s.groups)
		preferred := map[schema.GroupResource]int{}
		for _, of := range seen {
			if of.Kind == "" {
				t.Errorf("%+v has no kind", of)
			}
			if of.Preferred {
				preferred[of.GroupResource()]++
			}
		}
		names := map[string]int{}
		for _, g := range s.groups {
			names[g.Name]++
		}
		for resource, n := range preferred {
			if n > names[resource.Group] { // a group that is named twice counts as two
				t.Errorf("%v is preferred in %d versions", resource, n)
			}
		}
		if !slices.IsSortedFunc(seen, snapshot.Type.Compare) {
			t.Error("the types are in no order")
		}
		groups := map[string]bool{}
		for gv := range s.failed {
			groups[gv.Group] = true
		}
		if gaps := groupGaps(s.failed); len(gaps) != len(groups) {
			t.Errorf("%d gaps for %d groups", len(gaps), len(groups))
		}
	})
}
