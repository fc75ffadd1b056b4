package cluster

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

func notAsked(format string, a ...any) error { return &AnswerError{fmt.Sprintf(format, a...)} }

// protobuf is how every answer begins that is in Kubernetes' protobuf.
const protobuf = "k8s\x00"

// longestRefusal bounds how many bytes are read of the body of a failed request.
const longestRefusal = 1 << 20

// verifyResponse returns an error if the status or the media type of a response cannot
// be those of an answer to its request. A failure whose body is a Status must have the
// code of that Status: else a 500 could prove absence. It may replace the body by a copy.
func verifyResponse(r *http.Response) error {
	if r.StatusCode >= http.StatusBadRequest {
		return verifyRefusal(r)
	}
	expected := []int{http.StatusOK}
	switch r.Request.Method {
	case http.MethodPost, http.MethodPatch, http.MethodPut:
		expected = []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}
	case http.MethodDelete:
		expected = []int{http.StatusOK, http.StatusAccepted}
	}
	if !slices.Contains(expected, r.StatusCode) {
		return notAsked("its status is %d", r.StatusCode)
	}
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case runtime.ContentTypeJSON, runtime.ContentTypeProtobuf:
		return nil
	default:
		return notAsked("its content type is %q", kind)
	}
}

func verifyRefusal(r *http.Response) error {
	if r.Body == nil {
		return nil
	}
	body, err := io.ReadAll(&bounded{ReadCloser: r.Body, what: "an answer", most: longestRefusal})
	_ = r.Body.Close() // read only
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return err
	}
	if status := readStatus(body); status != nil && status.Code != 0 && int(status.Code) != r.StatusCode {
		return notAsked("its status is %d, and its text says %d", r.StatusCode, status.Code)
	}
	return nil
}

// readStatus returns the Status that an answer is, nil where it is none.
func readStatus(raw []byte) *metav1.Status {
	status := &metav1.Status{}
	if bytes.HasPrefix(raw, []byte(protobuf)) {
		var envelope runtime.Unknown
		if envelope.Unmarshal(raw[len(protobuf):]) != nil || envelope.Kind != "Status" || status.Unmarshal(envelope.Raw) != nil {
			return nil
		}
		return status
	}
	if strict.Unmarshal(raw, status) != nil || status.Kind != "Status" {
		return nil
	}
	return status
}

// failing is the body of an answer that was refused: before its body is read there is
// no answer, and an error would be taken for one of the connection.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
func (f failing) Close() error             { return nil }

// envelope is how an answer names its type.
type envelope struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (e envelope) String() string {
	if e.Kind == "" {
		return "no kind"
	}
	return "kind " + strconv.Quote(e.Kind) + " of " + strconv.Quote(e.APIVersion)
}

// metadataKinds are the types of metadata that a server sends for any resource.
var metadataKinds = []string{"meta.k8s.io/v1", "meta.k8s.io/v1beta1"}

// verifyKind returns an error unless an answer about t is of that kind: metadata, where
// that was asked for, or the type's own, which a server sends that knows no metadata
// (docs/gc-semantics.md#metadata-and-kinds). suffix is "List" for a list, and empty for
// a single object.
func verifyKind(got envelope, t snapshot.Type, suffix string, metadata bool) error {
	switch {
	case metadata && got.Kind == "PartialObjectMetadata"+suffix && slices.Contains(metadataKinds, got.APIVersion):
		return nil
	case got.Kind == t.Kind+suffix && got.APIVersion == t.APIVersion():
		return nil
	}
	return notAsked("it is of %s, not of kind %q of %q", got, t.Kind+suffix, t.APIVersion())
}

// verifyDiscovery returns an error unless a document of discovery is of one of the kinds.
// Of its apiVersion a server before 1.30 says nothing.
func verifyDiscovery(got envelope, kinds ...string) error {
	versions := []string{"", "v1"}
	if got.Kind == kindServed {
		versions = []string{"", "apidiscovery.k8s.io/v2"}
	}
	if slices.Contains(kinds, got.Kind) && slices.Contains(versions, got.APIVersion) {
		return nil
	}
	return notAsked("it is of %s, not of kind %s", got, strings.Join(kinds, " or "))
}

// verifyGroups returns an error unless a document names groups that can be at that root:
// the core group has no name, and all others have one. A server without any is none that
// a collector could work on.
func verifyGroups(answer named, at root) error {
	if len(answer.Items)+len(answer.Versions)+len(answer.Groups) == 0 {
		return notAsked("it names no API group")
	}
	core := func(name string) bool { return name == "" }
	for _, g := range answer.Items {
		if core(g.Name) != (at == coreRoot) {
			return notAsked("it names the API group %q", g.Name)
		}
	}
	for _, g := range answer.Groups {
		if core(g.Name) || at == coreRoot {
			return notAsked("it names the API group %q", g.Name)
		}
	}
	if len(answer.Versions) > 0 && at != coreRoot {
		return notAsked("it names versions of the core group")
	}
	return nil
}

// verifyReview returns an error unless an answer is an access review and, where it repeats
// the question, about what was asked.
func verifyReview(got *accessReview, about resourceAttributes) error {
	switch repeated := got.Spec.ResourceAttributes; {
	case got.envelope != accessReviewKind:
		return notAsked("it is of %s, not of kind %q", got.envelope, accessReviewKind.Kind)
	case repeated != nil && *repeated != about:
		return notAsked("it is about %+v", *repeated)
	}
	return nil
}

var (
	errNoMetadata error = &AnswerError{"it holds no object metadata"}
	errBroken     error = &AnswerError{"it is broken: it holds what is no text"}
)

// verifyObject returns an error unless metadata is that of an object which j asks for:
// one of its type's scope, in its namespace, and of its name if it has one. No server
// names an object by what is no text, for which a decoder of JSON puts U+FFFD.
func verifyObject(j job, namespace, name, uid, resourceVersion string) error {
	switch {
	case name == "" || uid == "":
		return errNoMetadata
	case resourceVersion == "" && !j.unstored:
		return notAsked("%q has no resourceVersion", name)
	case !isText(uid) || !isText(name) || !isText(namespace):
		return errBroken
	case j.of.Namespaced && namespace == "", !j.of.Namespaced && namespace != "":
		return notAsked("%q is in namespace %q, which cannot be of %s", name, namespace, j.of)
	case j.namespace != "" && j.of.Namespaced && namespace != j.namespace:
		return notAsked("%q is in namespace %q", name, namespace)
	case j.name != "" && name != j.name:
		return notAsked("it is of another object, %q", name)
	}
	return nil
}

func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, utf8.RuneError)
}

// verifySuccess returns an error unless an answer is a Status which says that the request
// was successful: what a server may send in place of an object that is gone.
func verifySuccess(raw []byte) error {
	if status := readStatus(raw); status == nil || status.Status != metav1.StatusSuccess {
		return notAsked("it is no Status of success")
	}
	return nil
}

// readObject returns the metadata of the single object that j names.
func readObject(result rest.Result, j job) (*metav1.PartialObjectMetadata, error) {
	raw, err := result.Raw()
	if err != nil {
		if status := result.Error(); status != nil {
			err = status // with what the server said
		}
		return nil, err
	}
	out := &metav1.PartialObjectMetadata{}
	got := envelope{}
	if bytes.HasPrefix(raw, []byte(protobuf)) {
		var unknown runtime.Unknown
		if err := unknown.Unmarshal(raw[len(protobuf):]); err != nil {
			return nil, err
		}
		got = envelope{unknown.APIVersion, unknown.Kind}
		if err := verifyKind(got, j.of, "", true); err != nil {
			return nil, err
		}
		err = out.Unmarshal(unknown.Raw)
	} else if err = strict.Unmarshal(raw, out); err == nil {
		got = envelope{out.APIVersion, out.Kind}
		err = verifyKind(got, j.of, "", true)
	}
	if err == nil {
		err = verifyObject(j, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// jsonList is what a list in JSON says, its items unread.
type jsonList struct {
	envelope
	Metadata metav1.ListMeta `json:"metadata"`
	Items    json.RawMessage `json:"items"` // null where there are none, nil where the field lacks
}

// readPage reads a list in JSON that j asks for: of metadata, or of whole objects.
func readPage(raw []byte, j job, metadata bool) ([]json.RawMessage, metav1.ListMeta, error) {
	if bytes.HasPrefix(raw, []byte(protobuf)) {
		var unknown runtime.Unknown
		_ = unknown.Unmarshal(raw[len(protobuf):]) // what cannot be read is of no kind
		return nil, metav1.ListMeta{}, notAsked("it is of %s", envelope{unknown.APIVersion, unknown.Kind})
	}
	var p jsonList
	if err := strict.Unmarshal(raw, &p); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode a list of %s: %w", j.of, err)
	}
	if err := verifyKind(p.envelope, j.of, "List", metadata); err != nil {
		return nil, metav1.ListMeta{}, err
	}
	if p.Items == nil {
		return nil, metav1.ListMeta{}, notAsked("the list of %s has no field items", j.of)
	}
	var items []json.RawMessage
	if err := strict.Unmarshal(p.Items, &items); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("decode the items of a list of %s: %w", j.of, err)
	}
	return items, p.Metadata, nil
}

// readItem reads the metadata of an item of a list in JSON. An item need not say what
// it is (docs/gc-semantics.md#metadata-and-kinds), but not that it is something else.
func readItem(raw json.RawMessage, j job, metadata bool) (*metav1.PartialObjectMetadata, error) {
	out := &metav1.PartialObjectMetadata{}
	if err := strict.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decode an item of a list of %s: %w", j.of, err)
	}
	if out.Kind != "" || out.APIVersion != "" {
		if err := verifyKind(envelope{out.APIVersion, out.Kind}, j.of, "", metadata); err != nil {
			return nil, err
		}
	}
	return out, verifyObject(j, out.Namespace, out.Name, string(out.UID), out.ResourceVersion)
}

// errEndless reports a list that was not read to its end, since it seems to have none.
var errEndless error = &AnswerError{"there are more and more pages, of more objects than any cluster holds"}

// errRepeated reports that a page comes again which was read before.
var errRepeated error = &AnswerError{"the same page comes again and again"}

// errContradicted reports pages that do not belong together, or not all pages.
var errContradicted = errors.New("its pages contradict each other")

// mostEmptyPages is how many pages of a list may hold nothing.
const mostEmptyPages = 100

// pages is how far a list was read. The zero value is before the first page.
type pages struct {
	at      string // the continue token of the page to be read; empty: the first
	read    int    // objects so far
	empty   int    // pages that held none
	version string // of the first page: the others are of the same state
	total   int64  // of all objects, as far as the first page that says so; 0: unknown
	begins  map[string]bool
}

// next moves on behind a page to the one that it offers; more is false behind the last.
// first is the namespace and name of the page's first object, objects how many it holds.
// An error that is errContradicted may not come again if the list is read in one piece.
func (p *pages) next(meta metav1.ListMeta, first string, objects int) (more bool, err error) {
	p.read += objects
	if objects == 0 {
		p.empty++
	}
	err = p.verifyPage(meta, first, objects)
	p.at = meta.Continue
	return err == nil && p.at != "", err
}

// verifyPage returns an error if a page does not continue the ones before.
func (p *pages) verifyPage(meta metav1.ListMeta, first string, objects int) error {
	remaining := int64(0)
	if meta.RemainingItemCount != nil {
		remaining = *meta.RemainingItemCount
	}
	if p.version == "" {
		p.version, p.begins = meta.ResourceVersion, map[string]bool{}
	}
	if p.total == 0 && remaining > 0 {
		p.total = int64(p.read) + remaining
	}
	switch {
	case meta.ResourceVersion == "":
		return notAsked("the list has no resourceVersion")
	case meta.ResourceVersion != p.version:
		return fmt.Errorf("%w: the first is of resourceVersion %s, another of %s", errContradicted, p.version, meta.ResourceVersion)
	case objects > 0 && p.begins[first], meta.Continue != "" && meta.Continue == p.at:
		return errRepeated
	case meta.Continue == "" && p.total > 0 && int64(p.read) != p.total:
		return fmt.Errorf("%w: %d objects were announced, and %d came", errContradicted, p.total, p.read)
	case meta.Continue == "" && remaining > 0:
		return fmt.Errorf("%w: the last one says that more objects remain", errContradicted)
	case p.read > mostObjects, p.empty > mostEmptyPages:
		return errEndless
	}
	if objects > 0 {
		p.begins[first] = true
	}
	return nil
}
