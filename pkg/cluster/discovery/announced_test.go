package discovery

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// hurry removes the pauses before discovery is read again.
func hurry(t *testing.T) {
	t.Helper()
	before := catchUpPauses
	catchUpPauses = []time.Duration{0, 0}
	t.Cleanup(func() { catchUpPauses = before })
}

func TestAnnouncedTypeMissingFromDiscoveryIsGap(t *testing.T) {
	hurry(t)
	notThere := clustertest.Reply(clustertest.Refuse(http.StatusNotFound, "NotFound"))
	honest := []clustertest.Fields{clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com"), clustertest.ClusterScoped("v1.old.example.com")}
	for name, test := range map[string]struct {
		services, definitions func(*http.Request) any
		gadgets               func(*http.Request) any // the definition of a type missing from discovery
		empty                 bool                    // discovery names example.com/v2 without types
		want                  []string
	}{
		"nothing is missing":           {services: clustertest.Reply(clustertest.List(honest...)), definitions: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("widgets.example.com")))},
		"a server may lack both types": {services: notThere, definitions: notThere},
		"a group of an APIService": {
			services: clustertest.Reply(clustertest.List(append(honest, clustertest.ClusterScoped("v1.gone.example.com"))...)), definitions: clustertest.Reply(clustertest.List()),
			want: []string{"API group gone.example.com: undiscovered"},
		},
		"a version of a group": {
			services: clustertest.Reply(clustertest.List(append(honest, clustertest.ClusterScoped("v2.example.com"))...)), definitions: clustertest.Reply(clustertest.List()),
			want: []string{"API group example.com: undiscovered"},
		},
		"the types of a version that the API server serves itself": {
			services:    clustertest.Reply(clustertest.List(append(honest, managed("v2.example.com"))...)),
			definitions: clustertest.Reply(clustertest.List()),
			want:        []string{"API group example.com: undiscovered"},
		},
		"an aggregated API may have no types": {services: clustertest.Reply(clustertest.List(append(honest, clustertest.ClusterScoped("v2.example.com"))...)), definitions: clustertest.Reply(clustertest.List()), empty: true},
		"an API of its own may not": {
			services: clustertest.Reply(clustertest.List(append(honest, managed("v2.example.com"))...)), definitions: clustertest.Reply(clustertest.List()), empty: true,
			want: []string{"API group example.com: undiscovered"},
		},
		"the type of a definition": {
			services: clustertest.Reply(clustertest.List(honest...)), definitions: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("gadgets.example.com"))),
			gadgets: clustertest.Reply(clustertest.Definition("gadgets.example.com", true, "True")),
			want:    []string{"gadgets.example.com: undiscovered"},
		},
		"the type of a definition that cannot be read": {
			services: clustertest.Reply(clustertest.List(honest...)), definitions: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("gadgets.example.com"))),
			gadgets: clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
			want:    []string{"gadgets.example.com: undiscovered"},
		},
		"a definition whose type is not served is none": {
			services: clustertest.Reply(clustertest.List(honest...)), definitions: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("gadgets.example.com"))),
			gadgets: clustertest.Reply(clustertest.Definition("gadgets.example.com", false, "True")),
		},
		"a definition whose names belong to another is none": {
			services: clustertest.Reply(clustertest.List(honest...)), definitions: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("gadgets.example.com"))),
			gadgets: clustertest.Reply(clustertest.Definition("gadgets.example.com", true, "False")),
		},
		"what announces, if it cannot be listed": {
			services: clustertest.Reply(clustertest.List(honest...)), definitions: clustertest.Reply(clustertest.Fields{"kind": "Error"}),
			want: []string{"customresourcedefinitions.apiextensions.k8s.io: unreadable"},
		},
		"what announces, if discovery does not name it and it may not be listed": {
			services: clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")), definitions: notThere,
			want: []string{"apiservices.apiregistration.k8s.io: forbidden"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]func(*http.Request) any{clustertest.ServicesPath: test.services, clustertest.DefinitionsPath: test.definitions}
			if test.gadgets != nil {
				answers[clustertest.DefinitionsPath+"/gadgets.example.com"] = test.gadgets
			}
			if test.empty {
				version := func(g string) clustertest.Fields {
					return clustertest.Fields{"groupVersion": g, "version": g[strings.LastIndex(g, "/")+1:]}
				}
				answers["/apis"] = clustertest.Reply(clustertest.Fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": []clustertest.Fields{
					{"name": "example.com", "versions": []clustertest.Fields{version("example.com/v1"), version("example.com/v2")}, "preferredVersion": version("example.com/v1")},
					{"name": "old.example.com", "versions": []clustertest.Fields{version("old.example.com/v1")}, "preferredVersion": version("old.example.com/v1")},
				}})
				answers["/apis/example.com/v2"] = clustertest.Reply(clustertest.Fields{"kind": "APIResourceList", "groupVersion": "example.com/v2", "resources": []clustertest.Fields{}})
			}
			c, _ := clustertest.Serve(t, answers)
			result, err := Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range result.Gaps {
				got = append(got, g.String()+": "+string(g.Reason))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A type is served some milliseconds before discovery names it.
func TestStaleDiscoveryIsRepeated(t *testing.T) {
	hurry(t)
	version := func(g string) clustertest.Fields {
		return clustertest.Fields{"groupVersion": g + "/v1", "version": "v1"}
	}
	group := func(g string) clustertest.Fields {
		return clustertest.Fields{"name": g, "versions": []clustertest.Fields{version(g)}, "preferredVersion": version(g)}
	}
	n := 0
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		clustertest.ServicesPath: clustertest.Reply(clustertest.List(clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com"), clustertest.ClusterScoped("v1.old.example.com"))), clustertest.DefinitionsPath: clustertest.Reply(clustertest.List()),
		"/apis": func(*http.Request) any {
			groups := []clustertest.Fields{group("example.com")}
			if n++; n > 2 {
				groups = append(groups, group("old.example.com"))
			}
			return clustertest.Fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
		},
	})
	result, err := Discover(t.Context(), c)
	if err != nil || len(result.Gaps) > 0 || !result.Serves(snapshot.Type{Group: "old.example.com", Resource: "widgets"}.GroupResource()) {
		t.Errorf("got %+v, %v", result, err)
	}
}

// managed returns an APIService of the API server's own API.
func managed(name string) clustertest.Fields {
	out := clustertest.ClusterScoped(name)
	out["metadata"].(clustertest.Fields)["labels"] = clustertest.Fields{automanaged: "onstart"}
	return out
}
