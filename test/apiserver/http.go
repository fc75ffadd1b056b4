package apiserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Request is a request as it was received.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	Body         string
}

// Write reports whether the request changes something: it is neither an access review nor a
// dry run.
func (r Request) Write() bool {
	return r.Method != http.MethodGet && !strings.Contains(r.Path, "/authorization.k8s.io/") &&
		!r.Query.Has("dryRun") && !strings.Contains(r.Body, `"dryRun":["All"]`)
}

// lie is a false answer to some requests.
type lie struct {
	matches func(*http.Request) bool
	answer  http.HandlerFunc
}

// Lie answers matching requests with a lie, from now on. The newest one that matches counts.
func (s *Server) Lie(matches func(*http.Request) bool, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lies = append(s.lies, lie{matches, answer})
}

// StopLying ends all lies.
func (s *Server) StopLying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lies = nil
}

// Listen serves the server at a new address for the duration of a test, and returns its URL.
func (s *Server) Listen(t testing.TB) string {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	return listening.URL
}

// ServeHTTP answers with a lie if one matches, else honestly.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.URL.Query(), r.Header.Clone(), string(body)})
	lies := slices.Clone(s.lies)
	s.mu.Unlock()
	if s.JSON {
		r = WithoutProtobuf(r)
	}
	for _, l := range slices.Backward(lies) {
		if l.matches(r) {
			l.answer(w, r)
			return
		}
	}
	s.Honest(w, r)
}

// Requests returns the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ForgetRequests makes the server forget the requests so far.
func (s *Server) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// Writes returns the writes so far, in the order of arrival.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Write() })
}

// place is the type or object that a path leads to.
type place struct {
	schema.GroupVersionResource
	namespace, name string
}

// Honest answers as a real API server does.
func (s *Server) Honest(w http.ResponseWriter, r *http.Request) {
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var at place
	switch {
	case r.URL.Path == "/version":
		WriteJSON(w, http.StatusOK, map[string]any{"major": "1", "minor": "37", "gitVersion": "v1.37.2"})
		return
	case words[0] == "api" && len(words) <= 2, words[0] == "apis" && len(words) <= 3:
		s.discovery(w, r, words)
		return
	case words[0] == "api":
		at.Version, words = words[1], words[2:]
	case words[0] == "apis":
		at.Group, at.Version, words = words[1], words[2], words[3:]
	}
	if len(words) > 2 && words[0] == "namespaces" {
		at.namespace, words = words[1], words[2:]
	}
	if at.Resource = words[0]; len(words) > 1 {
		at.name = words[1]
	}
	if at.Version == "" || len(words) > 2 {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	s.answer(w, r, at)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, at place) {
	query := r.URL.Query()
	code, o, err := http.StatusOK, (*Object)(nil), error(nil)
	switch {
	case r.Method == http.MethodGet && at.name == "" && query.Has("watch"):
		s.watch(w, r, at)
		return
	case r.Method == http.MethodGet && at.name == "":
		s.page(w, r, at)
		return
	case r.Method == http.MethodGet:
		o, err = s.Get(at.GroupVersionResource, at.namespace, at.name)
	case r.Method == http.MethodPost && at.name == "":
		var fields map[string]any
		if err = decode(r, &fields); err == nil && at.GroupVersionResource == AccessReviews.GroupVersionResource {
			fields["status"] = map[string]any{"allowed": true}
			WriteJSON(w, http.StatusCreated, fields)
			return
		}
		if code = http.StatusCreated; err == nil {
			o, err = s.Create(at.GroupVersionResource, at.namespace, fields, metav1.CreateOptions{DryRun: query["dryRun"], FieldManager: query.Get("fieldManager")})
		}
	case r.Method == http.MethodPatch && at.name != "":
		var patch []byte
		patch, _ = io.ReadAll(r.Body) // ServeHTTP has read it
		patchType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		o, err = s.Patch(at.GroupVersionResource, at.namespace, at.name, types.PatchType(patchType), patch, query["dryRun"]...)
	case r.Method == http.MethodDelete:
		var options metav1.DeleteOptions
		if err = decode(r, &options); err != nil {
			break
		}
		options.DryRun = append(options.DryRun, query["dryRun"]...)
		if at.name == "" {
			err = s.deleteCollection(at, options, query)
		} else {
			o, err = s.Delete(at.GroupVersionResource, at.namespace, at.name, options)
		}
	default:
		err = methodNotAllowed()
	}
	switch {
	case err != nil:
		RespondError(w, r, err)
	case o == nil:
		WriteJSON(w, http.StatusOK, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
			Details: &metav1.StatusDetails{Name: at.name, Group: at.Group, Kind: at.Resource},
		})
	default:
		writeObject(w, r, code, at, o)
	}
}

func (s *Server) deleteCollection(at place, options metav1.DeleteOptions, query url.Values) error {
	if query.Get("labelSelector")+query.Get("fieldSelector") != "" {
		return apierrors.NewBadRequest("selectors of objects to delete are not implemented")
	}
	return s.DeleteCollection(at.GroupVersionResource, at.namespace, options)
}

func decode(r *http.Request, into any) error {
	raw, err := io.ReadAll(r.Body)
	if err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// selection is what a list or a watch is about.
type selection struct {
	of       *Type
	objects  []Object
	matches  func(*Object) bool
	revision int // of the objects
	unserved int // how often the type was no longer served, before
}

func (s *Server) selection(at place, query url.Values) (selection, error) {
	matches, err := selector(query)
	if err != nil {
		return selection{}, apierrors.NewBadRequest(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	objects, err := s.list(at.GroupVersionResource, at.namespace)
	if err == nil {
		err = s.listError(at.GroupResource(), objects, query.Has("limit"))
	}
	objects = slices.DeleteFunc(objects, func(o Object) bool { return !matches(&o) })
	of := s.types[at.GroupVersionResource]
	return selection{of, objects, matches, s.revision, s.unserved[of]}, err
}

// page answers a list. A continue token is the place of the last object before it.
func (s *Server) page(w http.ResponseWriter, r *http.Request, at place) {
	query := r.URL.Query()
	selected, err := s.selection(at, query)
	if err != nil {
		RespondError(w, r, err)
		return
	}
	page := metav1.ListMeta{ResourceVersion: strconv.Itoa(selected.revision)}
	token, _ := base64.StdEncoding.DecodeString(query.Get("continue"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	position := func(o *Object) string { return o.Namespace + "/" + o.Name }
	objects := slices.DeleteFunc(selected.objects, func(o Object) bool { return position(&o) <= string(token) })
	if left := int64(len(objects) - limit); limit > 0 && left > 0 {
		objects = objects[:limit]
		page.Continue = base64.StdEncoding.EncodeToString([]byte(position(&objects[limit-1])))
		page.RemainingItemCount = &left
	}
	writeList(w, r, at, page, selected.of.Kind, objects)
}

// selector returns the condition that the selectors of a request set. A field selector can use
// these fields.
func selector(query url.Values) (func(*Object) bool, error) {
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	return func(o *Object) bool {
		node, _, _ := unstructured.NestedString(o.Fields, "spec", "nodeName")
		phase, _, _ := unstructured.NestedString(o.Fields, "status", "phase")
		return byLabel.Matches(labels.Set(o.Labels)) && byField.Matches(fields.Set{
			"metadata.name": o.Name, "metadata.namespace": o.Namespace, "spec.nodeName": node, "status.phase": phase,
		})
	}, err
}
