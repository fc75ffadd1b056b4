package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestOneAnswerReplacesNoObjectThatIsReadAgain(t *testing.T) {
	const get = "GET " + onePod
	found := func(uid string) http.HandlerFunc { return answers(200, asMetadata(uid, "8", nil)) }
	for name, test := range map[string]struct {
		answers []http.HandlerFunc
		want    snapshot.ErrorClass // empty: it is gone
		asked   int
	}{
		"two show the same other object":  {[]http.HandlerFunc{found("uid-y")}, "", 2},
		"two show different objects":      {[]http.HandlerFunc{found("uid-z"), found("uid-x")}, snapshot.Unreadable, 2},
		"it is not there the second time": {[]http.HandlerFunc{found("uid-y"), notFound()}, "", 2},
		"it is not there":                 {[]http.HandlerFunc{notFound()}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, map[string][]http.HandlerFunc{get: test.answers})
			o, err := w.Read(t.Context(), podX().Identity)
			if o != nil || (err == nil) != (test.want == "") || err != nil && reasonIn(err) != test.want || s.count(get) != test.asked {
				t.Errorf("%v, %v after %d answers, want %q after %d", o, err, s.count(get), test.want, test.asked)
			}
		})
	}
}

// TestATypeThatVanishesBeforeTheRelistIsAGap, unless what announced it went as well.
func TestATypeThatVanishesBeforeTheRelistIsAGap(t *testing.T) {
	version := func(g string) fields { return fields{"groupVersion": g + "/v1", "version": "v1"} }
	group := func(g string) fields {
		return fields{"name": g, "versions": []fields{version(g)}, "preferredVersion": version(g)}
	}
	for name, test := range map[string]struct {
		services, definitions []fields // at the second time
		want                  int
	}{
		"it is still announced":      {[]fields{clusterScoped("v1."), clusterScoped("v1.example.com"), clusterScoped("v1.old.example.com")}, []fields{clusterScoped("widgets.old.example.com")}, 1},
		"its definition is gone":     {[]fields{clusterScoped("v1."), clusterScoped("v1.example.com")}, nil, 0},
		"its APIService is gone too": {[]fields{clusterScoped("v1."), clusterScoped("v1.example.com")}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			later := false
			c, _ := serve(t, map[string]func(*http.Request) any{
				servicesPath: func(*http.Request) any {
					if later {
						return list(test.services...)
					}
					return list(clusterScoped("v1."), clusterScoped("v1.example.com"), clusterScoped("v1.old.example.com"))
				},
				definitionsPath: func(*http.Request) any {
					if later {
						return list(test.definitions...)
					}
					return list(clusterScoped("widgets.old.example.com"))
				},
				definitionsPath + "/widgets.old.example.com": say(definition("widgets.old.example.com", true, "True")),
				"/apis": func(*http.Request) any {
					groups := []fields{group("example.com")}
					if !later {
						groups = append(groups, group("old.example.com"))
					}
					return fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
				},
			})
			first := scanAll(t, c)
			later = true
			s, err := NewWriter(c, first, false).Relist(t.Context())
			if err != nil || len(s.Gaps) != test.want {
				t.Errorf("gaps %v, %v", s.Gaps, err)
			}
		})
	}
}

func scanAll(t *testing.T, c *Client) *snapshot.Snapshot {
	t.Helper()
	w, err := Discover(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(t.Context(), c, w, Scope{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
