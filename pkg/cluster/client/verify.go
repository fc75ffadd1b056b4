package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	return "the server's answer does not match the request: " + e.Problem
}

func NewAnswerError(format string, a ...any) error { return &AnswerError{fmt.Sprintf(format, a...)} }

// AcceptLog is the Accept header of a request for the log of a Pod, as kubectl sends it: the API server refuses text/plain alone.
const AcceptLog = "application/json, */*"

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
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isLog := kind == "text/plain" && r.Request.Header.Get("Accept") == AcceptLog
	if !isLog && kind != runtime.ContentTypeJSON && kind != runtime.ContentTypeProtobuf {
		return NewAnswerError("its content type is %q", kind)
	}
	return nil
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
	status := readStatus(body)
	switch {
	case status != nil && status.Code != 0 && int(status.Code) != r.StatusCode:
		return NewAnswerError("its status is %d, and its text says %d", r.StatusCode, status.Code)
	case status != nil && strings.Contains(status.Message, notInCache):
		r.Header.Del("Retry-After") // List knows a quicker way
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

// DescribeKind returns the kind of an answer for an error, as a noun.
func DescribeKind(of metav1.TypeMeta) string {
	if of.Kind == "" {
		return "no kind"
	}
	return fmt.Sprintf("kind %q of %q", of.Kind, of.APIVersion)
}

// MetadataVersions are the API versions in which servers send metadata.
var MetadataVersions = []string{"meta.k8s.io/v1", "meta.k8s.io/v1beta1"}

// VerifyKind returns an error unless an answer about t has the right kind: metadata, if that was
// requested, or the type's own kind, which servers send that cannot send metadata alone
// (docs/gc-semantics.md#metadata-and-kinds). suffix is "List" for a list and empty for an object.
func VerifyKind(got metav1.TypeMeta, t snapshot.Type, suffix string, metadata bool) error {
	switch {
	case metadata && got.Kind == "PartialObjectMetadata"+suffix && slices.Contains(MetadataVersions, got.APIVersion):
		return nil
	case got.Kind == t.Kind+suffix && got.APIVersion == t.APIVersion():
		return nil
	}
	return NewAnswerError("it is of %s, not of kind %q of %q", DescribeKind(got), t.Kind+suffix, t.APIVersion())
}

var ErrNoMetadata error = &AnswerError{"it holds no object metadata"}

// VerifyObject returns an error unless the metadata is that of an object which the query asks for.
func VerifyObject(q Query, namespace, name, uid, resourceVersion string) error {
	switch {
	case name == "" || uid == "":
		return ErrNoMetadata
	case resourceVersion == "" && !q.DryRun:
		return NewAnswerError("%q has no resourceVersion", name)
	case q.Type.Namespaced && namespace == "", !q.Type.Namespaced && namespace != "":
		return NewAnswerError("%q is in namespace %q, which cannot be of %s", name, namespace, q.Type)
	case q.Namespace != "" && q.Type.Namespaced && namespace != q.Namespace:
		return NewAnswerError("%q is in namespace %q", name, namespace)
	case q.Name != "" && name != q.Name:
		return NewAnswerError("it is of another object, %q", name)
	}
	return nil
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
		err = VerifyKind(metav1.TypeMeta{APIVersion: unknown.APIVersion, Kind: unknown.Kind}, q.Type, "", metadata)
		if err == nil {
			err = out.Unmarshal(unknown.Raw)
		}
	} else if err = strict.Unmarshal(raw, out); err == nil {
		err = VerifyKind(out.TypeMeta, q.Type, "", metadata)
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
	metav1.TypeMeta
	Metadata metav1.ListMeta `json:"metadata"`
	Items    json.RawMessage `json:"items"` // null in an empty list, nil if the field is missing
}

// ReadPage decodes a JSON list of metadata or whole objects.
func ReadPage(raw []byte, q Query, metadata bool) ([]json.RawMessage, metav1.ListMeta, error) {
	if bytes.HasPrefix(raw, []byte(ProtobufPrefix)) {
		var unknown runtime.Unknown
		_ = unknown.Unmarshal(raw[len(ProtobufPrefix):]) // undecodable data has no kind
		return nil, metav1.ListMeta{}, NewAnswerError("it is of %s", DescribeKind(metav1.TypeMeta{APIVersion: unknown.APIVersion, Kind: unknown.Kind}))
	}
	var p jsonList
	if err := strict.Unmarshal(raw, &p); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode a list of %s: %w", q.Type, err)
	}
	if err := VerifyKind(p.TypeMeta, q.Type, "List", metadata); err != nil {
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
		if err := VerifyKind(out.TypeMeta, q.Type, "", metadata); err != nil {
			return nil, err
		}
	}
	return out, VerifyObject(q, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
}

// ErrEndlessPages reports pages that lead to no last one, or to more objects than any cluster holds.
var ErrEndlessPages error = &AnswerError{"its pages have no end"}

// Pages tracks how far a list was read. The zero value is before the first page.
type Pages struct {
	Continue string // token of the next page; empty: the first
	read     int    // objects so far
	total    int    // with those that the last page announced
}

// Next advances past a page of so many objects and reports whether there is another one.
func (p *Pages) Next(meta metav1.ListMeta, objects int) (more bool, err error) {
	p.read += objects
	p.total = p.read + int(announced(meta))
	more = meta.Continue != ""
	switch {
	case meta.ResourceVersion == "":
		err = NewAnswerError("the list has no resourceVersion")
	case !more && p.total > p.read:
		err = NewAnswerError("its last page says that more objects remain")
	case more && (objects == 0 || meta.Continue == p.Continue), p.read > maxObjects:
		err = ErrEndlessPages
	}
	p.Continue = meta.Continue
	return more && err == nil, err
}

// NotAfter reports whether the object's resourceVersion is known to be no newer than the list's.
func NotAfter(object, list string) bool {
	of, err := strconv.ParseUint(object, 10, 64)
	made, none := strconv.ParseUint(list, 10, 64)
	return err == nil && none == nil && of <= made
}
