package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	wantsList   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	wantsObject = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	wantsGroups = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
	wantsTable  = "application/json;as=Table;g=meta.k8s.io;v=v1"

	pods = "/api/v1/namespaces/ns/pods"
)

// wanted is a request to the test server.
type wanted struct{ method, url, accept, body string }

// requests has a request of each class and shape.
var requests = []wanted{
	{"GET", "/api", wantsGroups, ""},
	{"GET", "/apis", wantsGroups, ""},
	{"GET", pods + "?limit=2", wantsList, ""},
	{"GET", pods + "?limit=2&continue=more", wantsList, ""},
	{"GET", pods + "?limit=2", contentJSON, ""},
	{"GET", pods + "?limit=2", wantsTable, ""},
	{"GET", pods + "/a", wantsObject, ""},
	{"GET", pods + "/a", contentJSON, ""},
	{"GET", pods + "?watch=true", wantsObject, ""},
	{"DELETE", pods + "/a", wantsObject, "{}"},
	{"PATCH", pods + "/a", wantsObject, "[]"},
	{"POST", pods, wantsObject, `{"metadata":{"name":"a"}}`},
	{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", contentJSON, "{}"},
}

func (w wanted) request(t *testing.T) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), w.method, w.url, strings.NewReader(w.body))
	r.Header.Set("Accept", w.accept)
	return r
}

func metaFor(name string) map[string]any {
	return map[string]any{"name": name, "namespace": "ns", "uid": "uid-" + name, "resourceVersion": "70", "creationTimestamp": "2026-01-01T00:00:00Z"}
}

// server is a minimal API server.
func server(w http.ResponseWriter, r *http.Request) {
	q := requestDetailsOf(r)
	partial := func(name string) map[string]any {
		return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metaFor(name)}
	}
	resource := func(name, kind string) any {
		return map[string]any{"resource": name, "responseKind": map[string]any{"group": "", "version": "v1", "kind": kind}, "scope": "Namespaced", "verbs": []any{"delete", "get", "list", "patch", "watch"}}
	}
	group := func(name string, resources ...any) any {
		return map[string]any{"metadata": map[string]any{"name": name, "creationTimestamp": nil}, "versions": []any{map[string]any{"version": "v1", "resources": resources}}}
	}
	var doc any
	code := http.StatusOK
	switch {
	case q.class == list && strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata;"):
		code, doc = http.StatusNotAcceptable, map[string]any{"kind": "Status"}
	case q.path == "/api":
		doc = map[string]any{"apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList", "metadata": map[string]any{}, "items": []any{group("", resource("pods", "Pod"))}}
	case q.path == "/apis":
		doc = map[string]any{"apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList", "metadata": map[string]any{}, "items": []any{group("apps"), group("example.com", resource("widgets", "Widget"))}}
	case q.review:
		doc = map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": map[string]any{"allowed": true}}
	case q.class == watch:
		doc = map[string]any{"type": "ADDED", "object": partial("a")}
	case q.shape == table:
		doc = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": map[string]any{}, "rows": []any{}}
	case q.class == list:
		meta := map[string]any{"resourceVersion": "100"}
		items := []any{partial("a"), partial("b")}
		switch {
		case r.URL.Query().Get("resourceVersion") == "50":
			meta["resourceVersion"], items = "50", []any{}
		case q.continued:
			items = []any{partial("c")}
		case r.URL.Query().Get("limit") == "2":
			meta["continue"], meta["remainingItemCount"] = "more", 1
		}
		doc = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": meta, "items": items}
		if q.shape == whole {
			for _, item := range items {
				item.(map[string]any)["spec"] = map[string]any{}
			}
			doc.(map[string]any)["kind"] = "PodList"
		}
	default:
		if r.Method == http.MethodPost {
			code = http.StatusCreated
		}
		doc = partial("a")
		if q.shape == whole {
			doc.(map[string]any)["kind"] = "Pod"
		}
	}
	w.Header().Set("Content-Type", contentJSON)
	w.WriteHeader(code)
	_, _ = w.Write(append(encoded(doc), '\n'))
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		_, _ = io.WriteString(w, `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n")
	}
}

// liar returns a Liar that always tells one kind of lie.
func liar(kind Kind, binary bool) *Liar {
	var recorder Recorder
	recording := recorder.Wrap(http.HandlerFunc(server))
	for _, w := range requests {
		recording.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(w.method, w.url, strings.NewReader(w.body)))
	}
	l := NewLiar(1, Facts{
		Objects:     []Object{{"uid-a", "", "pods"}, {"uid-b", "", "pods"}, {"uid-w", "example.com", "widgets"}, {"uid-x", "", "pods"}, {"uid-y", "", "pods"}},
		Owners:      map[types.UID]bool{"uid-a": true},
		CustomGroup: "example.com", OldResourceVersion: "50", Requests: recorder.Requests(),
	})
	i := slices.IndexFunc(lieKinds, func(k *lie) bool { return k.kind == kind })
	l.frequency, l.kind, l.binary, l.legacy = aType, lieKinds[i], binary, false
	l.Wrap(http.HandlerFunc(server))
	return l
}

// lieTo repeats a request until the response is a lie.
func lieTo(t *testing.T, l *Liar, w wanted) *httptest.ResponseRecorder {
	t.Helper()
	for range 4 {
		q := requestDetailsOf(w.request(t))
		l.about = q.resource
		before := l.Counts()[l.kind.kind]
		recorder := httptest.NewRecorder()
		l.ServeHTTP(recorder, w.request(t))
		if l.Counts()[l.kind.kind] > before {
			return recorder
		}
	}
	return nil
}

func TestEveryKindOfLieChangesResponse(t *testing.T) {
	if n := len(lieKinds); n < 25 {
		t.Errorf("there are only %d kinds", n)
	}
	for _, k := range lieKinds {
		for _, binary := range []bool{false, true} {
			t.Run(fmt.Sprint(k.kind, "/binary=", binary), func(t *testing.T) {
				times := 0
				for _, w := range requests {
					l := liar(k.kind, binary)
					lied := lieTo(t, l, w)
					if lied == nil {
						continue
					}
					times++
					honest := httptest.NewRecorder()
					server(honest, w.request(t))
					if lied.Code == honest.Code && bytes.Equal(bytes.TrimSpace(lied.Body.Bytes()), bytes.TrimSpace(honest.Body.Bytes())) && k.kind != PatchedNot {
						t.Errorf("%s %s: the lie is the truth: %s", w.method, w.url, honest.Body)
					}
				}
				if times == 0 {
					t.Error("no request got the lie")
				}
			})
		}
	}
}

// decoded decodes a response as a client does.
func decoded(t *testing.T, answer *httptest.ResponseRecorder) runtime.Object {
	t.Helper()
	encoding := runtime.ContentTypeJSON
	if bytes.HasPrefix(answer.Body.Bytes(), []byte(protobufHead)) {
		encoding = runtime.ContentTypeProtobuf
	}
	codec, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), encoding)
	obj, _, err := codec.Serializer.Decode(answer.Body.Bytes(), nil, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, answer.Body)
	}
	return obj
}

func TestLieIsTheSameInProtobufAndJSON(t *testing.T) {
	for kind, w := range map[Kind]wanted{
		ItemOtherUID: requests[2], ItemWithoutUID: requests[2], CutShort: requests[2], LacksOwners: requests[2], ListNoVersion: requests[2],
		OtherName: requests[6], WithoutUID: requests[6], NotFoundIn200: requests[6], PatchedOther: requests[10],
	} {
		t.Run(string(kind), func(t *testing.T) {
			var said [2]string
			for i, binary := range []bool{false, true} {
				answer := lieTo(t, liar(kind, binary), w)
				if got := bytes.HasPrefix(answer.Body.Bytes(), []byte(protobufHead)); got != binary {
					t.Fatalf("in protobuf: %t", got)
				}
				obj := decoded(t, answer)
				for _, item := range append(listed(obj), obj) {
					item.GetObjectKind().SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("")) // only JSON has kind and apiVersion in each item
				}
				text, err := json.Marshal(obj)
				if err != nil {
					t.Fatal(err)
				}
				said[i] = string(text)
			}
			if said[0] != said[1] {
				t.Errorf("in JSON:     %s\nin protobuf: %s", said[0], said[1])
			}
		})
	}
}

func listed(obj runtime.Object) (out []runtime.Object) {
	if list, ok := obj.(*metav1.PartialObjectMetadataList); ok {
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
	}
	return out
}

func TestKindsOfLies(t *testing.T) {
	names := func(answer *httptest.ResponseRecorder) (out []string) {
		for _, item := range itemsOf(document(answer.Body.Bytes())) {
			out = append(out, textOf(metaOf(item), "name"))
		}
		return out
	}
	t.Run("a list lacks the owners and nothing else", func(t *testing.T) {
		if got := names(lieTo(t, liar(LacksOwners, false), requests[2])); !slices.Equal(got, []string{"b"}) {
			t.Error(got)
		}
	})
	t.Run("an older list comes after a newer one", func(t *testing.T) {
		l := liar(OlderList, false)
		l.about = "pods"
		first := httptest.NewRecorder()
		l.ServeHTTP(first, requests[2].request(t))
		second := lieTo(t, l, requests[2])
		if got := names(first); len(got) != 2 {
			t.Errorf("first %s", got)
		}
		if got := textOf(metaOf(document(second.Body.Bytes())), "resourceVersion"); got != "50" {
			t.Errorf("then the list of %s", got)
		}
	})
	t.Run("a type disappears that was discovered before", func(t *testing.T) {
		l := liar(LostType, false)
		first := httptest.NewRecorder()
		l.ServeHTTP(first, requests[1].request(t))
		found := false
		for range 20 {
			second := httptest.NewRecorder()
			l.ServeHTTP(second, requests[1].request(t))
			found = found || strings.Contains(first.Body.String(), "widgets") && !strings.Contains(second.Body.String(), "widgets")
		}
		if !found {
			t.Error("it is always there")
		}
	})
	for kind, uids := range map[Kind]int{OtherUID: 4, StrangeUID: 6} {
		t.Run(string(kind)+": no two answers after each other agree", func(t *testing.T) {
			l := liar(kind, false)
			last, different := "", map[string]bool{}
			for range 6 {
				uid := textOf(metaOf(document(lieTo(t, l, requests[6]).Body.Bytes())), "uid")
				if uid == last || uid == "uid-a" {
					t.Errorf("%s again", uid)
				}
				last, different[uid] = uid, true
			}
			if len(different) != uids {
				t.Errorf("%d different UIDs, want %d", len(different), uids)
			}
		})
	}
	for kind, want := range map[Kind]string{SameToken: ".0 .0 .0 .0", TwoTokens: ".1 .0 .1 .0", NewTokens: ".1 .2 .3 .4", ExpiredTokens: ".1 .2 .3 .4"} {
		t.Run(string(kind), func(t *testing.T) {
			l := liar(kind, false)
			answer := lieTo(t, l, requests[2])
			var tokens []string
			for range 4 {
				token := textOf(metaOf(document(answer.Body.Bytes())), "continue")
				_, number, _ := strings.Cut(token, ".")
				tokens = append(tokens, "."+number)
				answer = httptest.NewRecorder()
				l.ServeHTTP(answer, wanted{"GET", pods + "?limit=2&continue=" + token, wantsList, ""}.request(t))
			}
			if got := strings.Join(tokens, " "); got != want {
				t.Errorf("tokens %s, want %s", got, want)
			}
		})
	}
	t.Run("a DELETE that is not executed", func(t *testing.T) {
		l := liar(DeletedNot, false)
		l.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is handed on") }))
		lieTo(t, l, requests[9])
	})
	t.Run("an object that is created twice", func(t *testing.T) {
		l := liar(CreatedOther, false)
		lieTo(t, l, requests[11])
		if got := l.CreatedTwice(); len(got) > 0 {
			t.Errorf("after one: %s", got)
		}
		lieTo(t, l, requests[11])
		if got := l.CreatedTwice(); len(got) != 1 {
			t.Errorf("after two: %s", got)
		}
	})
	t.Run("existing objects are reported as deleted before the first event of the server", func(t *testing.T) {
		answer := lieTo(t, liar(EventDeleted, false), wanted{"GET", pods + "?watch=true", wantsObject, ""})
		if lines := strings.Split(strings.TrimSpace(answer.Body.String()), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "DELETED") || !strings.Contains(lines[2], "ADDED") {
			t.Error(lines)
		}
	})
	t.Run("existing objects are reported as deleted after the initial events", func(t *testing.T) {
		answer := lieTo(t, liar(EventDeleted, false), wanted{"GET", pods + "?watch=true&sendInitialEvents=true", wantsObject, ""})
		if lines := strings.Split(strings.TrimSpace(answer.Body.String()), "\n"); len(lines) != 4 || !strings.Contains(lines[1], "BOOKMARK") || !strings.Contains(lines[2], "DELETED") {
			t.Error(lines)
		}
	})
}

func TestSingleLieInRun(t *testing.T) {
	l := liar(HTML, false)
	l.frequency, l.every = once, 1
	for range 3 {
		for _, w := range requests {
			l.ServeHTTP(httptest.NewRecorder(), w.request(t))
		}
	}
	if got := l.Counts(); got[HTML] != 1 || len(got) != 1 {
		t.Errorf("it counts %v", got)
	}
}

// Two concurrent requests: the lie fits the second one only.
func TestSingleLieIsToldToFittingRequest(t *testing.T) {
	l := liar(LacksVerbs, false)
	l.frequency, l.every = once, 1
	l.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api" {
			l.ServeHTTP(httptest.NewRecorder(), requests[1].request(t))
		}
		server(w, r)
	}))
	l.ServeHTTP(httptest.NewRecorder(), requests[0].request(t))
	if got := l.Counts()[LacksVerbs]; got != 1 {
		t.Errorf("the lie was told %d times", got)
	}
}

func TestLiarIsReproducible(t *testing.T) {
	facts := Facts{Objects: []Object{{"uid-a", "", "pods"}}, Requests: liar(HTML, false).facts.Requests}
	course := func(seed uint64) string {
		l := NewLiar(seed, facts)
		l.Wrap(http.HandlerFunc(server))
		for range 5 {
			for _, w := range requests {
				l.ServeHTTP(httptest.NewRecorder(), w.request(t))
			}
		}
		return fmt.Sprint(l, l.Counts())
	}
	different := map[string]bool{}
	for seed := range uint64(30) {
		one := course(seed)
		if again := course(seed); again != one {
			t.Errorf("seed %d: %s, and then %s", seed, one, again)
		}
		different[one] = true
	}
	if len(different) < 20 {
		t.Errorf("30 seeds are %d courses", len(different))
	}
}
