package oracle

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Each case is a row of docs/differences.md, with what both columns leave of one object.
func TestCollectDiffersFromUpstreamAsDocumented(t *testing.T) {
	ask := Start(t, 1)
	page, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	const served = `
		type v1 ConfigMap configmaps namespaced
		type v1 Secret secrets namespaced
		type v1 Pod pods namespaced
		type v1 Node nodes
		type v1 Namespace namespaces
		type metrics.example.com/v1 Reading readings namespaced unwatchable
	`
	for _, c := range []struct {
		row      string
		scenario string
		ours     string // what collect starts from; empty: the scenario
		object   types.UID
		upstream []string // what some order leaves of the object
		collect  string
	}{
		{
			row: "Two references have one UID, one good and one bad",
			scenario: `object v1 ConfigMap a/o o
				object v1 Secret a/d d owner=v1,ConfigMap,o,o owner=v1,ConfigMap,wrong,o`,
			object: "d", upstream: []string{"not deleted, no references"}, collect: "not deleted, v1,ConfigMap,o,o",
		},
		{
			row: "Two references have one UID, one of them blocks, and a cycle has to be broken",
			scenario: `object v1 ConfigMap a/o o owner=v1,Secret,d,d,block
				object v1 Secret a/d d owner=v1,ConfigMap,o,o owner=v1,ConfigMap,o,o,block
				delete o Foreground`,
			ours: `object v1 ConfigMap a/o o finalizers=foregroundDeletion deleted=1m0s owner=v1,Secret,d,d,block
				object v1 Secret a/d d owner=v1,ConfigMap,o,o owner=v1,ConfigMap,o,o,block`,
			object: "o", upstream: []string{"terminating, waits for foregroundDeletion, v1,Secret,d,d,block"}, collect: gone,
		},
		{
			row:      "A reference names the kind of a list, such as `PodList`",
			scenario: "object v1 ConfigMap a/d d owner=v1,PodList,o,o",
			object:   "d", upstream: []string{gone}, collect: "not deleted, v1,PodList,o,o",
		},
		{
			row: "A garbage Namespace or CustomResourceDefinition whose contents could not all be listed",
			scenario: `unreachable metrics.k8s.io
				object v1 Namespace a a spec=kubernetes owner=v1,Node,gone,gone`,
			object: "a", upstream: []string{"terminating, waits for kubernetes, v1,Node,gone,gone"}, collect: "not deleted, v1,Node,gone,gone",
		},
		{
			row: "The owner in a foreground deletion is also held by another controller's finalizer, and has dependents that do not block",
			scenario: `object v1 ConfigMap a/o o finalizers=example.com/hold
				object v1 Secret a/d d owner=v1,ConfigMap,o,o
				delete o Foreground`,
			ours: `object v1 ConfigMap a/o o finalizers=example.com/hold,foregroundDeletion deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,o,o`,
			object: "d", upstream: []string{gone, "not deleted, v1,ConfigMap,o,o"}, collect: gone,
		},
		{
			row: "A foreground deletion was under way before the collector started, and the owner has dependents that do not block",
			scenario: `object v1 ConfigMap a/o o finalizers=example.com/hold,foregroundDeletion deleted=1m0s
				object v1 ConfigMap a/p p owner=v1,ConfigMap,o,o`,
			object: "p", upstream: []string{"not deleted, v1,ConfigMap,o,o"}, collect: gone,
		},
		{
			row: "An object is deleted with both finalizers, `orphan` and `foregroundDeletion` (old, invalid today)",
			scenario: `object v1 ConfigMap a/o o finalizers=orphan,foregroundDeletion deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,o,o`,
			object: "o", upstream: []string{"terminating, waits for foregroundDeletion, no references"}, collect: gone,
		},
		{
			row: "A dependent is orphaned by one owner, and another owner of it is missing",
			scenario: `object v1 ConfigMap a/o o finalizers=orphan deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,o,o owner=v1,ConfigMap,gone,gone`,
			object: "d", upstream: []string{gone, "not deleted, no references"}, collect: gone,
		},
		{
			row: "A reference has the UID of an owner that is orphaned, under a wrong name or from another namespace",
			scenario: `object v1 ConfigMap a/o o finalizers=orphan deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,wrong,o`,
			object: "d", upstream: []string{gone, "not deleted, no references"}, collect: "not deleted, no references",
		},
		{
			row: "A 404 that does not name the object: a path that is not served at the moment, an API server that starts",
			scenario: `unserved readings.metrics.example.com
				object metrics.example.com/v1 Reading a/o o
				object v1 Secret a/d d owner=metrics.example.com/v1,Reading,o,o`,
			object: "d", upstream: []string{gone}, collect: "not deleted, metrics.example.com/v1,Reading,o,o",
		},
		{
			row: "A GET of an owner's name returns another object, which no list showed",
			scenario: `misread o
				object metrics.example.com/v1 Reading a/o o
				object v1 Secret a/d d owner=metrics.example.com/v1,Reading,o,o`,
			object: "d", upstream: []string{gone}, collect: "not deleted, metrics.example.com/v1,Reading,o,o",
		},
		{
			row: "A type cannot be listed",
			scenario: `unlisted secrets
				object v1 ConfigMap a/o o
				object v1 Secret a/d d owner=v1,ConfigMap,o,o,block
				delete o Foreground`,
			ours: `unlisted secrets
				object v1 ConfigMap a/o o finalizers=foregroundDeletion deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,o,o,block`,
			object: "o", upstream: []string{gone}, collect: "terminating, waits for foregroundDeletion, no references",
		},
		{
			row: "Two objects have one UID, with another namespace, name or creation time: an aggregated API shows copies",
			scenario: `object v1 ConfigMap a/copy o
				object v1 ConfigMap a/o o
				object v1 Secret a/d d owner=v1,ConfigMap,o,o
				delete o Orphan`, // of the copy
			ours: `object v1 ConfigMap a/copy o finalizers=orphan deleted=1m0s
				object v1 ConfigMap a/o o
				object v1 Secret a/d d owner=v1,ConfigMap,o,o`,
			object: "d", upstream: []string{"not deleted, no references"}, collect: "not deleted, v1,ConfigMap,o,o",
		},
		{
			row: "A finalizer is removed",
			scenario: `unlisted secrets
				object v1 ConfigMap a/o o
				object v1 Secret a/d d owner=v1,ConfigMap,o,o
				delete o Orphan`,
			ours: `unlisted secrets
				object v1 ConfigMap a/o o finalizers=orphan deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,o,o`,
			object: "o", upstream: []string{gone}, collect: "terminating, waits for orphan, no references",
		},
		{
			row:      "An object is about to be deleted",
			scenario: "object v1 ConfigMap a/d d owner=v1,Pod,gone,gone",
			object:   "d", upstream: []string{gone}, collect: gone,
		},
		{
			row: "Nothing blocks a foreground deletion now, but the notification was lost",
			scenario: `object v1 ConfigMap a/solid s
				object v1 ConfigMap a/o o
				object v1 Secret a/d d owner=v1,ConfigMap,solid,s owner=v1,ConfigMap,o,o,block owner=v1,ConfigMap,o,o
				delete o Foreground`,
			ours: `object v1 ConfigMap a/solid s
				object v1 ConfigMap a/o o finalizers=foregroundDeletion deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,solid,s`,
			object: "o", upstream: []string{gone, "terminating, waits for foregroundDeletion, no references"}, collect: gone,
		},
		{
			row: "A dependent is created while its owner is orphaned (#26120)",
			scenario: `object v1 ConfigMap a/o o
				create v1 Secret a/d d owner=v1,ConfigMap,o,o
				delete o Orphan`,
			ours: `object v1 ConfigMap a/o o finalizers=orphan deleted=1m0s
				object v1 Secret a/d d owner=v1,ConfigMap,o,o`,
			object: "d", upstream: []string{gone, "not deleted, no references"}, collect: "not deleted, no references",
		},
	} {
		t.Run(c.row, func(t *testing.T) {
			if !strings.Contains(string(page), "\n| "+c.row+" | ") {
				t.Error("docs/differences.md has no such row")
			}
			s := mustParse(t, served+c.scenario)
			reply, err := ask(t.Context(), scenario.Request{Scenario: s, Seed: 1, Orders: 300})
			if err != nil {
				t.Fatal(err)
			}
			var upstream []string
			for _, e := range Ends(reply) {
				upstream = append(upstream, describe(e.Object(c.object)))
			}
			slices.Sort(upstream)
			if got := slices.Compact(upstream); !slices.Equal(got, c.upstream) {
				t.Errorf("upstream leaves %q, want %q", got, c.upstream)
			}
			if c.ours != "" {
				s = mustParse(t, served+c.ours)
			}
			if got := afterCollect(s, c.object); got != c.collect {
				t.Errorf("collect leaves %q, want %q", got, c.collect)
			}
		})
	}
}

// afterCollect returns what the plan of `collect` leaves of an object.
func afterCollect(s scenario.Scenario, uid types.UID) string {
	s.Deletes = nil
	o := byUID(s.Objects)[uid]
	p := collectPlan(s)
	state, owners := stateOf(o), ownersOf(o)
	for i := range p.Outcomes {
		if p.Outcomes[i].Object.UID == uid {
			state = outcomeState(&p.Outcomes[i])
		}
	}
	if after, changed := ownersAfter(p)[uid]; changed {
		owners = formatOwners(after)
	}
	if state == gone {
		return gone
	}
	return state + ", " + owners
}

// The collector's client makes another path of such a name; `collect` sends no request.
func TestUpstreamSendsAnyOwnerNameAsItIs(t *testing.T) {
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { path = r.URL.Path }))
	defer server.Close()
	client := metadata.NewForConfigOrDie(&rest.Config{Host: server.URL})
	_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("a").Get(t.Context(), "../secrets/x", metav1.GetOptions{})
	if want := "/api/v1/namespaces/a/secrets/x"; path != want {
		t.Errorf("the request was for %s, want %s (%v)", path, want, err)
	}
}
