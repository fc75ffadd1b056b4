package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// authority answers who may what.
type authority struct {
	mu    sync.Mutex
	rules map[string][]rule // by namespace; the empty one is everywhere
	// whole says that the rules are all there are; else they are only a part of them.
	whole bool
	says  http.HandlerFunc // instead of everything; nil: as the rules say
	asked []string
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked review
	err := json.NewDecoder(r.Body).Decode(&asked)
	a.mu.Lock()
	defer a.mu.Unlock()
	ns, may := asked.Spec.Namespace, false
	said := asked.Kind + " " + ns
	if at := asked.Spec.ResourceAttributes; at != nil {
		said = fmt.Sprintf("%s %s %s %s/%s", asked.Kind, at.Verb, at.Resource, at.Namespace, at.Name)
		may = slices.ContainsFunc(a.in(at.Namespace), func(r rule) bool { return r.allows(*at) })
	}
	a.asked = append(a.asked, said)
	switch {
	case err != nil || !strings.HasSuffix(r.URL.Path, "/"+strings.ToLower(asked.Kind)+"s"):
		http.Error(w, "no such question", http.StatusBadRequest)
	case a.says != nil:
		a.says(w, r)
	case asked.Spec.ResourceAttributes != nil:
		answers(201, fields{"kind": asked.Kind, "apiVersion": asked.APIVersion, "status": fields{"allowed": may}})(w, r)
	default:
		known := a.in(ns)
		if !a.whole {
			known = nil
		}
		answers(201, fields{"kind": asked.Kind, "apiVersion": asked.APIVersion, "status": fields{"resourceRules": known, "incomplete": !a.whole}})(w, r)
	}
}

func (a *authority) in(namespace string) []rule {
	if namespace == "" {
		return a.rules[""]
	}
	return slices.Concat(a.rules[""], a.rules[namespace])
}

func (a *authority) rights(t *testing.T, rights ...Right) []Grant {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, Options{Concurrency: 3, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.rest.(*rest.RESTClient).Client.CloseIdleConnections() })
	nodes := snapshot.Type{Version: "v1", Resource: "nodes", Kind: "Node", Preferred: true}
	namespaces := snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace", Preferred: true}
	return c.Rights(t.Context(), &snapshot.Snapshot{Types: []snapshot.Type{pods, nodes, namespaces}}, rights)
}

func to(verb, kind, namespace string, names ...string) Right {
	r := Right{Verb: verb}
	for _, n := range names {
		r.Objects = append(r.Objects, object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: n})
	}
	return r
}

// granted is each answer in a word: may, told, or the names that are refused.
func granted(grants []Grant) []string {
	var out []string
	for _, g := range grants {
		said := "may"
		switch {
		case g.Untold != nil:
			said = "untold"
		case len(g.Refused) > 0:
			said = "not"
			for _, o := range g.Refused {
				said += " " + o.Name
			}
		}
		out = append(out, said)
	}
	return out
}

func verbs(of ...string) rule {
	return rule{Verbs: of, APIGroups: []string{""}, Resources: []string{"*"}}
}

// reviewed answers each kind of question in its kind, with the same besides.
func reviewed(besides fields) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer := maps.Clone(besides)
		answer["kind"] = "SelfSubjectRulesReview"
		if strings.HasSuffix(r.URL.Path, "accessreviews") {
			answer["kind"] = "SelfSubjectAccessReview"
		}
		answers(201, answer)(w, r)
	}
}

func TestRightsAreAskedForInFewRequests(t *testing.T) {
	named := rule{Verbs: []string{"delete"}, APIGroups: []string{"*"}, Resources: []string{"pods", "namespaces"}, ResourceNames: []string{"x"}}
	many := func(verb string) (out []Right) {
		for i := range mostReviews + 20 {
			out = append(out, to(verb, "Pod", fmt.Sprintf("ns-%03d", i), "x"))
		}
		return out
	}
	for name, c := range map[string]struct {
		authority *authority
		rights    []Right
		want      []string
		requests  int
	}{
		"the rules of a namespace say it of all objects in it": {
			&authority{whole: true, rules: map[string][]rule{"a": {verbs("delete")}}},
			[]Right{to("delete", "Pod", "a", "x", "y"), to("patch", "Pod", "a", "x", "y")},
			[]string{"may", "not x y"},
			1,
		},
		"each namespace has its own": {
			&authority{whole: true, rules: map[string][]rule{"a": {verbs("*")}, "b": {verbs("get")}}},
			[]Right{to("delete", "Pod", "a", "x"), to("delete", "Pod", "b", "x"), to("get", "Pod", "b", "x")},
			[]string{"may", "not x", "may"},
			2,
		},
		"a rule for names is for these": {
			&authority{whole: true, rules: map[string][]rule{"a": {named}}},
			[]Right{to("delete", "Pod", "a", "x", "y")},
			[]string{"not y"},
			1,
		},
		"and for nothing that is made": {
			&authority{whole: true, rules: map[string][]rule{"a": {{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ResourceNames: []string{"x"}}}}},
			[]Right{to("create", "Pod", "a", "x", "y")},
			[]string{"not x y"},
			1,
		},
		"where rules are not all there is, each object is asked about that is in doubt": {
			&authority{rules: map[string][]rule{"a": {verbs("delete")}}},
			[]Right{to("delete", "Pod", "a", "x", "y"), to("patch", "Pod", "a", "x", "y")},
			[]string{"may", "not x y"},
			1 + 2 + 2,
		},
		"so it is on what is cluster-scoped": {
			&authority{whole: true, rules: map[string][]rule{"": {verbs("delete")}}},
			[]Right{to("delete", "Node", "", "x", "y"), to("patch", "Node", "", "x", "y")},
			[]string{"may", "not x y"},
			2 + 2,
		},
		"a rule for names of what is cluster-scoped is for these, whichever comes first": {
			&authority{whole: true, rules: map[string][]rule{"": {{Verbs: []string{"delete"}, APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: []string{"x"}}}}},
			[]Right{to("delete", "Node", "", "x", "y"), to("delete", "Node", "", "y", "x")},
			[]string{"not y", "not y"},
			2 + 4,
		},
		"a request about a namespace is one in it": {
			&authority{whole: true, rules: map[string][]rule{"x": {named}}},
			[]Right{to("delete", "Namespace", "", "x", "y"), to("delete", "Namespace", "", "y"), to("create", "Namespace", "", "x")},
			[]string{"not y", "not y", "not x"},
			3 + 3,
		},
		"whoever may do it everywhere is asked once for all namespaces": {
			&authority{whole: true, rules: map[string][]rule{"": {verbs("delete")}}},
			many("delete"), slices.Repeat([]string{"may"}, mostReviews+20), 1,
		},
		"whoever may not is not asked about more than so many": {
			&authority{whole: true, rules: map[string][]rule{}},
			many("delete"), slices.Repeat([]string{"not x"}, mostReviews+20), 1 + mostReviews + 20 + 20,
		},
		"what is not served yet may be by then": {
			&authority{whole: true}, []Right{to("create", "Gadget", "a", "x")}, []string{"may"}, 0,
		},
		"a server that knows no such question leaves it untold": {
			&authority{says: answers(404, status(404, "NotFound", "the server could not find the requested resource", nil))},
			[]Right{to("delete", "Pod", "a", "x")},
			[]string{"untold"},
			2,
		},
		"an answer of another shape does, too": {
			&authority{says: answers(201, fields{"kind": "Status", "status": "Success"})},
			[]Right{to("delete", "Pod", "a", "x")},
			[]string{"untold"},
			2,
		},
		"and one that says nothing": {
			&authority{says: reviewed(fields{})},
			[]Right{to("delete", "Pod", "a", "x")},
			[]string{"untold"},
			2,
		},
		"and one that could not be thought through": {
			&authority{says: reviewed(fields{"status": fields{"allowed": false, "incomplete": false, "resourceRules": []rule{}, "evaluationError": "no role"}})},
			[]Right{to("delete", "Pod", "a", "x")},
			[]string{"untold"},
			2,
		},
		"nothing asks for nothing": {&authority{}, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := granted(c.authority.rights(t, c.rights...))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(c.authority.asked) != c.requests {
				t.Errorf("%d requests, want %d: %s", len(c.authority.asked), c.requests, strings.Join(c.authority.asked[:min(10, len(c.authority.asked))], "; "))
			}
		})
	}
}

// Of a thousand objects nobody asks one by one: the rest is untold, unless one is refused.
func TestObjectsAreNotAskedAboutWithoutEnd(t *testing.T) {
	names := make([]string, 10*mostReviews)
	for i := range names {
		names[i] = fmt.Sprint("n-", i)
	}
	allowed := rule{Verbs: []string{"delete"}, APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: slices.Clone(names[:5*mostReviews])}
	a := authority{rules: map[string][]rule{"": {allowed}}}
	if got := granted(a.rights(t, to("delete", "Node", "", names...))); got[0] != "untold" || len(a.asked) != 1+mostReviews {
		t.Errorf("%s after %d requests", got, len(a.asked))
	}
	slices.Reverse(names)
	if got := granted(a.rights(t, to("delete", "Node", "", names...))); !strings.HasPrefix(got[0], "not n-999 ") {
		t.Errorf("%s", got)
	}
}

// However much is wanted, the requests are bounded, and what nobody asked about is said
// to be untold.
func TestRightsAreNotAskedForWithoutEnd(t *testing.T) {
	a := authority{}
	var rights []Right
	for i := range 3 * mostReviews {
		rights = append(rights, to("delete", "Pod", fmt.Sprint("ns-", i), "x"))
	}
	got := granted(a.rights(t, rights...))
	untold := 0
	for _, g := range got {
		if g == "untold" {
			untold++
		}
	}
	if len(a.asked) > 3*mostReviews+1 || untold != 2*mostReviews {
		t.Errorf("%d requests, %d untold", len(a.asked), untold)
	}
}
