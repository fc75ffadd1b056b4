package write

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestReadNeedsTwoAnswersForReplacedObject(t *testing.T) {
	const get = "GET " + onePod
	found := func(uid string) http.HandlerFunc {
		return clustertest.ReplyWith(200, clustertest.AsMetadata(uid, "8", nil))
	}
	for name, test := range map[string]struct {
		answers []http.HandlerFunc
		want    snapshot.ErrorClass // empty: gone
		asked   int
	}{
		"two show the same other object":  {[]http.HandlerFunc{found("uid-y")}, "", 2},
		"two show different objects":      {[]http.HandlerFunc{found("uid-z"), found("uid-x")}, snapshot.Unreadable, 2},
		"it is not there the second time": {[]http.HandlerFunc{found("uid-y"), clustertest.NotFound()}, "", 2},
		"it is not there":                 {[]http.HandlerFunc{clustertest.NotFound()}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, map[string][]http.HandlerFunc{get: test.answers})
			o, err := w.Read(t.Context(), podX().Identity)
			if o != nil || (err == nil) != (test.want == "") || err != nil && reasonIn(err) != test.want || s.Count(get) != test.asked {
				t.Errorf("%v, %v after %d answers, want %q after %d", o, err, s.Count(get), test.want, test.asked)
			}
		})
	}
}

// A type is proven to be removed if its definition or APIService is gone.
func TestTypeMissingAtRelistIsGap(t *testing.T) {
	version := func(g string) clustertest.Fields {
		return clustertest.Fields{"groupVersion": g + "/v1", "version": "v1"}
	}
	group := func(g string) clustertest.Fields {
		return clustertest.Fields{"name": g, "versions": []clustertest.Fields{version(g)}, "preferredVersion": version(g)}
	}
	for name, test := range map[string]struct {
		services, definitions []clustertest.Fields // on the second discovery
		want                  int
	}{
		"it is still announced":      {[]clustertest.Fields{clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com"), clustertest.ClusterScoped("v1.old.example.com")}, []clustertest.Fields{clustertest.ClusterScoped("widgets.old.example.com")}, 1},
		"its definition is gone":     {[]clustertest.Fields{clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com")}, nil, 0},
		"its APIService is gone too": {[]clustertest.Fields{clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com")}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			later := false
			c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
				clustertest.ServicesPath: func(*http.Request) any {
					if later {
						return clustertest.List(test.services...)
					}
					return clustertest.List(clustertest.ClusterScoped("v1."), clustertest.ClusterScoped("v1.example.com"), clustertest.ClusterScoped("v1.old.example.com"))
				},
				clustertest.DefinitionsPath: func(*http.Request) any {
					if later {
						return clustertest.List(test.definitions...)
					}
					return clustertest.List(clustertest.ClusterScoped("widgets.old.example.com"))
				},
				clustertest.DefinitionsPath + "/widgets.old.example.com": clustertest.Reply(clustertest.Definition("widgets.old.example.com", true, "True")),
				"/apis": func(*http.Request) any {
					groups := []clustertest.Fields{group("example.com")}
					if !later {
						groups = append(groups, group("old.example.com"))
					}
					return clustertest.Fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
				},
			})
			first := scanAll(t, c)
			later = true
			s, err := New(c, first, false).Relist(t.Context())
			if err != nil || len(s.Gaps) != test.want {
				t.Errorf("gaps %v, %v", s.Gaps, err)
			}
		})
	}
}

func scanAll(t *testing.T, c *client.Client) *snapshot.Snapshot {
	t.Helper()
	s, err := scan.Cluster(t.Context(), c, nil, scan.Scope{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
