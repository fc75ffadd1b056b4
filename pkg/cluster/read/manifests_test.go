package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// manifest is a list or object as a server writes it.
type manifest string

func (m manifest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") != "application/json" {
		http.Error(w, r.Header.Get("Accept"), http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintln(w, m)
}

func TestManifests(t *testing.T) {
	const pods, inNamespace = "GET /api/v1/pods", "GET /api/v1/namespaces/ns/pods"
	pod := func(i int) string { return fmt.Sprintf("GET /api/v1/namespaces/ns/pods/p%d", i) }
	body := func(i int) string {
		return fmt.Sprintf(`{"metadata":{"name":"p%d","namespace":"ns","uid":"u%d","resourceVersion":"2"},"Metadata":{"uid":"no"},"n": 12345678901234567890.10,"s":"<\u003c"}`, i, i)
	}
	whole := func(i int) string { return `{"apiVersion":"v1","kind":"Pod",` + body(i)[1:] }
	single := func(i int) []http.HandlerFunc { return []http.HandlerFunc{manifest(whole(i)).ServeHTTP} }
	absent := func(i int) []http.HandlerFunc {
		return []http.HandlerFunc{clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "", clustertest.Fields{"name": fmt.Sprintf("p%d", i), "kind": "pods"}))}
	}
	announcing := func(more int, items ...string) http.HandlerFunc {
		return manifest(fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"more","remainingItemCount":%d},"items":[%s]}`, more, strings.Join(items, ", "))).ServeHTTP
	}
	page := func(next string, items ...string) http.HandlerFunc {
		return manifest(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"` + next + `"},"items":[` + strings.Join(items, ", ") + `]}`).ServeHTTP
	}
	bodies := func(from, to int) (out []string) {
		for i := from; i < to; i++ {
			out = append(out, body(i))
		}
		return out
	}
	forbidden := clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "no", nil))
	for name, test := range map[string]struct {
		seen    int // pods in the snapshot
		part    bool
		noGet   bool // pods cannot be requested by name
		wanted  int
		answers map[string][]http.HandlerFunc
		passed  int
		failed  []types.UID
		asked   int
	}{
		"many of few are read in one list, page by page": {
			seen: 20, wanted: 12, passed: 12, asked: 2,
			answers: map[string][]http.HandlerFunc{pods: {page("more", bodies(0, 7)...), page("", bodies(7, 20)...)}},
		},
		"what the list does not show is gone if a request for it finds nothing": {
			seen: 20, wanted: 12, passed: 11, asked: 2,
			answers: map[string][]http.HandlerFunc{pods: {page("", bodies(1, 20)...)}, pod(0): absent(0)},
		},
		"what the list does not show is asked for, and is not gone": {
			seen: 20, wanted: 12, passed: 12, asked: 3,
			answers: map[string][]http.HandlerFunc{pods: {page("", bodies(2, 20)...)}, pod(0): single(0), pod(1): single(1)},
		},
		"an answer that is no list is no proof that anything is gone": {
			seen: 10, wanted: 10, passed: 9, asked: 11, failed: []types.UID{"u9"},
			answers: map[string][]http.HandlerFunc{
				pods:   {manifest(`{"message": "sign in first"}`).ServeHTTP},
				pod(0): single(0), pod(1): single(1), pod(2): single(2), pod(3): single(3), pod(4): single(4),
				pod(5): single(5), pod(6): single(6), pod(7): single(7), pod(8): single(8), pod(9): {manifest(`{"message": "sign in first"}`).ServeHTTP},
			},
		},
		"many of a part are read in one list of their namespace": {
			seen: 10, part: true, wanted: 10, passed: 10, asked: 2,
			answers: map[string][]http.HandlerFunc{inNamespace: {announcing(3, bodies(0, 7)...), page("", bodies(7, 10)...)}},
		},
		"of a list that is long, those that its first page lacks are asked for one by one": {
			seen: 10, part: true, wanted: 10, passed: 10, asked: 4,
			answers: map[string][]http.HandlerFunc{
				inNamespace: {announcing(94, bodies(0, 7)...)},
				pod(7):      single(7), pod(8): single(8), pod(9): single(9),
			},
		},
		"a long list is read to its end if nothing can be asked for alone": {
			seen: 101, noGet: true, wanted: 2, passed: 2, asked: 2,
			answers: map[string][]http.HandlerFunc{pods: {announcing(94, bodies(2, 9)...), page("", append(bodies(0, 2), bodies(9, 101)...)...)}},
		},
		"few of a part are asked for one by one": {
			seen: 2, part: true, wanted: 2, passed: 2, asked: 2,
			answers: map[string][]http.HandlerFunc{pod(0): single(0), pod(1): single(1)},
		},
		"few of many are asked for one by one": {
			seen: 121, wanted: 2, passed: 1, asked: 2,
			answers: map[string][]http.HandlerFunc{
				pod(0): single(0), pod(1): absent(1),
			},
		},
		"what cannot be read is said": {
			seen: 121, wanted: 6, passed: 1, asked: 8, failed: []types.UID{"u1", "u2", "u4", "u5"},
			answers: map[string][]http.HandlerFunc{
				pod(0): single(0), pod(1): {forbidden}, pod(2): {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
				pod(3): { // replaced, as two more answers confirm
					manifest(strings.Replace(whole(3), `"u3"`, `"new"`, 1)).ServeHTTP, clustertest.ReplyWith(200, clustertest.AsMetadata("new", "2", clustertest.Fields{"name": "p3"})),
				},
				pod(4): {manifest("?").ServeHTTP},
				pod(5): {manifest(whole(7)).ServeHTTP}, // the answer to another request
			},
		},
		"what was broken on its way is not passed on": {
			seen: 121, wanted: 2, passed: 1, asked: 2, failed: []types.UID{"u1"},
			answers: map[string][]http.HandlerFunc{
				pod(0): single(0), pod(1): {manifest(strings.Replace(whole(1), "12345", `1, "time": "20\xff6"`+", \"m\": ", 1)).ServeHTTP},
			},
		},
		"a list that fails fails those it did not show yet": {
			seen: 10, wanted: 10, passed: 7, asked: 2, failed: []types.UID{"u7", "u8", "u9"},
			answers: map[string][]http.HandlerFunc{pods: {page("more", bodies(0, 7)...), forbidden}},
		},
		"of a list that expires, the rest is asked for one by one": {
			seen: 10, wanted: 10, passed: 10, asked: 5,
			answers: map[string][]http.HandlerFunc{
				pods:   {page("more", bodies(0, 7)...), clustertest.ReplyWith(410, clustertest.Status(410, "Expired", "too old", nil))},
				pod(7): single(7), pod(8): single(8), pod(9): single(9),
			},
		},
		"of a list without an end, the rest is asked for one by one": {
			seen: 10, wanted: 10, passed: 10, asked: 5,
			answers: map[string][]http.HandlerFunc{pods: {page("more", bodies(0, 7)...)}, pod(7): single(7), pod(8): single(8), pod(9): single(9)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, seen, s := clustertest.ServeScript(t, test.answers)
			seen.Part = test.part
			if test.noGet {
				seen.Types[0].Verbs = []string{"delete", "list", "watch"}
			}
			for i := range test.seen {
				seen.Objects = append(seen.Objects, &object.Object{Identity: object.Identity{
					APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: fmt.Sprintf("p%d", i), UID: types.UID(fmt.Sprintf("u%d", i)),
				}})
			}
			var wanted []object.Identity
			for _, o := range seen.Objects[:test.wanted] {
				wanted = append(wanted, o.Identity)
			}
			passed := map[types.UID]string{}
			saved, failed, err := Manifests(t.Context(), c, seen, wanted, func(o object.Object, raw json.RawMessage) error {
				if o.ResourceVersion != "2" || o.Kind != "Pod" || o.APIVersion != "v1" {
					t.Errorf("got %+v", o)
				}
				passed[o.UID] += string(raw)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for uid, raw := range passed {
				var i int
				fmt.Sscanf(string(uid), "u%d", &i)
				want := `{"apiVersion":"v1","kind":"Pod",` + body(i)[1:]
				if diff := cmp.Diff(want, raw); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			for _, uid := range test.failed {
				var f *client.RequestError
				if !errors.As(failed[uid], &f) {
					t.Errorf("%s: %v", uid, failed[uid])
				}
			}
			if len(failed) != len(test.failed) || len(passed) != test.passed || len(saved) != test.passed || len(s.Requests()) != test.asked {
				t.Errorf("failed %v, passed %d, want %d, asked %d, want %d", failed, len(passed), test.passed, len(s.Requests()), test.asked)
			}
		})
	}
}
