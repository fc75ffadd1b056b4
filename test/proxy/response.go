package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const contentJSON = "application/json"

// response is a response to a request.
type response struct {
	code        int
	contentType string
	body        []byte
	doc         map[string]any   // the body, if it is a JSON object
	stream      http.HandlerFunc // if set, writes the whole response
}

func (s *response) send(w http.ResponseWriter, r *http.Request) {
	if s.stream != nil {
		s.stream(w, r)
		return
	}
	if s.contentType != "" {
		w.Header().Set("Content-Type", s.contentType)
	}
	w.WriteHeader(s.code)
	_, _ = w.Write(s.body) // fails if the client has disconnected
}

func (s *response) ok() bool { return s.code >= 200 && s.code < 300 }

func text(code int, contentType, body string) *response {
	return &response{code: code, contentType: contentType, body: []byte(body)}
}

// fetchJSON returns the server's response to a request, in JSON, with exact numbers.
func fetchJSON(through http.Handler, r *http.Request) *response {
	r = r.Clone(r.Context())
	withoutProtobuf(r)
	r.Header.Del("Accept-Encoding")
	recorder := httptest.NewRecorder()
	through.ServeHTTP(recorder, r)
	out := &response{code: recorder.Code, contentType: recorder.Header().Get("Content-Type"), body: recorder.Body.Bytes()}
	out.doc = document(out.body)
	return out
}

func document(body []byte) (doc map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&doc) != nil {
		return nil
	}
	return doc
}

func acceptsProtobuf(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "protobuf")
}

// withoutProtobuf removes protobuf from the accepted media types.
func withoutProtobuf(r *http.Request) {
	without(r, func(media string) bool { return strings.Contains(media, "protobuf") })
}

// withoutAggregated removes aggregated discovery from the accepted media types, as for a
// server before 1.30.
func withoutAggregated(r *http.Request) {
	without(r, func(media string) bool { return strings.Contains(media, "as=APIGroupDiscoveryList") })
}

func without(r *http.Request, unwanted func(media string) bool) {
	var left []string
	for media := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if !unwanted(media) {
			left = append(left, media)
		}
	}
	if left == nil {
		left = []string{contentJSON}
	}
	r.Header.Set("Accept", strings.Join(left, ","))
}

// protobufHead is the prefix of Kubernetes' protobuf encoding.
const protobufHead = "k8s\x00"

// message is a type with a protobuf encoding in Kubernetes.
type message interface{ Marshal() ([]byte, error) }

// inProtobuf returns the document in protobuf, and reports whether that encoding can express it.
func inProtobuf(doc map[string]any) ([]byte, bool) {
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	var into message
	switch {
	case kind == "Status":
		into = &metav1.Status{}
	case kind == "APIResourceList":
		into = &metav1.APIResourceList{}
	case kind == "APIGroupDiscoveryList":
		into = &apidiscovery.APIGroupDiscoveryList{}
	case strings.HasSuffix(kind, "List"): // the first field of every item is its metadata
		into = &metav1.PartialObjectMetadataList{}
	case doc["metadata"] != nil && kind != "Table":
		into = &metav1.PartialObjectMetadata{}
	default:
		return nil, false
	}
	text, err := json.Marshal(doc)
	if err != nil || json.Unmarshal(text, into) != nil {
		return nil, false
	}
	raw, err := into.Marshal()
	if err != nil {
		return nil, false
	}
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	out, err := envelope.Marshal()
	return append([]byte(protobufHead), out...), err == nil
}

// Accessors for parts of documents. For other kinds of documents they return zero values.

func itemsOf(doc map[string]any) []any {
	items, _ := doc["items"].([]any)
	return items
}

func metaOf(doc any) map[string]any {
	object, _ := doc.(map[string]any)
	meta, _ := object["metadata"].(map[string]any)
	return meta
}

func textOf(meta map[string]any, field string) string {
	value, _ := meta[field].(string)
	return value
}

// deepCopy returns a copy of a document, which may be changed.
func deepCopy(doc map[string]any) map[string]any {
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err) // cannot fail for a document decoded from JSON
	}
	return document(text)
}
