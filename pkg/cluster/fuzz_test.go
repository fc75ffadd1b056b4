package cluster

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// FuzzServed: whatever a server says that it serves, each resource of a group has one
// preferred version, and what it keeps to itself is a gap.
func FuzzServed(f *testing.F) {
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
	f.Add(append([]byte(ProtobufPrefix), envelope...))
	inJSON, err := json.Marshal(list)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(inJSON)
	for _, s := range []string{
		"", ProtobufPrefix, "{}", `{"versions":["v1","v1",""]}`, `{"items":[{"versions":[{"resources":[{}]}]}]}`,
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
			if n > names[resource.Group] { // a group that is named twice is two
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

// FuzzPath: whatever a type or an object is called, a request about it stays below the
// version of its group.
func FuzzPath(f *testing.F) {
	f.Add("g", "v1", "things", "ns", "a")
	f.Add("", "v1", "pods", "ns", "a%2f..")
	f.Add("g", "v1", "..", "..", "..")
	f.Add("g", "v1", "a/b", "c/d", "e/f")
	f.Add("g", "v1", "a?watch=1", "ns#", "?x=y")
	f.Add("..", "..", "a", "", "")
	c, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{}) // nothing is sent
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, group, version, resource, namespace, name string) {
		if !snapshot.ValidName(name) && name != "" {
			return // nobody asks for it
		}
		request := c.Get(snapshot.Type{Group: group, Version: version, Resource: resource, Namespaced: true}, namespace, name, AcceptObject)
		if request.Error() != nil {
			return
		}
		want := []string{"", "apis", group, version}
		if group == "" {
			want = []string{"", "api", version}
		}
		if namespace != "" {
			want = append(want, "namespaces", namespace)
		}
		want = append(want, strings.ToLower(resource)) // client-go does
		if name != "" {
			want = append(want, name)
		}
		got, err := url.Parse(request.URL().String())
		if err != nil || !slices.Equal(want, strings.Split(got.Path, "/")) || got.RawQuery != "" || got.Fragment != "" {
			t.Errorf("it asks for %s of %q", request.URL(), want)
		}
	})
}

// FuzzTable: a table has cells for objects of a UID, and for no more than it has rows.
func FuzzTable(f *testing.F) {
	f.Add([]byte(`{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Ready"},{"name":"Status"},{"name":"Age"},{"name":"Desired"}],"rows":[{"cells":["a","1/1","Running","5d",3],"object":{"metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"1"}}}]}`))
	f.Add([]byte(`{"columnDefinitions":[{"name":"READY"},{"name":"ready"}],"rows":[{"cells":[],"object":{"metadata":{"uid":"u"}}},{"cells":[null,{"a":[1]}],"object":{"metadata":{"uid":"v"}}},{"object":null}]}`))
	f.Add([]byte(`{"rows":[{"cells":[1e999]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var table metav1.Table
		if json.Unmarshal(raw, &table) != nil {
			return
		}
		into := map[types.UID]Cells{}
		readTable(&table, Query{Type: pods}, into)
		if _, nameless := into[""]; nameless || len(into) > len(table.Rows) {
			t.Errorf("%d rows have the cells %v", len(table.Rows), into)
		}
	})
}
