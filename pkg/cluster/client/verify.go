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
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	strict "k8s.io/apimachinery/pkg/util/json" // tells items from Items
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// This file decides whether an answer is what was asked for. Nothing may be concluded
// from one that was not verified here: a gateway's login page is no empty list, and the
// answer to another question is no proof of absence.

// AnswerError reports that an answer is not what was asked for. Nothing follows from
// such an answer, least of all that something is absent.
type AnswerError struct{ Problem string }

func (e *AnswerError) Error() string {
	return "the server's answer is not what was asked for: " + e.Problem
}

func NewAnswerError(format string, a ...any) error { return &AnswerError{fmt.Sprintf(format, a...)} }

// ProtobufPrefix is how every answer begins that is in Kubernetes' protobuf.
const ProtobufPrefix = "k8s\x00"

// maxStatusBytes bounds how many bytes are read of the body of a failed request.
const maxStatusBytes = 1 << 20

// verifyResponse returns an error if the status or the media type of a response cannot
// be those of an answer to its request. A failure whose body is a Status must have the
// code of that Status: else a 500 could prove absence. It may replace the body by a copy.
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

// readStatus returns the Status that an answer is, nil where it is none.
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

// failedBody is the body of an answer that was refused: before its body is read there is
// no answer, and an error would be taken for one of the connection.
type failedBody struct{ err error }

func (f failedBody) Read([]byte) (int, error) { return 0, f.err }
func (f failedBody) Close() error             { return nil }

// Envelope is how an answer names its type.
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

// MetadataVersions are the types of metadata that a server sends for any resource.
var MetadataVersions = []string{"meta.k8s.io/v1", "meta.k8s.io/v1beta1"}

// VerifyKind returns an error unless an answer about t is of that kind: metadata, where
// that was asked for, or the type's own, which a server sends that knows no metadata
// (docs/gc-semantics.md#metadata-and-kinds). suffix is "List" for a list, and empty for
// a single object.
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

// VerifyObject returns an error unless metadata is that of an object which j asks for:
// one of its type's scope, in its namespace, and of its name if it has one. No server
// names an object by what is no text, for which a decoder of JSON puts U+FFFD.
func VerifyObject(j Query, namespace, name, uid, resourceVersion string) error {
	switch {
	case name == "" || uid == "":
		return ErrNoMetadata
	case resourceVersion == "" && !j.DryRun:
		return NewAnswerError("%q has no resourceVersion", name)
	case !isText(uid) || !isText(name) || !isText(namespace):
		return ErrNotText
	case j.Type.Namespaced && namespace == "", !j.Type.Namespaced && namespace != "":
		return NewAnswerError("%q is in namespace %q, which cannot be of %s", name, namespace, j.Type)
	case j.Namespace != "" && j.Type.Namespaced && namespace != j.Namespace:
		return NewAnswerError("%q is in namespace %q", name, namespace)
	case j.Name != "" && name != j.Name:
		return NewAnswerError("it is of another object, %q", name)
	}
	return nil
}

func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, utf8.RuneError)
}

// VerifySuccess returns an error unless an answer is a Status which says that the request
// was successful: what a server may send in place of an object that is gone.
func VerifySuccess(raw []byte) error {
	if status := readStatus(raw); status == nil || status.Status != metav1.StatusSuccess {
		return NewAnswerError("it is no Status of success")
	}
	return nil
}

// ReadObject returns the metadata of the single object that j names.
func ReadObject(result rest.Result, j Query) (*metav1.PartialObjectMetadata, error) {
	raw, err := result.Raw()
	if err != nil {
		if status := result.Error(); status != nil {
			err = status // with what the server said
		}
		return nil, err
	}
	out := &metav1.PartialObjectMetadata{}
	got := Envelope{}
	if bytes.HasPrefix(raw, []byte(ProtobufPrefix)) {
		var unknown runtime.Unknown
		if err := unknown.Unmarshal(raw[len(ProtobufPrefix):]); err != nil {
			return nil, err
		}
		got = Envelope{APIVersion: unknown.APIVersion, Kind: unknown.Kind}
		if err := VerifyKind(got, j.Type, "", true); err != nil {
			return nil, err
		}
		err = out.Unmarshal(unknown.Raw)
	} else if err = strict.Unmarshal(raw, out); err == nil {
		got = Envelope{APIVersion: out.APIVersion, Kind: out.Kind}
		err = VerifyKind(got, j.Type, "", true)
	}
	if err == nil {
		err = VerifyObject(j, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// jsonList is what a list in JSON says, its items unread.
type jsonList struct {
	Envelope
	Metadata metav1.ListMeta `json:"metadata"`
	Items    json.RawMessage `json:"items"` // null where there are none, nil where the field lacks
}

// ReadPage reads a list in JSON that j asks for: of metadata, or of whole objects.
func ReadPage(raw []byte, j Query, metadata bool) ([]json.RawMessage, metav1.ListMeta, error) {
	if bytes.HasPrefix(raw, []byte(ProtobufPrefix)) {
		var unknown runtime.Unknown
		_ = unknown.Unmarshal(raw[len(ProtobufPrefix):]) // what cannot be read is of no kind
		return nil, metav1.ListMeta{}, NewAnswerError("it is of %s", Envelope{APIVersion: unknown.APIVersion, Kind: unknown.Kind})
	}
	var p jsonList
	if err := strict.Unmarshal(raw, &p); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode a list of %s: %w", j.Type, err)
	}
	if err := VerifyKind(p.Envelope, j.Type, "List", metadata); err != nil {
		return nil, metav1.ListMeta{}, err
	}
	if p.Items == nil {
		return nil, metav1.ListMeta{}, NewAnswerError("the list of %s has no field items", j.Type)
	}
	var items []json.RawMessage
	if err := strict.Unmarshal(p.Items, &items); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode the items of a list of %s: %w", j.Type, err)
	}
	return items, p.Metadata, nil
}

// ReadItem reads the metadata of an item of a list in JSON. An item need not say what
// it is (docs/gc-semantics.md#metadata-and-kinds), but not that it is something else.
func ReadItem(raw json.RawMessage, j Query, metadata bool) (*metav1.PartialObjectMetadata, error) {
	out := &metav1.PartialObjectMetadata{}
	if err := strict.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decode an item of a list of %s: %w", j.Type, err)
	}
	if out.Kind != "" || out.APIVersion != "" {
		if err := VerifyKind(Envelope{APIVersion: out.APIVersion, Kind: out.Kind}, j.Type, "", metadata); err != nil {
			return nil, err
		}
	}
	return out, VerifyObject(j, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
}

// errTooManyPages reports a list that was not read to its end, since it seems to have none.
var errTooManyPages error = &AnswerError{"there are more and more pages, of more objects than any cluster holds"}

// ErrRepeatedPage reports that a page comes again which was read before.
var ErrRepeatedPage error = &AnswerError{"the same page comes again and again"}

// ErrContradictoryPages reports pages that do not belong together, or not all pages.
var ErrContradictoryPages = errors.New("its pages contradict each other")

// maxEmptyPages is how many pages of a list may hold nothing.
const maxEmptyPages = 100

// Pages is how far a list was read. The zero value is before the first page.
type Pages struct {
	Continue   string // the continue token of the page to be read; empty: the first
	read       int    // objects so far
	empty      int    // pages that held none
	version    string // of the first page: the others are of the same state
	total      int64  // of all objects, as far as the first page that says so; 0: unknown
	firstNames map[string]bool
}

// Next moves on behind a page to the one that it offers; more is false behind the last.
// first is the namespace and name of the page's first object, objects how many it holds.
// An error that is errContradicted may not come again if the list is read in one piece.
func (p *Pages) Next(meta metav1.ListMeta, first string, objects int) (more bool, err error) {
	p.read += objects
	if objects == 0 {
		p.empty++
	}
	err = p.verifyPage(meta, first, objects)
	p.Continue = meta.Continue
	return err == nil && p.Continue != "", err
}

// Resume returns the pages behind a token that continues the list in a newer state.
func (p *Pages) Resume(token string) Pages {
	return Pages{Continue: token, read: p.read, empty: p.empty}
}

// verifyPage returns an error if a page does not continue the ones before.
func (p *Pages) verifyPage(meta metav1.ListMeta, first string, objects int) error {
	remaining := int64(0)
	if meta.RemainingItemCount != nil {
		remaining = *meta.RemainingItemCount
	}
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
