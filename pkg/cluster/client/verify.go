package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	strict "k8s.io/apimachinery/pkg/util/json" // is case-sensitive

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// This file decides whether an answer is what was asked for. Nothing may be concluded from an
// answer that was not verified here: a gateway's login page is not an empty list, and the answer
// to another request does not prove absence.

// AnswerError reports that an answer is not what was asked for. It proves nothing, in particular
// not that something is absent.
type AnswerError struct{ Problem string }

func (e *AnswerError) Error() string {
	return "the server's answer is not what was asked for: " + e.Problem
}

func NewAnswerError(format string, a ...any) error { return &AnswerError{fmt.Sprintf(format, a...)} }

// ProtobufPrefix starts every answer in Kubernetes' protobuf encoding.
const ProtobufPrefix = "k8s\x00"

// maxStatusBytes limits the body of a failed request.
const maxStatusBytes = 1 << 20

// verifyResponse returns an error if status or media type of a response do not fit its request.
// If the body of a failure is a Status, it must have the same code: otherwise a 500 could prove
// absence. verifyResponse may replace the body by a copy.
func verifyResponse(r *http.Response) error {
	if r.StatusCode >= http.StatusBadRequest {
		return verifyErrorStatus(r)
	}
	expected := []int{http.StatusOK}
	switch r.Request.Method {
	case http.MethodPost, http.MethodPatch, http.MethodPut:
		expected = []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}
	case http.MethodDelete:
		expected = []int{http.StatusOK, http.StatusAccepted}
	}
	if !slices.Contains(expected, r.StatusCode) {
		return NewAnswerError("its status is %d", r.StatusCode)
	}
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case runtime.ContentTypeJSON, runtime.ContentTypeProtobuf:
		return nil
	default:
		return NewAnswerError("its content type is %q", kind)
	}
}

func verifyErrorStatus(r *http.Response) error {
	if r.Body == nil {
		return nil
	}
	body, err := io.ReadAll(&limitedBody{ReadCloser: r.Body, what: "an answer", limit: maxStatusBytes})
	_ = r.Body.Close() // read only
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return err
	}
	if status := readStatus(body); status != nil && status.Code != 0 && int(status.Code) != r.StatusCode {
		return NewAnswerError("its status is %d, and its text says %d", r.StatusCode, status.Code)
	}
	return nil
}

// readStatus returns the Status in an answer, or nil.
func readStatus(raw []byte) *metav1.Status {
	status := &metav1.Status{}
	if bytes.HasPrefix(raw, []byte(ProtobufPrefix)) {
		var envelope runtime.Unknown
		if envelope.Unmarshal(raw[len(ProtobufPrefix):]) != nil || envelope.Kind != "Status" || status.Unmarshal(envelope.Raw) != nil {
			return nil
		}
		return status
	}
	if strict.Unmarshal(raw, status) != nil || status.Kind != "Status" {
		return nil
	}
	return status
}

// failedBody returns a verification error when it is read.
type failedBody struct{ err error }

func (f failedBody) Read([]byte) (int, error) { return 0, f.err }
func (f failedBody) Close() error             { return nil }

// Envelope holds the type of an answer.
type Envelope struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (e Envelope) String() string {
	if e.Kind == "" {
		return "no kind"
	}
	return "kind " + strconv.Quote(e.Kind) + " of " + strconv.Quote(e.APIVersion)
}

// MetadataVersions are the API versions in which servers send metadata.
var MetadataVersions = []string{"meta.k8s.io/v1", "meta.k8s.io/v1beta1"}

// VerifyKind returns an error unless an answer about t has the right kind: metadata, if that was
// requested, or the type's own kind, which servers send that cannot send metadata alone
// (docs/gc-semantics.md#metadata-and-kinds). suffix is "List" for a list and empty for an object.
func VerifyKind(got Envelope, t snapshot.Type, suffix string, metadata bool) error {
	switch {
	case metadata && got.Kind == "PartialObjectMetadata"+suffix && slices.Contains(MetadataVersions, got.APIVersion):
		return nil
	case got.Kind == t.Kind+suffix && got.APIVersion == t.APIVersion():
		return nil
	}
	return NewAnswerError("it is of %s, not of kind %q of %q", got, t.Kind+suffix, t.APIVersion())
}

var (
	ErrNoMetadata error = &AnswerError{"it holds no object metadata"}
	ErrNotText    error = &AnswerError{"it is broken: it holds what is no text"}
)

// VerifyObject returns an error unless the metadata is that of an object which the query asks
// for. A U+FFFD in a UID or namespace shows that the answer was damaged: JSON decoders put it in
// place of invalid text. Names of RBAC objects may hold anything but "/" and "%", so none says
// anything about the answer.
func VerifyObject(q Query, namespace, name, uid, resourceVersion string) error {
	switch {
	case name == "" || uid == "":
		return ErrNoMetadata
	case resourceVersion == "" && !q.DryRun:
		return NewAnswerError("%q has no resourceVersion", name)
	case !isText(uid) || !isText(namespace):
		return ErrNotText
	case q.Type.Namespaced && namespace == "", !q.Type.Namespaced && namespace != "":
		return NewAnswerError("%q is in namespace %q, which cannot be of %s", name, namespace, q.Type)
	case q.Namespace != "" && q.Type.Namespaced && namespace != q.Namespace:
		return NewAnswerError("%q is in namespace %q", name, namespace)
	case q.Name != "" && name != q.Name:
		return NewAnswerError("it is of another object, %q", name)
	}
	return nil
}

func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, utf8.RuneError)
}

// VerifySuccess returns an error unless an answer is a Status of success, which a server may send
// in place of a deleted object.
func VerifySuccess(raw []byte) error {
	if status := readStatus(raw); status == nil || status.Status != metav1.StatusSuccess {
		return NewAnswerError("it is no Status of success")
	}
	return nil
}

// ReadObject returns the metadata of the single object that the query names. metadata reports
// whether only that was requested.
func ReadObject(raw []byte, q Query, metadata bool) (out *metav1.PartialObjectMetadata, err error) {
	out = &metav1.PartialObjectMetadata{}
	if bytes.HasPrefix(raw, []byte(ProtobufPrefix)) {
		var unknown runtime.Unknown
		if err := unknown.Unmarshal(raw[len(ProtobufPrefix):]); err != nil {
			return nil, err
		}
		err = VerifyKind(Envelope{APIVersion: unknown.APIVersion, Kind: unknown.Kind}, q.Type, "", metadata)
		if err == nil {
			err = out.Unmarshal(unknown.Raw)
		}
	} else if !utf8.Valid(raw) {
		err = ErrNotText
	} else if err = strict.Unmarshal(raw, out); err == nil {
		err = VerifyKind(Envelope{APIVersion: out.APIVersion, Kind: out.Kind}, q.Type, "", metadata)
	}
	if err == nil {
		err = VerifyObject(q, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// jsonList is a list in JSON with undecoded items.
type jsonList struct {
	Envelope
	Metadata metav1.ListMeta `json:"metadata"`
	Items    json.RawMessage `json:"items"` // null in an empty list, nil if the field is missing
}

// ReadPage decodes a JSON list of metadata or whole objects.
func ReadPage(raw []byte, q Query, metadata bool) ([]json.RawMessage, metav1.ListMeta, error) {
	if bytes.HasPrefix(raw, []byte(ProtobufPrefix)) {
		var unknown runtime.Unknown
		_ = unknown.Unmarshal(raw[len(ProtobufPrefix):]) // undecodable data has no kind
		return nil, metav1.ListMeta{}, NewAnswerError("it is of %s", Envelope{APIVersion: unknown.APIVersion, Kind: unknown.Kind})
	}
	if !utf8.Valid(raw) {
		return nil, metav1.ListMeta{}, ErrNotText
	}
	var p jsonList
	if err := strict.Unmarshal(raw, &p); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode a list of %s: %w", q.Type, err)
	}
	if err := VerifyKind(p.Envelope, q.Type, "List", metadata); err != nil {
		return nil, metav1.ListMeta{}, err
	}
	if p.Items == nil {
		return nil, metav1.ListMeta{}, NewAnswerError("the list of %s has no field items", q.Type)
	}
	var items []json.RawMessage
	if err := strict.Unmarshal(p.Items, &items); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode the items of a list of %s: %w", q.Type, err)
	}
	return items, p.Metadata, nil
}

// ReadItem decodes the metadata of a list item. An item may lack its kind
// (docs/gc-semantics.md#metadata-and-kinds), but must not have another one.
func ReadItem(raw json.RawMessage, q Query, metadata bool) (*metav1.PartialObjectMetadata, error) {
	out := &metav1.PartialObjectMetadata{}
	if err := strict.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decode an item of a list of %s: %w", q.Type, err)
	}
	if out.Kind != "" || out.APIVersion != "" {
		if err := VerifyKind(Envelope{APIVersion: out.APIVersion, Kind: out.Kind}, q.Type, "", metadata); err != nil {
			return nil, err
		}
	}
	return out, VerifyObject(q, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
}

var errTooManyPages error = &AnswerError{"there are more and more pages, of more objects than any cluster holds"}

var ErrRepeatedPage error = &AnswerError{"the same page comes again and again"}

// ErrContradictoryPages reports pages that do not belong together, or a missing page.
var ErrContradictoryPages = errors.New("its pages contradict each other")

// maxEmptyPages limits how many pages of a list may be empty.
const maxEmptyPages = 100

// Pages tracks how far a list was read. The zero value is before the first page.
type Pages struct {
	Continue   string // token of the next page; empty: the first
	read       int    // objects so far
	empty      int    // pages without objects
	version    string // resourceVersion of the first page, which all must share
	total      int64  // objects in all pages, as announced; 0: unknown
	firstNames map[string]bool
}

// Next advances to the next page and reports whether there is one. first is the namespace and
// name of the page's first object. After ErrContradictoryPages, it may help to request the list
// without pages.
func (p *Pages) Next(meta metav1.ListMeta, first string, objects int) (more bool, err error) {
	p.read += objects
	if objects == 0 {
		p.empty++
	}
	err = p.verifyPage(meta, first, objects)
	p.Continue = meta.Continue
	return err == nil && p.Continue != "", err
}

// Resume returns the state after a token that continues the list at a newer state.
func (p *Pages) Resume(token string) Pages {
	return Pages{Continue: token, read: p.read, empty: p.empty}
}

// Total returns how many objects the list has as far as is known.
func (p *Pages) Total() int { return max(p.read, int(p.total)) }

// verifyPage returns an error if a page does not continue the ones before.
func (p *Pages) verifyPage(meta metav1.ListMeta, first string, objects int) error {
	remaining := announced(meta)
	if p.version == "" {
		p.version, p.firstNames = meta.ResourceVersion, map[string]bool{}
	}
	if p.total == 0 && remaining > 0 {
		p.total = int64(p.read) + remaining
	}
	switch {
	case meta.ResourceVersion == "":
		return NewAnswerError("the list has no resourceVersion")
	case meta.ResourceVersion != p.version:
		return fmt.Errorf("%w: the first is of resourceVersion %s, another of %s", ErrContradictoryPages, p.version, meta.ResourceVersion)
	case objects > 0 && p.firstNames[first], meta.Continue != "" && meta.Continue == p.Continue:
		return ErrRepeatedPage
	case meta.Continue == "" && p.total > 0 && int64(p.read) != p.total:
		return fmt.Errorf("%w: %d objects were announced, and %d came", ErrContradictoryPages, p.total, p.read)
	case meta.Continue == "" && remaining > 0:
		return fmt.Errorf("%w: the last one says that more objects remain", ErrContradictoryPages)
	case p.read > maxObjects, p.empty > maxEmptyPages:
		return errTooManyPages
	}
	if objects > 0 {
		p.firstNames[first] = true
	}
	return nil
}

// resourceVersions holds the newest resourceVersion seen for each type. Lists are requested
// without a resourceVersion, so a server must return its newest state (Kubernetes API concepts,
// "the resourceVersion parameter"). An older one comes from a server that lags behind or from a
// cache. Versions that are not numbers are not compared. It is safe for concurrent use.
type resourceVersions struct {
	mu     sync.Mutex
	newest map[schema.GroupResource]uint64
}

// newestOf returns the newest resourceVersion seen for a type, or 0.
func (s *resourceVersions) newestOf(of schema.GroupResource) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest[of]
}

// record records a resourceVersion. It returns an error if that is older than floor, the newest
// one when the request was sent.
func (s *resourceVersions) record(of schema.GroupResource, floor uint64, resourceVersion string) error {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest[of] = max(s.newest[of], version)
	if version < floor {
		return NewAnswerError("the list is of resourceVersion %d, and %d was seen before", version, floor)
	}
	return nil
}

// NotAfter reports whether the object's resourceVersion is known to be no newer than the list's.
func NotAfter(object, list string) bool {
	of, err := strconv.ParseUint(object, 10, 64)
	made, none := strconv.ParseUint(list, 10, 64)
	return err == nil && none == nil && of <= made
}

// NoteState records the resourceVersion of an object that was read or written.
func (c *Client) NoteState(t snapshot.Type, m *metav1.PartialObjectMetadata) {
	_ = c.resourceVersions.record(t.GroupResource(), 0, m.ResourceVersion) // cannot be older than 0
}
