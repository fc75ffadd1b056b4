package write

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// stage starts a scripted server and returns a Writer for it. Pods were listed.
func stage(t *testing.T, dryRun bool, answers map[string][]http.HandlerFunc) (*Writer, clustertest.Server) {
	t.Helper()
	c, seen, s := clustertest.ServeScript(t, answers)
	before := writeBackoff.Duration
	writeBackoff.Duration = time.Millisecond
	t.Cleanup(func() { writeBackoff.Duration = before })
	return New(c, seen, dryRun), s
}

const onePod = "/api/v1/namespaces/ns/pods/x"

func podX() *object.Object {
	return &object.Object{
		Identity:        object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "x", UID: "uid-x"},
		ResourceVersion: "7",
		Owners:          []object.Reference{{APIVersion: "v1", Kind: "Secret", Name: "a", UID: "1"}, {APIVersion: "v1", Kind: "Secret", Name: "b<", UID: "1"}},
		Finalizers:      []string{"other", "orphan"},
	}
}

func TestFailedWriteReason(t *testing.T) {
	const delete, patch, get = "DELETE " + onePod, "PATCH " + onePod, "GET " + onePod
	success := clustertest.ReplyWith(200, clustertest.Fields{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	throttled := clustertest.ReplyWith(429, clustertest.Status(429, "TooManyRequests", "slow down", nil), "Retry-After", "0")
	conflict := clustertest.ReplyWith(409, clustertest.Status(409, "Conflict", "the object has been modified", nil))
	asItWas := clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "7", nil))
	for name, test := range map[string]struct {
		verb    string
		answers []http.HandlerFunc
		read    []http.HandlerFunc
		want    snapshot.ErrorClass // empty: no error
		tries   int
	}{
		"done at once":                         {verb: delete, answers: []http.HandlerFunc{success}, tries: 1},
		"429 with a Retry-After":               {verb: delete, answers: []http.HandlerFunc{throttled, throttled, success}, tries: 3},
		"429 with a Retry-After, patch":        {verb: patch, answers: []http.HandlerFunc{throttled, clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil))}, tries: 2},
		"429 in plain text":                    {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(429, "too many"), success}, tries: 2},
		"429 for ever":                         {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(429, "too many")}, read: []http.HandlerFunc{asItWas}, want: snapshot.Throttled, tries: 5},
		"500, then done":                       {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(500, clustertest.Status(500, "InternalError", "oh", nil)), success}, tries: 2},
		"500 for ever":                         {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(500, clustertest.Status(500, "InternalError", "oh", nil))}, want: snapshot.ServerError, tries: 5},
		"503 for ever":                         {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(503, "down")}, read: []http.HandlerFunc{asItWas}, want: snapshot.Unavailable, tries: 5},
		"504 for ever":                         {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(504, clustertest.Status(504, "Timeout", "late", nil))}, read: []http.HandlerFunc{asItWas}, want: snapshot.TimedOut, tries: 5},
		"a broken connection, then done":       {verb: delete, answers: []http.HandlerFunc{clustertest.Breaks, success}, tries: 2},
		"a broken connection, patch":           {verb: patch, answers: []http.HandlerFunc{clustertest.Breaks, clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil))}, tries: 2},
		"the answer of a delete was lost":      {verb: delete, answers: []http.HandlerFunc{clustertest.Breaks, clustertest.NotFound()}, want: snapshot.Gone, tries: 2},
		"the answer of a patch was lost":       {verb: patch, answers: []http.HandlerFunc{clustertest.Breaks, conflict}, want: snapshot.Conflict, tries: 2},
		"conflict":                             {verb: delete, answers: []http.HandlerFunc{conflict}, want: snapshot.Conflict, tries: 1},
		"401":                                  {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(401, clustertest.Status(401, "Unauthorized", "no", nil))}, want: snapshot.Forbidden, tries: 1},
		"403":                                  {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "no", nil))}, want: snapshot.Forbidden, tries: 1},
		"400":                                  {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(400, clustertest.Status(400, "BadRequest", "no", nil))}, want: snapshot.Refused, tries: 1},
		"405":                                  {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(405, clustertest.Status(405, "MethodNotAllowed", "no", nil))}, want: snapshot.Refused, tries: 1},
		"415":                                  {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(415, "no")}, want: snapshot.Refused, tries: 1},
		"422 on deletion":                      {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "no", nil))}, want: snapshot.Invalid, tries: 1},
		"404 that names it":                    {verb: patch, answers: []http.HandlerFunc{clustertest.NotFound()}, want: snapshot.Gone, tries: 1},
		"404 of a path":                        {verb: delete, answers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }}, want: snapshot.Unverified, tries: 1},
		"404 that names another":               {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "", clustertest.Fields{"name": "y", "kind": "pods"}))}, want: snapshot.Unverified, tries: 1},
		"404 that names nothing":               {verb: delete, answers: []http.HandlerFunc{clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "", nil))}, want: snapshot.Unverified, tries: 1},
		"422 of an object that is gone":        {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{clustertest.NotFound()}, want: snapshot.Gone, tries: 1},
		"422 of a replaced object":             {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{clustertest.ReplyWith(200, clustertest.AsMetadata("uid-y", "7", nil))}, want: snapshot.Gone, tries: 1},
		"422 of a changed object":              {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil))}, want: snapshot.Conflict, tries: 1},
		"422 of the same object":               {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{asItWas}, want: snapshot.Invalid, tries: 1},
		"422 of an object that cannot be read": {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{clustertest.ReplyWith(403, "no")}, want: snapshot.Invalid, tries: 1},
		"an answer that cannot be read is asked for": {verb: patch, answers: []http.HandlerFunc{clustertest.ReplyWith(200, "?")}, read: []http.HandlerFunc{clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil))}, tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, map[string][]http.HandlerFunc{test.verb: test.answers, get: test.read})
			var err error
			if test.verb == delete {
				_, err = w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground, nil)
			} else {
				_, err = w.Patch(t.Context(), podX(), object.Change{Drop: []int{0}})
			}
			var failed *client.RequestError
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v", err)
			case test.want != "" && (!errors.As(err, &failed) || failed.Class() != test.want):
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := s.Count(test.verb); got != test.tries {
				t.Errorf("asked %d times, want %d", got, test.tries)
			}
		})
	}
}

// A 404 proves nothing if the type cannot be listed.
func Test404OfUnlistableTypeIsUnverified(t *testing.T) {
	secret := &object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "x", UID: "u"}, ResourceVersion: "1"}
	gone := clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "", clustertest.Fields{"name": "x", "kind": "secrets"}))
	for name, test := range map[string]struct {
		list http.HandlerFunc
		want snapshot.ErrorClass
	}{
		"it can":   {clustertest.ReplyWith(200, clustertest.List()), snapshot.Gone},
		"it can't": {clustertest.ReplyWith(403, "no"), snapshot.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{
				"DELETE /api/v1/namespaces/ns/secrets/x": {gone}, "GET /api/v1/namespaces/ns/secrets/x": {gone}, "GET /api/v1/namespaces/ns/secrets": {test.list},
			})
			_, err := w.Delete(t.Context(), secret, metav1.DeletePropagationBackground, nil)
			var failed *client.RequestError
			if !errors.As(err, &failed) || failed.Reason != test.want {
				t.Errorf("delete: %v", err)
			}
			now, err := w.Read(t.Context(), secret.Identity)
			if now != nil || (err == nil) != (test.want == snapshot.Gone) {
				t.Errorf("read: %v, %v", now, err)
			}
		})
	}
}

func TestWriteRequests(t *testing.T) {
	for name, test := range map[string]struct {
		dryRun bool
		grace  *int64
		change *object.Change // nil: a deletion
		want   string
	}{
		"delete at once": {grace: new(int64), want: `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"uid-x","resourceVersion":"7"},"propagationPolicy":"Background"}`},
		"delete":         {want: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-x","resourceVersion":"7"},"propagationPolicy":"Background"}`},
		"delete, dryRun": {dryRun: true, want: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-x","resourceVersion":"7"},"propagationPolicy":"Background","dryRun":["All"]}`},
		"nothing":        {change: &object.Change{}, dryRun: true, want: `[{"op":"test","path":"/metadata/uid","value":"uid-x"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`},
		"all": {
			change: &object.Change{Drop: []int{0, 1}, Unblock: []int{1}, RemoveFinalizer: "orphan"},
			want: `[{"op":"test","path":"/metadata/uid","value":"uid-x"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"test","path":"/metadata/ownerReferences/0/uid","value":"1"},{"op":"test","path":"/metadata/ownerReferences/0/name","value":"a"},` +
				`{"op":"test","path":"/metadata/ownerReferences/1/uid","value":"1"},{"op":"test","path":"/metadata/ownerReferences/1/name","value":"b\u003c"},` +
				`{"op":"add","path":"/metadata/ownerReferences/1/blockOwnerDeletion","value":false},` +
				`{"op":"remove","path":"/metadata/ownerReferences/1"},{"op":"remove","path":"/metadata/ownerReferences/0"},` +
				`{"op":"test","path":"/metadata/finalizers/1","value":"orphan"},{"op":"remove","path":"/metadata/finalizers/1"}]`,
		},
		"a rewrite of the UID, and of nothing else": {
			change: &object.Change{Rewrite: []object.Rewrite{{Index: 1, Reference: object.Reference{APIVersion: "v1", Kind: "Secret", Name: "b<", UID: "2", Controller: new(bool)}}}},
			want: `[{"op":"test","path":"/metadata/uid","value":"uid-x"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"test","path":"/metadata/ownerReferences/1/uid","value":"1"},{"op":"test","path":"/metadata/ownerReferences/1/name","value":"b\u003c"},` +
				`{"op":"replace","path":"/metadata/ownerReferences/1/uid","value":"2"}]`,
		},
		"a rewrite of the version, and a drop before it": {
			change: &object.Change{Drop: []int{0}, Rewrite: []object.Rewrite{{Index: 1, Reference: object.Reference{APIVersion: "v2", Kind: "Secret", Name: "b<", UID: "1"}}}},
			want: `[{"op":"test","path":"/metadata/uid","value":"uid-x"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"test","path":"/metadata/ownerReferences/0/uid","value":"1"},{"op":"test","path":"/metadata/ownerReferences/0/name","value":"a"},` +
				`{"op":"test","path":"/metadata/ownerReferences/1/uid","value":"1"},{"op":"test","path":"/metadata/ownerReferences/1/name","value":"b\u003c"},` +
				`{"op":"test","path":"/metadata/ownerReferences/1/apiVersion","value":"v1"},{"op":"replace","path":"/metadata/ownerReferences/1/apiVersion","value":"v2"},` +
				`{"op":"remove","path":"/metadata/ownerReferences/0"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			there := func(w http.ResponseWriter, r *http.Request) {
				if got := r.URL.Query().Get("dryRun"); r.Method == "PATCH" && (got == "All") != test.dryRun {
					t.Errorf("dryRun is %q", got)
				}
				clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil))(w, r)
			}
			w, s := stage(t, test.dryRun, map[string][]http.HandlerFunc{"DELETE " + onePod: {there}, "PATCH " + onePod: {there}})
			var err error
			if test.change == nil {
				_, err = w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground, test.grace)
			} else {
				_, err = w.Patch(t.Context(), podX(), *test.change)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.Requests()[0].Body); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	w, _ := stage(t, false, nil)
	for _, c := range []object.Change{{Drop: []int{2}}, {Unblock: []int{-1}}, {Rewrite: []object.Rewrite{{Index: 2}}}, {RemoveFinalizer: "none"}} {
		if _, err := w.Patch(t.Context(), podX(), c); err == nil {
			t.Errorf("%+v does not fit and was sent", c)
		}
	}
}

func TestDeleteReadsAgainAfterUnreadableAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		read http.HandlerFunc
		gone bool
	}{
		"it is there still": {clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil)), false},
		"it is gone":        {clustertest.NotFound(), true},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{"DELETE " + onePod: {clustertest.ReplyWith(202, "soon")}, "GET " + onePod: {test.read}})
			left, err := w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground, nil)
			if err != nil || (left == nil) != test.gone {
				t.Errorf("got %v, %v", left, err)
			}
		})
	}
}

// The connection may break after the server marked the object, or after it was deleted.
func TestDeleteAfterLostAnswer(t *testing.T) {
	mark := func(more clustertest.Fields) http.HandlerFunc {
		maps.Copy(more, clustertest.Fields{"deletionTimestamp": "2026-01-02T03:04:05Z"})
		return clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", more))
	}
	var (
		conflict  = clustertest.ReplyWith(409, clustertest.Status(409, "Conflict", "the object has been modified", nil))
		forbidden = clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "no", nil))
		nowhere   = clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "no", nil))
		done      = clustertest.ReplyWith(200, clustertest.Fields{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		marked    = mark(clustertest.Fields{"deletionGracePeriodSeconds": 0})
		another   = clustertest.ReplyWith(200, clustertest.AsMetadata("uid-y", "8", nil))
	)
	for name, test := range map[string]struct {
		deletes []http.HandlerFunc
		now     http.HandlerFunc
		want    snapshot.ErrorClass // empty: gone
		sent    int
	}{
		"it is marked, and nothing keeps it":                     {[]http.HandlerFunc{clustertest.Breaks, conflict, done}, marked, "", 3},
		"it is marked, whatever the second answer says":          {[]http.HandlerFunc{clustertest.Breaks, nowhere, done}, marked, "", 3},
		"it is marked, and the request may not be repeated":      {[]http.HandlerFunc{clustertest.Breaks, forbidden, done}, marked, "", 3},
		"it is marked, and no second answer came in time":        {[]http.HandlerFunc{clustertest.Stalls, done}, marked, "", 2},
		"it is marked, and held":                                 {[]http.HandlerFunc{clustertest.Breaks, conflict, done}, mark(clustertest.Fields{"finalizers": []string{"hold"}}), snapshot.Conflict, 2},
		"it is marked, and has to stop":                          {[]http.HandlerFunc{clustertest.Breaks, conflict, done}, mark(clustertest.Fields{"deletionGracePeriodSeconds": 30}), snapshot.Conflict, 2},
		"it is as it was":                                        {[]http.HandlerFunc{clustertest.Breaks, forbidden, done}, clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "7", nil)), snapshot.Forbidden, 2},
		"somebody else changed it":                               {[]http.HandlerFunc{clustertest.Breaks, conflict, done}, clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil)), snapshot.Conflict, 2},
		"it is gone, though the second answer does not prove it": {[]http.HandlerFunc{clustertest.Breaks, nowhere, done}, another, snapshot.Gone, 2},
		"nobody can say":                                         {[]http.HandlerFunc{clustertest.Breaks, nowhere, done}, forbidden, snapshot.Unverified, 2},
		"no answer was lost, so somebody else began it":          {[]http.HandlerFunc{conflict, done}, marked, snapshot.Conflict, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, map[string][]http.HandlerFunc{"DELETE " + onePod: test.deletes, "GET " + onePod: {test.now}})
			w.client.Config.Timeout = time.Second
			o := podX()
			o.Finalizers = nil
			left, err := w.Delete(t.Context(), o, metav1.DeletePropagationBackground, nil)
			if left != nil || (err == nil) != (test.want == "") || err != nil && reasonIn(err) != test.want || s.Count("DELETE "+onePod) != test.sent {
				t.Errorf("%v, %v after %d DELETEs; want %q after %d", left, err, s.Count("DELETE "+onePod), test.want, test.sent)
			}
		})
	}
}

// A wrong UID in an answer would mean that the object was replaced and its dependents may be
// deleted.
func TestAnswerAboutOtherObjectProvesNothing(t *testing.T) {
	for name, answer := range map[string]clustertest.Fields{
		"it is of another name":      clustertest.AsMetadata("uid-y", "8", clustertest.Fields{"name": "y"}),
		"it is of another namespace": clustertest.AsMetadata("uid-y", "8", clustertest.Fields{"namespace": "other"}),
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{"GET " + onePod: {clustertest.ReplyWith(200, answer)}})
			if now, err := w.Read(t.Context(), podX().Identity); reasonIn(err) != snapshot.Unreadable {
				t.Errorf("read: %v, %v", now, err)
			}
			w, s := stage(t, false, map[string][]http.HandlerFunc{
				"DELETE " + onePod: {clustertest.ReplyWith(200, answer)}, "PATCH " + onePod: {clustertest.ReplyWith(200, answer)},
				"GET " + onePod: {clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "9", nil))},
			})
			if left, err := w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground, nil); err != nil || left == nil || left.ResourceVersion != "9" {
				t.Errorf("delete: %v, %v", left, err)
			}
			if left, err := w.Patch(t.Context(), podX(), object.Change{Drop: []int{0}}); err != nil || left == nil || left.ResourceVersion != "9" {
				t.Errorf("patch: %v, %v", left, err)
			}
			if n := s.Count("GET " + onePod); n != 2 {
				t.Errorf("it was read again %d times, want 2", n)
			}
		})
	}
}

// A server that cannot do it in one write needs two. Other conflicts stay conflicts.
func TestDeleteThatWouldEmptyFinalizers(t *testing.T) {
	conflict := clustertest.ReplyWith(409, clustertest.Status(409, "Conflict", "the resourceVersion is another", nil))
	own := podX()
	own.Finalizers = []string{"orphan"}
	for name, test := range map[string]struct {
		object *object.Object
		policy metav1.DeletionPropagation
		dryRun bool
		patch  http.HandlerFunc
		want   []string
		done   bool
	}{
		"in two steps":         {own, metav1.DeletePropagationBackground, false, clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil)), []string{"DELETE", "PATCH", "DELETE"}, true},
		"a true conflict":      {own, metav1.DeletePropagationBackground, false, conflict, []string{"DELETE", "PATCH"}, false},
		"another policy":       {own, metav1.DeletePropagationForeground, false, nil, []string{"DELETE"}, false},
		"a foreign finalizer":  {podX(), metav1.DeletePropagationBackground, false, nil, []string{"DELETE"}, false},
		"never in a dry run":   {own, metav1.DeletePropagationBackground, true, nil, []string{"DELETE"}, false},
		"it went on the patch": {own, metav1.DeletePropagationBackground, false, clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", clustertest.Fields{"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0})), []string{"DELETE", "PATCH"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, test.dryRun, map[string][]http.HandlerFunc{
				"DELETE " + onePod: {conflict, clustertest.ReplyWith(200, clustertest.Fields{"kind": "Status", "apiVersion": "v1", "status": "Success"})}, "PATCH " + onePod: {test.patch},
			})
			left, err := w.Delete(t.Context(), test.object, test.policy, nil)
			var failed *client.RequestError
			if left != nil || (err == nil) != test.done || !test.done && (!errors.As(err, &failed) || failed.Reason != snapshot.Conflict) {
				t.Errorf("got %v, %v", left, err)
			}
			var got []string
			for i, asked := range s.Requests() {
				got = append(got, asked.Method)
				if i == 2 && !strings.Contains(asked.Body, `"resourceVersion":"8"`) {
					t.Errorf("the second deletion is not bound to what the patch answered: %s", asked.Body)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInterruptedWriteIsNotRetried(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	w, s := stage(t, false, map[string][]http.HandlerFunc{"DELETE " + onePod: {func(w http.ResponseWriter, r *http.Request) {
		stop()
		clustertest.ReplyWith(503, "down")(w, r)
	}}})
	writeBackoff.Duration = time.Minute
	var failed *client.RequestError
	if _, err := w.Delete(ctx, podX(), metav1.DeletePropagationBackground, nil); !errors.As(err, &failed) || failed.Reason != snapshot.Unavailable {
		t.Errorf("got %v", err)
	}
	if got := s.Count("DELETE " + onePod); got != 1 {
		t.Errorf("asked %d times", got)
	}
}

func TestWaitForGoneEndsOnPermanentError(t *testing.T) {
	w, s := stage(t, false, map[string][]http.HandlerFunc{"GET " + onePod: {
		clustertest.ReplyWith(429, "slow"), clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", nil)), clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "no", nil)),
	}})
	var failed *client.RequestError
	if err := w.WaitForGone(t.Context(), podX().Identity); !errors.As(err, &failed) || failed.Reason != snapshot.Forbidden || failed.Error() != "wait for Pod/x in namespace ns: no" {
		t.Errorf("got %v", err)
	}
	if got := s.Count("GET " + onePod); got != 3 {
		t.Errorf("asked %d times", got)
	}
}

func TestVerifyUnknown(t *testing.T) {
	secret := func(name string) string { return "GET /api/v1/namespaces/ns/secrets/" + name }
	gone := func(name string) http.HandlerFunc {
		return clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", "", clustertest.Fields{"name": name, "kind": "secrets"}))
	}
	var refs []clustertest.Fields
	for _, name := range []string{"there", "replaced", "gone", "hidden", "broken", "path"} {
		refs = append(refs, clustertest.Fields{"apiVersion": "v1", "kind": "Secret", "name": name, "uid": "uid-" + name})
	}
	refs = append(refs, clustertest.Fields{"apiVersion": "v1", "kind": "Gapped", "name": "a", "uid": "b"}, clustertest.Fields{"apiVersion": "lost/v1", "kind": "A", "name": "a", "uid": "c"})
	owner := func(name, uid string) http.HandlerFunc {
		m := clustertest.AsMetadata(uid, "1", nil)
		m["metadata"].(clustertest.Fields)["name"] = name
		return clustertest.ReplyWith(200, m)
	}
	w, _ := stage(t, false, map[string][]http.HandlerFunc{
		"GET " + onePod:    {clustertest.ReplyWith(200, clustertest.AsMetadata("uid-x", "8", clustertest.Fields{"ownerReferences": refs}))},
		secret("there"):    {owner("there", "uid-there")},
		secret("replaced"): {owner("replaced", "another")},
		secret("gone"):     {gone("gone")},
		secret("hidden"):   {clustertest.ReplyWith(403, "no")},
		secret("broken"):   {clustertest.ReplyWith(500, "no")},
		secret("path"):     {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
	})
	seen := *w.seen
	seen.Types = append(seen.Types, snapshot.Type{Version: "v1", Resource: "gappeds", Kind: "Gapped", Namespaced: true, Preferred: true, Verbs: clustertest.Pods.Verbs})
	seen.Listed = append(seen.Listed, snapshot.Listing{Resource: "secrets"})
	seen.Gaps = []snapshot.Gap{{Resource: "gappeds", Reason: snapshot.Forbidden}, {Group: "lost", Resource: snapshot.All, Reason: snapshot.Unavailable}}
	// What the first scan found does not count.
	seen.Lookups = []snapshot.Lookup{{Coordinates: snapshot.Coordinates{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "there"}, Outcome: snapshot.Absent}}
	e, err := New(w.client, &seen, false).Verify(t.Context(), podX().Identity)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New(e)
	got := collector.Verdicts(collector.NewJudge(g).Object(g.Find("uid-x")))
	want := []collector.Verdict{
		collector.VerdictSolid, collector.VerdictDangling, collector.VerdictDangling, collector.VerdictUnknown, collector.VerdictUnknown, collector.VerdictUnknown, collector.VerdictUnknown, collector.VerdictUnknown,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
