package cluster

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// hurry lets discovery catch up without waiting for it.
func hurry(t *testing.T) {
	t.Helper()
	before := catchUpPauses
	catchUpPauses = []time.Duration{0, 0}
	t.Cleanup(func() { catchUpPauses = before })
}

func TestWhatIsAnnouncedAndDiscoveryLacksIsAGap(t *testing.T) {
	hurry(t)
	notThere := say(refuse(http.StatusNotFound, "NotFound"))
	honest := []fields{clusterScoped("v1."), clusterScoped("v1.example.com"), clusterScoped("v1.old.example.com")}
	for name, test := range map[string]struct {
		services, definitions func(*http.Request) any
		gadgets               func(*http.Request) any // the definition of a type that discovery lacks
		empty                 bool                    // discovery names example.com/v2, without types
		want                  []string
	}{
		"nothing is missing":           {services: say(list(honest...)), definitions: say(list(clusterScoped("widgets.example.com")))},
		"a server may lack both types": {services: notThere, definitions: notThere},
		"a group of an APIService": {
			services: say(list(append(honest, clusterScoped("v1.gone.example.com"))...)), definitions: say(list()),
			want: []string{"API group gone.example.com: undiscovered"},
		},
		"a version of a group": {
			services: say(list(append(honest, clusterScoped("v2.example.com"))...)), definitions: say(list()),
			want: []string{"API group example.com: undiscovered"},
		},
		"the types of a version that the API server serves itself": {
			services:    say(list(append(honest, managed("v2.example.com"))...)),
			definitions: say(list()),
			want:        []string{"API group example.com: undiscovered"},
		},
		"an aggregated API may have no types": {services: say(list(append(honest, clusterScoped("v2.example.com"))...)), definitions: say(list()), empty: true},
		"an API of its own may not": {
			services: say(list(append(honest, managed("v2.example.com"))...)), definitions: say(list()), empty: true,
			want: []string{"API group example.com: undiscovered"},
		},
		"the type of a definition": {
			services: say(list(honest...)), definitions: say(list(clusterScoped("gadgets.example.com"))),
			gadgets: say(definition("gadgets.example.com", true, "True")),
			want:    []string{"gadgets.example.com: undiscovered"},
		},
		"the type of a definition that cannot be read": {
			services: say(list(honest...)), definitions: say(list(clusterScoped("gadgets.example.com"))),
			gadgets: say(refuse(http.StatusForbidden, "Forbidden")),
			want:    []string{"gadgets.example.com: undiscovered"},
		},
		"a definition whose type is not served is none": {
			services: say(list(honest...)), definitions: say(list(clusterScoped("gadgets.example.com"))),
			gadgets: say(definition("gadgets.example.com", false, "True")),
		},
		"a definition whose names belong to another is none": {
			services: say(list(honest...)), definitions: say(list(clusterScoped("gadgets.example.com"))),
			gadgets: say(definition("gadgets.example.com", true, "False")),
		},
		"what announces, if it cannot be listed": {
			services: say(list(honest...)), definitions: say(fields{"kind": "Error"}),
			want: []string{"customresourcedefinitions.apiextensions.k8s.io: unreadable"},
		},
		"what announces, if discovery does not name it and it may not be listed": {
			services: say(refuse(http.StatusForbidden, "Forbidden")), definitions: notThere,
			want: []string{"apiservices.apiregistration.k8s.io: forbidden"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]func(*http.Request) any{servicesPath: test.services, definitionsPath: test.definitions}
			if test.gadgets != nil {
				answers[definitionsPath+"/gadgets.example.com"] = test.gadgets
			}
			if test.empty {
				version := func(g string) fields {
					return fields{"groupVersion": g, "version": g[strings.LastIndex(g, "/")+1:]}
				}
				answers["/apis"] = say(fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": []fields{
					{"name": "example.com", "versions": []fields{version("example.com/v1"), version("example.com/v2")}, "preferredVersion": version("example.com/v1")},
					{"name": "old.example.com", "versions": []fields{version("old.example.com/v1")}, "preferredVersion": version("old.example.com/v1")},
				}})
				answers["/apis/example.com/v2"] = say(fields{"kind": "APIResourceList", "groupVersion": "example.com/v2", "resources": []fields{}})
			}
			c, _ := serve(t, answers)
			w, err := Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range w.Gaps {
				got = append(got, g.String()+": "+string(g.Reason))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDiscoveryThatLagsBehindIsAskedForAgain: a definition that was just made is served
// some milliseconds before discovery names it.
func TestDiscoveryThatLagsBehindIsAskedForAgain(t *testing.T) {
	hurry(t)
	version := func(g string) fields { return fields{"groupVersion": g + "/v1", "version": "v1"} }
	group := func(g string) fields {
		return fields{"name": g, "versions": []fields{version(g)}, "preferredVersion": version(g)}
	}
	n := 0
	c, _ := serve(t, map[string]func(*http.Request) any{
		servicesPath: say(list(clusterScoped("v1."), clusterScoped("v1.example.com"), clusterScoped("v1.old.example.com"))), definitionsPath: say(list()),
		"/apis": func(*http.Request) any {
			groups := []fields{group("example.com")}
			if n++; n > 2 {
				groups = append(groups, group("old.example.com"))
			}
			return fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
		},
	})
	w, err := Discover(t.Context(), c)
	if err != nil || len(w.Gaps) > 0 || !w.serves(snapshot.Type{Group: "old.example.com", Resource: "widgets"}.GroupResource()) {
		t.Errorf("got %+v, %v", w, err)
	}
}

// managed is an APIService of what the API server serves itself.
func managed(name string) fields {
	out := clusterScoped(name)
	out["metadata"].(fields)["labels"] = fields{automanaged: "onstart"}
	return out
}
