package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// rule is a rule of a role.
type rule struct{ verbs, resources, names []string }

// allows reports whether the rule covers a request, as RBAC does (k8s.io/component-helpers,
// auth/rbac/validation). A rule for names does not cover a request without a name.
func (r rule) allows(a resourceAttributes) bool {
	has := func(of []string, one string) bool { return slices.Contains(of, "*") || slices.Contains(of, one) }
	return has(r.verbs, a.Verb) && has(r.resources, a.Resource) && (len(r.names) == 0 || slices.Contains(r.names, a.Name))
}

func verbs(of ...string) rule { return rule{of, []string{"*"}, nil} }

func onlyNamed(resource string, names ...string) rule {
	return rule{[]string{"*"}, []string{resource}, names}
}

// authorizer is an API server that answers access reviews.
type authorizer struct {
	rules map[string][]rule // by namespace; empty: all namespaces
	says  http.HandlerFunc  // answers instead of the rules, unless nil
	fails func(resourceAttributes) bool
	mu    sync.Mutex
	asked []string
}

func (a *authorizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked accessReview
	err := json.NewDecoder(r.Body).Decode(&asked)
	about := asked.Spec.ResourceAttributes
	if err != nil || about == nil || r.URL.Path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" {
		http.Error(w, "no such question", http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.asked = append(a.asked, fmt.Sprintf("%s %s %s/%s", about.Verb, about.Resource, about.Namespace, about.Name))
	a.mu.Unlock()
	switch {
	case a.says != nil:
		a.says(w, r)
		return
	case a.fails != nil && a.fails(*about):
		http.Error(w, "etcd is on fire", http.StatusTeapot)
		return
	}
	rules := a.rules[""]
	if about.Namespace != "" {
		rules = slices.Concat(rules, a.rules[about.Namespace])
	}
	allowed := slices.ContainsFunc(rules, func(r rule) bool { return r.allows(*about) })
	clustertest.ReplyWith(201, clustertest.Fields{"kind": asked.Kind, "apiVersion": asked.APIVersion, "spec": asked.Spec, "status": clustertest.Fields{"allowed": allowed}})(w, r)
}

func (a *authorizer) review(t *testing.T, rights ...object.Right) []Grant {
	t.Helper()
	c := clustertest.Connect(t, a, client.Config{Concurrency: 1, SmallConcurrency: 3, Timeout: time.Minute})
	nodes := snapshot.Type{Version: "v1", Resource: "nodes", Kind: "Node", Preferred: true}
	namespaces := snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace", Preferred: true}
	return ReviewAccess(t.Context(), c, &snapshot.Snapshot{Types: []snapshot.Type{clustertest.Pods, nodes, namespaces}}, rights)
}

func to(verb, kind, namespace string, names ...string) object.Right {
	r := object.Right{Verb: verb}
	for _, n := range names {
		r.Objects = append(r.Objects, object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: n})
	}
	return r
}

// granted returns each result as a word: may, unknown, or the refused names.
func granted(grants []Grant) []string {
	var out []string
	for _, g := range grants {
		said := "may"
		switch {
		case g.Unknown != nil:
			said = "unknown"
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

// inEach returns rights to one Pod in each of n namespaces.
func inEach(namespaces int, verb string) (out []object.Right) {
	for i := range namespaces {
		out = append(out, to(verb, "Pod", fmt.Sprintf("ns-%03d", i), "x"))
	}
	return out
}

func TestReviewAccess(t *testing.T) {
	says := func(status clustertest.Fields) http.HandlerFunc {
		return clustertest.ReplyWith(201, clustertest.Fields{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": status})
	}
	for name, c := range map[string]struct {
		authorizer *authorizer
		rights     []object.Right
		want       []string
		asked      []string
	}{
		"what is allowed in the whole cluster takes one review": {
			&authorizer{rules: map[string][]rule{"": {verbs("delete")}}},
			inEach(150, "delete"), slices.Repeat([]string{"may"}, 150),
			[]string{"delete pods /"},
		},
		"what is allowed in a namespace is allowed for all objects in it": {
			&authorizer{rules: map[string][]rule{"a": {verbs("*")}, "b": {verbs("get")}}},
			[]object.Right{to("delete", "Pod", "a", "x", "y"), to("delete", "Pod", "b", "x"), to("get", "Pod", "b", "x")},
			[]string{"may", "not x", "may"},
			[]string{"delete pods /", "get pods /", "delete pods a/", "delete pods b/", "get pods b/", "delete pods b/x"},
		},
		"the first name that is refused is enough": {
			&authorizer{rules: map[string][]rule{"a": {verbs("delete")}}},
			[]object.Right{to("delete", "Pod", "a", "x", "y"), to("patch", "Pod", "a", "x", "y")},
			[]string{"may", "not x y"},
			[]string{"delete pods /", "patch pods /", "delete pods a/", "patch pods a/", "patch pods a/x"},
		},
		"a role for names allows these": {
			&authorizer{rules: map[string][]rule{"a": {onlyNamed("pods", "x", "y")}}},
			[]object.Right{to("delete", "Pod", "a", "x", "y")},
			[]string{"may"},
			[]string{"delete pods /", "delete pods a/", "delete pods a/x", "delete pods a/y"},
		},
		"a role for names does not allow others": {
			&authorizer{rules: map[string][]rule{"a": {onlyNamed("pods", "x")}}},
			[]object.Right{to("delete", "Pod", "a", "x", "y")},
			[]string{"not y"},
			[]string{"delete pods /", "delete pods a/", "delete pods a/x", "delete pods a/y"},
		},
		"what is created has no name": {
			&authorizer{rules: map[string][]rule{"a": {onlyNamed("*", "x")}}},
			[]object.Right{to("create", "Pod", "a", "x", "y")},
			[]string{"not x y"},
			[]string{"create pods /", "create pods a/"},
		},
		"what is cluster-scoped is in no namespace": {
			&authorizer{rules: map[string][]rule{"": {verbs("delete"), onlyNamed("nodes", "x")}}},
			[]object.Right{to("delete", "Node", "", "x", "y"), to("patch", "Node", "", "x", "y")},
			[]string{"may", "not y"},
			[]string{"delete nodes /", "patch nodes /", "patch nodes /x", "patch nodes /y"},
		},
		"a request about a namespace is one in it": {
			&authorizer{rules: map[string][]rule{"x": {onlyNamed("namespaces", "x")}}},
			[]object.Right{to("delete", "Namespace", "", "x", "y"), to("create", "Namespace", "", "x")},
			[]string{"not y", "not x"},
			[]string{"delete namespaces /", "create namespaces /", "delete namespaces x/x", "delete namespaces y/y"},
		},
		"what is not served yet may be by then": {
			&authorizer{}, []object.Right{to("create", "Gadget", "a", "x")}, []string{"may"}, nil,
		},
		"a server without access reviews leaves it unknown": {
			&authorizer{says: clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "the server could not find the requested resource", nil))},
			[]object.Right{to("delete", "Pod", "a", "x")},
			[]string{"unknown"},
			[]string{"delete pods /"},
		},
		"an answer of another kind does, too": {
			&authorizer{says: clustertest.ReplyWith(201, clustertest.Fields{"kind": "Status", "status": "Success"})},
			[]object.Right{to("delete", "Pod", "a", "x")},
			[]string{"unknown"},
			[]string{"delete pods /"},
		},
		"and an answer about something else": {
			&authorizer{says: clustertest.ReplyWith(201, clustertest.Fields{
				"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": clustertest.Fields{"allowed": false},
				"spec": clustertest.Fields{"resourceAttributes": clustertest.Fields{"verb": "delete", "resource": "nodes"}},
			})},
			[]object.Right{to("delete", "Pod", "a", "x")},
			[]string{"unknown"},
			[]string{"delete pods /"},
		},
		"and an answer without a decision": {
			&authorizer{says: says(clustertest.Fields{})},
			[]object.Right{to("delete", "Pod", "a", "x")},
			[]string{"unknown"},
			[]string{"delete pods /"},
		},
		"and a refusal that an error led to": {
			&authorizer{says: says(clustertest.Fields{"allowed": false, "evaluationError": "no role"})},
			[]object.Right{to("delete", "Pod", "a", "x")},
			[]string{"unknown"},
			[]string{"delete pods /"},
		},
		"no right takes no review": {&authorizer{}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := granted(c.authorizer.review(t, c.rights...))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			slices.Sort(c.authorizer.asked) // sent concurrently
			slices.Sort(c.asked)
			if diff := cmp.Diff(c.asked, c.authorizer.asked); diff != "" {
				t.Errorf("reviews (-want +got)\n%s", diff)
			}
		})
	}
}

// The number of reviews is limited; a right without a review is unknown.
func TestReviewAccessIsLimited(t *testing.T) {
	names := make([]string, 150)
	for i := range names {
		names[i] = fmt.Sprintf("n-%03d", i)
	}
	everywhere := map[string][]rule{}
	for _, r := range inEach(150, "delete") {
		everywhere[r.Objects[0].Namespace] = []rule{verbs("delete")}
	}
	for name, c := range map[string]struct {
		rules  map[string][]rule
		rights []object.Right
		want   map[string]int
		asked  int
	}{
		"150 namespaces, refused in each":    {nil, inEach(150, "delete"), map[string]int{"not x": 49, "unknown": 101}, 1 + 49 + 49},
		"150 namespaces, allowed in each":    {everywhere, inEach(150, "delete"), map[string]int{"may": 49, "unknown": 101}, 1 + 49},
		"150 names, allowed for each":        {map[string][]rule{"": {onlyNamed("nodes", names...)}}, []object.Right{to("delete", "Node", "", names...)}, map[string]int{"unknown": 1}, 100},
		"150 names, refused for the last":    {map[string][]rule{"": {onlyNamed("nodes", names[:149]...)}}, []object.Right{to("delete", "Node", "", names...)}, map[string]int{"unknown": 1}, 100},
		"150 verbs, refused for each object": {nil, verbed(150), map[string]int{"unknown": 150}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			a := &authorizer{rules: c.rules}
			got := map[string]int{}
			for _, said := range granted(a.review(t, c.rights...)) {
				got[said]++
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(a.asked) != c.asked {
				t.Errorf("%d reviews, want %d (-want +got)\n%s", len(a.asked), c.asked, diff)
			}
		})
	}
}

// verbed returns n rights to one Node.
func verbed(n int) (out []object.Right) {
	for i := range n {
		out = append(out, to(fmt.Sprint("verb-", i), "Node", "", "x"))
	}
	return out
}

// A refusal in a namespace is not confirmed if the review by name fails.
func TestUnconfirmedRefusalIsUnknown(t *testing.T) {
	a := &authorizer{fails: func(about resourceAttributes) bool { return about.Name != "" }}
	if got := granted(a.review(t, to("delete", "Pod", "a", "x"))); got[0] != "unknown" {
		t.Errorf("it is %q", got)
	}
}

func TestVerifyReview(t *testing.T) {
	asked := resourceAttributes{Verb: "delete", Resource: "pods"}
	answer := func(of metav1.TypeMeta, about *resourceAttributes) (out accessReview) {
		out.TypeMeta, out.Spec.ResourceAttributes = of, about
		return out
	}
	for name, test := range map[string]struct {
		answer accessReview
		want   bool
	}{
		"the same question":           {answer(accessReviewKind, &asked), true},
		"one that does not repeat it": {answer(accessReviewKind, nil), true},
		"another question":            {answer(accessReviewKind, &resourceAttributes{Verb: "get", Resource: "pods"}), false},
		"another kind":                {answer(metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}, &asked), false},
		"a Status":                    {answer(metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, nil), false},
	} {
		if err := verifyReview(&test.answer, asked); test.want && err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !test.want && !errors.As(err, new(*client.AnswerError)) {
			t.Errorf("%s: got %v, want an *AnswerError", name, err)
		}
	}
}
