package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// refuses fails the test unless err is an *AnswerError.
func refuses(t *testing.T, err error) {
	t.Helper()
	var answer *AnswerError
	if !errors.As(err, &answer) || answer.Problem == "" {
		t.Errorf("got %v, want an *AnswerError", err)
	}
}

func TestVerifyResponse(t *testing.T) {
	const json, protobuf = "application/json", "application/vnd.kubernetes.protobuf"
	forbidden := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`
	for name, test := range map[string]struct {
		method, contentType string
		code                int
		body                string
		want                bool
	}{
		"a GET with 200 in JSON":                         {http.MethodGet, json, 200, "{}", true},
		"a GET with 200 in protobuf":                     {http.MethodGet, protobuf, 200, "k8s\x00", true},
		"a GET with 200 in a stream of JSON":             {http.MethodGet, json + ";stream=watch", 200, "", true},
		"a GET with 200 in HTML":                         {http.MethodGet, "text/html; charset=utf-8", 200, "<html>", false},
		"a GET with 200 in plain text":                   {http.MethodGet, "text/plain", 200, "{}", false},
		"a GET with 200 without a content type":          {http.MethodGet, "", 200, "{}", false},
		"a GET with 201":                                 {http.MethodGet, json, 201, "{}", false},
		"a GET with 204":                                 {http.MethodGet, json, 204, "", false},
		"a GET with 206":                                 {http.MethodGet, json, 206, "{}", false},
		"a GET with 302":                                 {http.MethodGet, json, 302, "{}", false},
		"a POST with 201":                                {http.MethodPost, json, 201, "{}", true},
		"a DELETE with 202":                              {http.MethodDelete, json, 202, "{}", true},
		"a DELETE with 204":                              {http.MethodDelete, json, 204, "", false},
		"a refusal with the code of its Status":          {http.MethodGet, json, 403, forbidden, true},
		"a refusal with the code of another Status":      {http.MethodGet, json, 404, forbidden, false},
		"a refusal in HTML, which nobody takes for more": {http.MethodGet, "text/html", 404, "<html>", true},
		"a refusal whose JSON is no Status":              {http.MethodGet, json, 404, `{"message":"no"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := verifyResponse(&http.Response{
				StatusCode: test.code, Header: http.Header{"Content-Type": {test.contentType}},
				Body: io.NopCloser(strings.NewReader(test.body)), Request: &http.Request{Method: test.method},
			})
			if test.want && err != nil {
				t.Errorf("got %v", err)
			} else if !test.want {
				refuses(t, err)
			}
		})
	}
}

func TestReadPage(t *testing.T) {
	const meta = `"metadata":{"resourceVersion":"9"}`
	for name, test := range map[string]struct {
		body     string
		metadata bool // was requested
		want     bool
	}{
		"metadata with items":                         {`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` + meta + `,"items":[]}`, true, true},
		"metadata whose items are null: no objects":   {`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` + meta + `,"items":null}`, true, true},
		"whole objects of a server without metadata":  {`{"kind":"PodList","apiVersion":"v1",` + meta + `,"items":[]}`, true, true},
		"metadata where whole objects were asked for": {`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` + meta + `,"items":[]}`, false, false},
		"metadata without the field items":            {`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` + meta + `}`, true, false},
		"the field Items, which is another one":       {`{"kind":"PodList","apiVersion":"v1",` + meta + `,"Items":[]}`, true, false},
		"a list of another kind":                      {`{"kind":"SecretList","apiVersion":"v1",` + meta + `,"items":[]}`, true, false},
		"a list of the kind in another group":         {`{"kind":"PodList","apiVersion":"metrics.k8s.io/v1",` + meta + `,"items":[]}`, true, false},
		"a single object":                             {`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"items":[]}`, true, false},
		"a Table":                                     {`{"kind":"Table","apiVersion":"meta.k8s.io/v1",` + meta + `,"rows":[],"items":[]}`, true, false},
		"a Status":                                    {`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"items":[]}`, true, false},
		"an error of a gateway":                       {`{"kind":"Error","items":[]}`, true, false},
		"an object without a kind":                    {`{"items":[]}`, true, false},
		"an empty object":                             {`{}`, true, false},
		"protobuf of another kind":                    {"k8s\x00\x0a\x0c\x0a\x02v1\x12\x06Secret", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			items, page, err := ReadPage([]byte(test.body), Query{Type: podType}, test.metadata)
			if test.want && (err != nil || len(items) > 0 || page.ResourceVersion != "9") {
				t.Errorf("got %s, %+v, %v", items, page, err)
			} else if !test.want {
				refuses(t, err)
			}
		})
	}
	for name, body := range map[string]string{
		"items that are an object": `{"kind":"PodList","apiVersion":"v1",` + meta + `,"items":{"a":{}}}`,
		"items that are a text":    `{"kind":"PodList","apiVersion":"v1",` + meta + `,"items":"none"}`,
		"items that are a number":  `{"kind":"PodList","apiVersion":"v1",` + meta + `,"items":0}`,
		"a list that is no object": `[]`,
		"a text":                   `"PodList"`,
		"JSON that is cut off":     `{"kind":"PodList","apiVersion":"v1",`,
	} {
		if items, _, err := ReadPage([]byte(body), Query{Type: podType}, true); err == nil {
			t.Errorf("%s: it is read as %s", name, items)
		}
	}
}

func TestReadItem(t *testing.T) {
	node := snapshot.Type{Version: "v1", Resource: "nodes", Kind: "Node"}
	item := func(kind, namespace, name, uid, version string) string {
		return fmt.Sprintf(`{"kind":%q,"apiVersion":"v1","metadata":{"namespace":%q,"name":%q,"uid":%q,"resourceVersion":%q}}`, kind, namespace, name, uid, version)
	}
	for name, test := range map[string]struct {
		of   Query
		body string
		want bool
	}{
		"an object of the type":                {Query{Type: podType}, item("Pod", "ns", "a", "u", "1"), true},
		"one that does not say what it is":     {Query{Type: podType}, `{"metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"1"}}`, true},
		"one of the namespace":                 {Query{Type: podType, Namespace: "ns"}, item("Pod", "ns", "a", "u", "1"), true},
		"a cluster-scoped one":                 {Query{Type: node}, item("Node", "", "a", "u", "1"), true},
		"one of another type":                  {Query{Type: podType}, item("Secret", "ns", "a", "u", "1"), false},
		"one of another namespace":             {Query{Type: podType, Namespace: "ns"}, item("Pod", "other", "a", "u", "1"), false},
		"one of another name":                  {Query{Type: podType, Namespace: "ns", Name: "a"}, item("Pod", "ns", "b", "u", "1"), false},
		"a namespaced one without a namespace": {Query{Type: podType}, item("Pod", "", "a", "u", "1"), false},
		"a cluster-scoped one in a namespace":  {Query{Type: node}, item("Node", "ns", "a", "u", "1"), false},
		"one without a name":                   {Query{Type: podType}, item("Pod", "ns", "", "u", "1"), false},
		"one without a UID":                    {Query{Type: podType}, item("Pod", "ns", "a", "", "1"), false},
		"one without a resourceVersion":        {Query{Type: podType}, item("Pod", "ns", "a", "u", ""), false},
		"null":                                 {Query{Type: podType}, `null`, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadItem([]byte(test.body), test.of, true)
			if test.want && (err != nil || got.Name != "a" || got.UID != "u") {
				t.Errorf("got %+v, %v", got, err)
			} else if !test.want {
				refuses(t, err)
			}
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it goes elsewhere, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL, BearerToken: "secret"}, Config{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.List(t.Context(), Query{Type: podType}, false).Err; err == nil {
		t.Error("a redirect is an answer")
	}
}

// A user may give an RBAC object such a name, and the list is read all the same.
func TestNamesMayHoldAnyText(t *testing.T) {
	body := func(name string) []byte {
		return []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"namespace":"ns","name":"` + name + `","uid":"u","resourceVersion":"1"}}]}`)
	}
	q := Query{Type: podType}
	for _, name := range []string{"\uFFFD", "a:b", "\u202e", "a b"} {
		items, _, err := ReadPage(body(name), q, true)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if got, err := ReadItem(items[0], q, true); err != nil || got.Name != name {
			t.Errorf("%q: got %+v, %v", name, got, err)
		}
	}
	if err := VerifyObject(q, "ns", "\xff", "u", "1"); err != nil { // of protobuf, which has the bytes that the server stores
		t.Error(err)
	}
}
