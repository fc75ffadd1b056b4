package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// script is a server that gives each request the next answer of its method and
// path, the last one for ever, and remembers what it was asked.
type script struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string][]http.HandlerFunc
	asked   []string
	bodies  []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.asked = append(s.asked, key)
	s.bodies = append(s.bodies, string(body))
	answers := s.answers[key]
	if len(answers) > 1 {
		s.answers[key] = answers[1:]
	}
	s.mu.Unlock()
	if len(answers) == 0 {
		s.t.Errorf("unexpected request %s", key)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	answers[0](w, r)
}

func (s *script) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		if a == key {
			n++
		}
	}
	return n
}

func answers(code int, body any, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func status(code int, reason, message string, details fields) fields {
	s := fields{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}
	if details != nil {
		s["details"] = details
	}
	return s
}

func notFound() http.HandlerFunc {
	return answers(404, status(404, "NotFound", `pods "x" not found`, fields{"name": "x", "kind": "pods"}))
}

func breaks(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

// stalls is no answer until the client has given up.
func stalls(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // before that the end of the connection is not noticed
	<-r.Context().Done()
}

var pods = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"delete", "get", "list", "watch"}}

// stage is a server that plays a script, and a Writer to it. Pods were listed.
func stage(t *testing.T, dryRun bool, answers map[string][]http.HandlerFunc) (*Writer, *script) {
	t.Helper()
	s := &script{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, Options{Concurrency: 3, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.REST.(*rest.RESTClient).Client.CloseIdleConnections() })
	before := writeBackoff.Duration
	writeBackoff.Duration = time.Millisecond
	t.Cleanup(func() { writeBackoff.Duration = before })
	secrets := snapshot.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true, Preferred: true, Verbs: pods.Verbs}
	return NewWriter(c, &snapshot.Snapshot{
		Types: []snapshot.Type{pods, secrets}, Listed: []snapshot.Listing{{Resource: "pods"}},
	}, dryRun), s
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

func asMetadata(uid, resourceVersion string, more fields) fields {
	m := fields{"name": "x", "namespace": "ns", "uid": uid, "resourceVersion": resourceVersion}
	for k, v := range more {
		m[k] = v
	}
	return fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": m}
}

func TestWhatARefusedWriteMeans(t *testing.T) {
	const delete, patch, get = "DELETE " + onePod, "PATCH " + onePod, "GET " + onePod
	success := answers(200, fields{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	throttled := answers(429, status(429, "TooManyRequests", "slow down", nil), "Retry-After", "0")
	conflict := answers(409, status(409, "Conflict", "the object has been modified", nil))
	asItWas := answers(200, asMetadata("uid-x", "7", nil))
	for name, test := range map[string]struct {
		verb    string
		answers []http.HandlerFunc
		read    []http.HandlerFunc
		want    snapshot.ErrorClass // empty: done
		tries   int
	}{
		"done at once":                         {verb: delete, answers: []http.HandlerFunc{success}, tries: 1},
		"429 with a Retry-After":               {verb: delete, answers: []http.HandlerFunc{throttled, throttled, success}, tries: 3},
		"429 with a Retry-After, patch":        {verb: patch, answers: []http.HandlerFunc{throttled, answers(200, asMetadata("uid-x", "8", nil))}, tries: 2},
		"429 in plain text":                    {verb: delete, answers: []http.HandlerFunc{answers(429, "too many"), success}, tries: 2},
		"429 for ever":                         {verb: delete, answers: []http.HandlerFunc{answers(429, "too many")}, read: []http.HandlerFunc{asItWas}, want: snapshot.Throttled, tries: 5},
		"500, then done":                       {verb: delete, answers: []http.HandlerFunc{answers(500, status(500, "InternalError", "oh", nil)), success}, tries: 2},
		"500 for ever":                         {verb: patch, answers: []http.HandlerFunc{answers(500, status(500, "InternalError", "oh", nil))}, want: snapshot.ServerError, tries: 5},
		"503 for ever":                         {verb: delete, answers: []http.HandlerFunc{answers(503, "down")}, read: []http.HandlerFunc{asItWas}, want: snapshot.Unavailable, tries: 5},
		"504 for ever":                         {verb: delete, answers: []http.HandlerFunc{answers(504, status(504, "Timeout", "late", nil))}, read: []http.HandlerFunc{asItWas}, want: snapshot.TimedOut, tries: 5},
		"a broken connection, then done":       {verb: delete, answers: []http.HandlerFunc{breaks, success}, tries: 2},
		"a broken connection, patch":           {verb: patch, answers: []http.HandlerFunc{breaks, answers(200, asMetadata("uid-x", "8", nil))}, tries: 2},
		"the answer of a delete was lost":      {verb: delete, answers: []http.HandlerFunc{breaks, notFound()}, want: snapshot.Gone, tries: 2},
		"the answer of a patch was lost":       {verb: patch, answers: []http.HandlerFunc{breaks, conflict}, want: snapshot.Conflict, tries: 2},
		"conflict":                             {verb: delete, answers: []http.HandlerFunc{conflict}, want: snapshot.Conflict, tries: 1},
		"401":                                  {verb: delete, answers: []http.HandlerFunc{answers(401, status(401, "Unauthorized", "no", nil))}, want: snapshot.Forbidden, tries: 1},
		"403":                                  {verb: patch, answers: []http.HandlerFunc{answers(403, status(403, "Forbidden", "no", nil))}, want: snapshot.Forbidden, tries: 1},
		"400":                                  {verb: patch, answers: []http.HandlerFunc{answers(400, status(400, "BadRequest", "no", nil))}, want: snapshot.Refused, tries: 1},
		"405":                                  {verb: delete, answers: []http.HandlerFunc{answers(405, status(405, "MethodNotAllowed", "no", nil))}, want: snapshot.Refused, tries: 1},
		"415":                                  {verb: patch, answers: []http.HandlerFunc{answers(415, "no")}, want: snapshot.Refused, tries: 1},
		"422 on deletion":                      {verb: delete, answers: []http.HandlerFunc{answers(422, status(422, "Invalid", "no", nil))}, want: snapshot.Invalid, tries: 1},
		"404 that names it":                    {verb: patch, answers: []http.HandlerFunc{notFound()}, want: snapshot.Gone, tries: 1},
		"404 of a path":                        {verb: delete, answers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }}, want: snapshot.Unverified, tries: 1},
		"404 that names another":               {verb: delete, answers: []http.HandlerFunc{answers(404, status(404, "NotFound", "", fields{"name": "y", "kind": "pods"}))}, want: snapshot.Unverified, tries: 1},
		"404 that names nothing":               {verb: delete, answers: []http.HandlerFunc{answers(404, status(404, "NotFound", "", nil))}, want: snapshot.Unverified, tries: 1},
		"422 of an object that is gone":        {verb: patch, answers: []http.HandlerFunc{answers(422, status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{notFound()}, want: snapshot.Gone, tries: 1},
		"422 of a replaced object":             {verb: patch, answers: []http.HandlerFunc{answers(422, status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{answers(200, asMetadata("uid-y", "7", nil))}, want: snapshot.Gone, tries: 1},
		"422 of a changed object":              {verb: patch, answers: []http.HandlerFunc{answers(422, status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{answers(200, asMetadata("uid-x", "8", nil))}, want: snapshot.Conflict, tries: 1},
		"422 of the same object":               {verb: patch, answers: []http.HandlerFunc{answers(422, status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{asItWas}, want: snapshot.Invalid, tries: 1},
		"422 of an object that cannot be read": {verb: patch, answers: []http.HandlerFunc{answers(422, status(422, "Invalid", "no", nil))}, read: []http.HandlerFunc{answers(403, "no")}, want: snapshot.Invalid, tries: 1},
		"an answer that cannot be read is asked for": {verb: patch, answers: []http.HandlerFunc{answers(200, "?")}, read: []http.HandlerFunc{answers(200, asMetadata("uid-x", "8", nil))}, tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, map[string][]http.HandlerFunc{test.verb: test.answers, get: test.read})
			var err error
			if test.verb == delete {
				_, err = w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground)
			} else {
				_, err = w.Patch(t.Context(), podX(), object.Change{Drop: []int{0}})
			}
			var failed *RequestError
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v", err)
			case test.want != "" && (!errors.As(err, &failed) || failed.Refusal() != test.want):
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := s.count(test.verb); got != test.tries {
				t.Errorf("asked %d times, want %d", got, test.tries)
			}
		})
	}
}

// TestA404OfATypeThatCannotBeListed: a 404 of a type that no list showed proves nothing.
func TestA404OfATypeThatCannotBeListed(t *testing.T) {
	secret := &object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "x", UID: "u"}, ResourceVersion: "1"}
	gone := answers(404, status(404, "NotFound", "", fields{"name": "x", "kind": "secrets"}))
	for name, test := range map[string]struct {
		list http.HandlerFunc
		want snapshot.ErrorClass
	}{
		"it can":   {answers(200, list()), snapshot.Gone},
		"it can't": {answers(403, "no"), snapshot.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{
				"DELETE /api/v1/namespaces/ns/secrets/x": {gone}, "GET /api/v1/namespaces/ns/secrets/x": {gone}, "GET /api/v1/namespaces/ns/secrets": {test.list},
			})
			_, err := w.Delete(t.Context(), secret, metav1.DeletePropagationBackground)
			var failed *RequestError
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

func TestWhatIsSent(t *testing.T) {
	for name, test := range map[string]struct {
		dryRun bool
		change *object.Change // nil: a deletion
		want   string
	}{
		"delete":         {want: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-x","resourceVersion":"7"},"propagationPolicy":"Background"}`},
		"delete, dryRun": {dryRun: true, want: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-x","resourceVersion":"7"},"propagationPolicy":"Background","dryRun":["All"]}`},
		"nothing":        {change: &object.Change{}, dryRun: true, want: `[{"op":"test","path":"/metadata/uid","value":"uid-x"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`},
		"all": {
			change: &object.Change{Drop: []int{0, 1}, Unblock: []int{1}, Release: "orphan"},
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
				answers(200, asMetadata("uid-x", "8", nil))(w, r)
			}
			w, s := stage(t, test.dryRun, map[string][]http.HandlerFunc{"DELETE " + onePod: {there}, "PATCH " + onePod: {there}})
			var err error
			if test.change == nil {
				_, err = w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground)
			} else {
				_, err = w.Patch(t.Context(), podX(), *test.change)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.bodies[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	w, _ := stage(t, false, nil)
	for _, c := range []object.Change{{Drop: []int{2}}, {Unblock: []int{-1}}, {Rewrite: []object.Rewrite{{Index: 2}}}, {Release: "none"}} {
		if _, err := w.Patch(t.Context(), podX(), c); err == nil {
			t.Errorf("%+v does not fit and was sent", c)
		}
	}
}

func TestAFailureSaysWhatWasTried(t *testing.T) {
	at := object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "y", Name: "x"}
	for _, test := range []struct {
		failure RequestError
		want    string
		hint    bool
	}{
		{RequestError{"delete", at, snapshot.Forbidden, errors.New("no\nmore")}, "delete ConfigMap/x in namespace y: no", false},
		{RequestError{"patch", object.Identity{Kind: "Node", Name: "n"}, snapshot.Conflict, errors.New("no")}, "patch Node/n: no", false},
		{RequestError{"patch", at, snapshot.Forbidden, errors.New("cannot set an ownerRef on a resource you can't delete: , <nil>")}, "patch ConfigMap/x in namespace y: cannot set an ownerRef on a resource you can't delete: , <nil>", true},
		{RequestError{"patch", at, snapshot.Forbidden, errors.New("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>")}, "", true},
	} {
		if got := test.failure.Error(); test.want != "" && got != test.want {
			t.Errorf("got %s", got)
		}
		if got := test.failure.Hint(); (got != "") != test.hint {
			t.Errorf("hint of %v: %q", test.failure.Err, got)
		}
	}
}

func TestADeletionWithoutAReadableAnswerIsReadAgain(t *testing.T) {
	for name, test := range map[string]struct {
		read http.HandlerFunc
		gone bool
	}{
		"it is there still": {answers(200, asMetadata("uid-x", "8", nil)), false},
		"it is gone":        {notFound(), true},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{"DELETE " + onePod: {answers(202, "soon")}, "GET " + onePod: {test.read}})
			left, err := w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground)
			if err != nil || (left == nil) != test.gone {
				t.Errorf("got %v, %v", left, err)
			}
		})
	}
}

// TestADeletionWhoseAnswerWasLostIsLookedAfter: the connection may have broken off
// when the server had marked the object, and not yet removed it; or when all was done.
func TestADeletionWhoseAnswerWasLostIsLookedAfter(t *testing.T) {
	mark := func(more fields) http.HandlerFunc {
		maps.Copy(more, fields{"deletionTimestamp": "2026-01-02T03:04:05Z"})
		return answers(200, asMetadata("uid-x", "8", more))
	}
	var (
		conflict  = answers(409, status(409, "Conflict", "the object has been modified", nil))
		forbidden = answers(403, status(403, "Forbidden", "no", nil))
		nowhere   = answers(404, status(404, "NotFound", "no", nil))
		done      = answers(200, fields{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		marked    = mark(fields{"deletionGracePeriodSeconds": 0})
		another   = answers(200, asMetadata("uid-y", "8", nil))
	)
	for name, test := range map[string]struct {
		deletes []http.HandlerFunc
		now     http.HandlerFunc
		want    snapshot.ErrorClass // empty: it is gone
		sent    int
	}{
		"it is marked, and nothing keeps it":                     {[]http.HandlerFunc{breaks, conflict, done}, marked, "", 3},
		"it is marked, whatever the second answer says":          {[]http.HandlerFunc{breaks, nowhere, done}, marked, "", 3},
		"it is marked, and the request may not be repeated":      {[]http.HandlerFunc{breaks, forbidden, done}, marked, "", 3},
		"it is marked, and no second answer came in time":        {[]http.HandlerFunc{stalls, done}, marked, "", 2},
		"it is marked, and held":                                 {[]http.HandlerFunc{breaks, conflict, done}, mark(fields{"finalizers": []string{"hold"}}), snapshot.Conflict, 2},
		"it is marked, and has to stop":                          {[]http.HandlerFunc{breaks, conflict, done}, mark(fields{"deletionGracePeriodSeconds": 30}), snapshot.Conflict, 2},
		"it is as it was":                                        {[]http.HandlerFunc{breaks, forbidden, done}, answers(200, asMetadata("uid-x", "7", nil)), snapshot.Forbidden, 2},
		"somebody else changed it":                               {[]http.HandlerFunc{breaks, conflict, done}, answers(200, asMetadata("uid-x", "8", nil)), snapshot.Conflict, 2},
		"it is gone, though the second answer does not prove it": {[]http.HandlerFunc{breaks, nowhere, done}, another, snapshot.Gone, 2},
		"nobody can say":                                         {[]http.HandlerFunc{breaks, nowhere, done}, forbidden, snapshot.Unverified, 2},
		"no answer was lost, so somebody else began it":          {[]http.HandlerFunc{conflict, done}, marked, snapshot.Conflict, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, map[string][]http.HandlerFunc{"DELETE " + onePod: test.deletes, "GET " + onePod: {test.now}})
			w.client.Options.Timeout = time.Second
			o := podX()
			o.Finalizers = nil
			left, err := w.Delete(t.Context(), o, metav1.DeletePropagationBackground)
			if left != nil || (err == nil) != (test.want == "") || err != nil && reasonIn(err) != test.want || s.count("DELETE "+onePod) != test.sent {
				t.Errorf("%v, %v after %d DELETEs; want %q after %d", left, err, s.count("DELETE "+onePod), test.want, test.sent)
			}
		})
	}
}

// TestAnAnswerThatIsNotOfTheObjectProvesNothing: from the UID in it would follow
// that the object was replaced, and that what it owns may go.
func TestAnAnswerThatIsNotOfTheObjectProvesNothing(t *testing.T) {
	for name, answer := range map[string]fields{
		"it is of another name":                        asMetadata("uid-y", "8", fields{"name": "y"}),
		"it is of another namespace":                   asMetadata("uid-y", "8", fields{"namespace": "other"}),
		"its uid got broken, and is no text any more":  asMetadata("uid-\uFFFD", "8", nil),
		"its name got broken, and is no text any more": asMetadata("uid-x", "8", fields{"name": "\uFFFD"}),
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{"GET " + onePod: {answers(200, answer)}})
			if now, err := w.Read(t.Context(), podX().Identity); reasonIn(err) != snapshot.Unreadable {
				t.Errorf("read: %v, %v", now, err)
			}
			w, s := stage(t, false, map[string][]http.HandlerFunc{
				"DELETE " + onePod: {answers(200, answer)}, "PATCH " + onePod: {answers(200, answer)},
				"GET " + onePod: {answers(200, asMetadata("uid-x", "9", nil))},
			})
			if left, err := w.Delete(t.Context(), podX(), metav1.DeletePropagationBackground); err != nil || left == nil || left.ResourceVersion != "9" {
				t.Errorf("delete: %v, %v", left, err)
			}
			if left, err := w.Patch(t.Context(), podX(), object.Change{Drop: []int{0}}); err != nil || left == nil || left.ResourceVersion != "9" {
				t.Errorf("patch: %v, %v", left, err)
			}
			if n := s.count("GET " + onePod); n != 2 {
				t.Errorf("it was read again %d times, want 2", n)
			}
		})
	}
}

// TestADeletionThatWouldEmptyTheFinalizers is done in two steps where the server
// cannot do it in one, and no other conflict is taken for that.
func TestADeletionThatWouldEmptyTheFinalizers(t *testing.T) {
	conflict := answers(409, status(409, "Conflict", "the resourceVersion is another", nil))
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
		"in two steps":         {own, metav1.DeletePropagationBackground, false, answers(200, asMetadata("uid-x", "8", nil)), []string{"DELETE", "PATCH", "DELETE"}, true},
		"a true conflict":      {own, metav1.DeletePropagationBackground, false, conflict, []string{"DELETE", "PATCH"}, false},
		"another policy":       {own, metav1.DeletePropagationForeground, false, nil, []string{"DELETE"}, false},
		"a foreign finalizer":  {podX(), metav1.DeletePropagationBackground, false, nil, []string{"DELETE"}, false},
		"never in a dry run":   {own, metav1.DeletePropagationBackground, true, nil, []string{"DELETE"}, false},
		"it went on the patch": {own, metav1.DeletePropagationBackground, false, answers(200, asMetadata("uid-x", "8", fields{"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0})), []string{"DELETE", "PATCH"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, test.dryRun, map[string][]http.HandlerFunc{
				"DELETE " + onePod: {conflict, answers(200, fields{"kind": "Status", "apiVersion": "v1", "status": "Success"})}, "PATCH " + onePod: {test.patch},
			})
			left, err := w.Delete(t.Context(), test.object, test.policy)
			var failed *RequestError
			if left != nil || (err == nil) != test.done || !test.done && (!errors.As(err, &failed) || failed.Reason != snapshot.Conflict) {
				t.Errorf("got %v, %v", left, err)
			}
			var got []string
			for i, asked := range s.asked {
				verb, _, _ := strings.Cut(asked, " ")
				got = append(got, verb)
				if i == 2 && !strings.Contains(s.bodies[i], `"resourceVersion":"8"`) {
					t.Errorf("the second deletion is not bound to what the patch answered: %s", s.bodies[i])
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnInterruptedWriteIsNotSentAgain, and says what was answered to it.
func TestAnInterruptedWriteIsNotSentAgain(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	w, s := stage(t, false, map[string][]http.HandlerFunc{"DELETE " + onePod: {func(w http.ResponseWriter, r *http.Request) {
		stop()
		answers(503, "down")(w, r)
	}}})
	writeBackoff.Duration = time.Minute
	var failed *RequestError
	if _, err := w.Delete(ctx, podX(), metav1.DeletePropagationBackground); !errors.As(err, &failed) || failed.Reason != snapshot.Unavailable {
		t.Errorf("got %v", err)
	}
	if got := s.count("DELETE " + onePod); got != 1 {
		t.Errorf("asked %d times", got)
	}
}

func TestAwaitEndsWhereTheAnswerStaysTheSame(t *testing.T) {
	w, s := stage(t, false, map[string][]http.HandlerFunc{"GET " + onePod: {
		answers(429, "slow"), answers(200, asMetadata("uid-x", "8", nil)), answers(403, status(403, "Forbidden", "no", nil)),
	}})
	var failed *RequestError
	if err := w.WaitForGone(t.Context(), podX().Identity); !errors.As(err, &failed) || failed.Reason != snapshot.Forbidden || failed.Error() != "wait for Pod/x in namespace ns: no" {
		t.Errorf("got %v", err)
	}
	if got := s.count("GET " + onePod); got != 3 {
		t.Errorf("asked %d times", got)
	}
}

// TestWhatExamineDoesNotProveIsUnknown, although every type was listed.
func TestWhatExamineDoesNotProveIsUnknown(t *testing.T) {
	secret := func(name string) string { return "GET /api/v1/namespaces/ns/secrets/" + name }
	gone := func(name string) http.HandlerFunc {
		return answers(404, status(404, "NotFound", "", fields{"name": name, "kind": "secrets"}))
	}
	var refs []fields
	for _, name := range []string{"there", "replaced", "gone", "hidden", "broken", "path"} {
		refs = append(refs, fields{"apiVersion": "v1", "kind": "Secret", "name": name, "uid": "uid-" + name})
	}
	refs = append(refs, fields{"apiVersion": "v1", "kind": "Gapped", "name": "a", "uid": "b"}, fields{"apiVersion": "lost/v1", "kind": "A", "name": "a", "uid": "c"})
	owner := func(name, uid string) http.HandlerFunc {
		m := asMetadata(uid, "1", nil)
		m["metadata"].(fields)["name"] = name
		return answers(200, m)
	}
	w, _ := stage(t, false, map[string][]http.HandlerFunc{
		"GET " + onePod:    {answers(200, asMetadata("uid-x", "8", fields{"ownerReferences": refs}))},
		secret("there"):    {owner("there", "uid-there")},
		secret("replaced"): {owner("replaced", "another")},
		secret("gone"):     {gone("gone")},
		secret("hidden"):   {answers(403, "no")},
		secret("broken"):   {answers(500, "no")},
		secret("path"):     {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
	})
	seen := *w.seen
	seen.Types = append(seen.Types, snapshot.Type{Version: "v1", Resource: "gappeds", Kind: "Gapped", Namespaced: true, Preferred: true, Verbs: pods.Verbs})
	seen.Listed = append(seen.Listed, snapshot.Listing{Resource: "secrets"})
	seen.Gaps = []snapshot.Gap{{Resource: "gappeds", Reason: snapshot.Forbidden}, {Group: "lost", Resource: snapshot.All, Reason: snapshot.Unavailable}}
	// What the first look believed counts no more.
	seen.Lookups = []snapshot.Lookup{{Coordinates: snapshot.Coordinates{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "there"}, Outcome: snapshot.Absent}}
	e, err := NewWriter(w.client, &seen, false).Verify(t.Context(), podX().Identity)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New(e)
	got := collector.Verdicts(collector.NewJudge(g).Object(g.Find("uid-x")))
	want := []collector.Verdict{
		collector.Solid, collector.Dangling, collector.Dangling, collector.Unknown, collector.Unknown, collector.Unknown, collector.Unknown, collector.Unknown,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

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

// everExpired are answers that offer ever new tokens, and no page.
func everExpired(n int) (out []http.HandlerFunc) {
	for i := range n {
		s := status(410, "Expired", "too old", nil)
		s["metadata"] = fields{"continue": fmt.Sprint("token", i)}
		out = append(out, answers(410, s))
	}
	return out
}

func TestManifests(t *testing.T) {
	const pods = "GET /api/v1/pods"
	pod := func(i int) string { return fmt.Sprintf("GET /api/v1/namespaces/ns/pods/p%d", i) }
	body := func(i int) string {
		return fmt.Sprintf(`{"metadata":{"name":"p%d","namespace":"ns","uid":"u%d","resourceVersion":"2"},"Metadata":{"uid":"no"},"n": 12345678901234567890.10,"s":"<\u003c"}`, i, i)
	}
	whole := func(i int) string { return `{"apiVersion":"v1","kind":"Pod",` + body(i)[1:] }
	single := func(i int) []http.HandlerFunc { return []http.HandlerFunc{manifest(whole(i)).ServeHTTP} }
	absent := func(i int) []http.HandlerFunc {
		return []http.HandlerFunc{answers(404, status(404, "NotFound", "", fields{"name": fmt.Sprintf("p%d", i), "kind": "pods"}))}
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
	expired := func(next string) http.HandlerFunc {
		s := status(410, "Expired", "too old", nil)
		s["metadata"] = fields{"continue": next}
		return answers(410, s)
	}
	forbidden := answers(403, status(403, "Forbidden", "no", nil))
	for name, test := range map[string]struct {
		seen    int // pods in the snapshot
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
				pod(3): { // replaced, as two more answers say
					manifest(strings.Replace(whole(3), `"u3"`, `"new"`, 1)).ServeHTTP, answers(200, asMetadata("new", "2", fields{"name": "p3"})),
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
		"a list that expires goes on where the server says": {
			seen: 10, wanted: 10, passed: 10, asked: 3,
			answers: map[string][]http.HandlerFunc{pods: {page("more", bodies(0, 7)...), expired("fresh"), page("", bodies(7, 10)...)}},
		},
		"or else the rest is asked for one by one": {
			seen: 10, wanted: 10, passed: 10, asked: 5,
			answers: map[string][]http.HandlerFunc{
				pods:   {page("more", bodies(0, 7)...), expired("")},
				pod(7): single(7), pod(8): single(8), pod(9): single(9),
			},
		},
		"of a list without an end, the rest is asked for one by one": {
			seen: 10, wanted: 10, passed: 10, asked: 5,
			answers: map[string][]http.HandlerFunc{pods: {page("more", bodies(0, 7)...)}, pod(7): single(7), pod(8): single(8), pod(9): single(9)},
		},
		"of a list that expires again and again, the rest is asked for one by one": {
			seen: 10, wanted: 10, passed: 10, asked: 1 + maxExpired + 1 + 3,
			answers: map[string][]http.HandlerFunc{
				pods:   append([]http.HandlerFunc{page("more", bodies(0, 7)...)}, everExpired(maxExpired+5)...),
				pod(7): single(7), pod(8): single(8), pod(9): single(9),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := stage(t, false, test.answers)
			seen := *w.seen
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
			failed, err := Manifests(t.Context(), w.client, &seen, wanted, func(o object.Object, raw json.RawMessage) error {
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
				var f *RequestError
				if !errors.As(failed[uid], &f) {
					t.Errorf("%s: %v", uid, failed[uid])
				}
			}
			if len(failed) != len(test.failed) || len(passed) != test.passed || len(s.asked) != test.asked {
				t.Errorf("failed %v, passed %d, want %d, asked %d, want %d", failed, len(passed), test.passed, len(s.asked), test.asked)
			}
		})
	}
}

// TestPodsAreTakenForRunning where nobody can tell.
func TestPodsAreTakenForRunning(t *testing.T) {
	terminating := item("terminating")
	terminating["metadata"].(fields)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	c, f := serve(t, map[string]func(*http.Request) any{"/api/v1/pods": func(r *http.Request) any {
		if r.URL.Query().Get("fieldSelector") != "" {
			return failure{http.StatusForbidden, "Forbidden"}
		}
		return list(item("a"), terminating)
	}})
	w, err := Discover(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(t.Context(), c, w, Scope{Running: true}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Objects[0].Running || s.Objects[1].Running || len(s.Gaps) > 0 || f.asked["/api/v1/pods"] != 2 {
		t.Errorf("got %+v, gaps %v, %d lists", s.Objects, s.Gaps, f.asked["/api/v1/pods"])
	}
}
