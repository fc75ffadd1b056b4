package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

type userInfo struct {
	Username string
	Groups   []string
}

// event is an audit event.
type event struct {
	Kind, APIVersion, Level, Stage, RequestURI, Verb, UserAgent string

	User             userInfo
	ImpersonatedUser *userInfo
	SourceIPs        []string
	ObjectRef        struct {
		APIGroup, APIVersion, Resource, Subresource, Namespace, Name string
		UID                                                          types.UID
	}
	ResponseStatus struct {
		Code    int
		Details struct{ UID types.UID }
	}
	RequestObject, ResponseObject            json.RawMessage
	RequestReceivedTimestamp, StageTimestamp time.Time
}

const apiVersion = "audit.k8s.io/v1"

var errNoEvent = errors.New("it holds no event of " + apiVersion)

// events calls yield with the event that a document is, or that a collector of logs wrapped in an object of its
// own, as an object or as text. depth limits the objects around an event.
func events(document []byte, depth int, yield func(e *event) error) error {
	var e event
	err := json.Unmarshal(document, &e)
	switch isEvent := e.Kind == "Event" && e.APIVersion == apiVersion; {
	case isEvent && err == nil:
		return yield(&e)
	case isEvent:
		return err
	case depth == 0:
		return errNoEvent
	}
	var around map[string]json.RawMessage
	if err := json.Unmarshal(document, &around); err != nil {
		return err
	}
	err = errNoEvent
	for _, key := range slices.Sorted(maps.Keys(around)) {
		value := []byte(around[key])
		var text string
		if value[0] == '"' && json.Unmarshal(value, &text) == nil {
			value = []byte(text)
		}
		if bytes.HasPrefix(value, []byte("{")) {
			inner := events(value, depth-1, yield)
			if inner == nil {
				return nil
			}
			if errors.Is(err, errNoEvent) {
				err = inner
			}
		}
	}
	return err
}

// wanted reports whether an event is a successful write that could delete something or tell of its owners.
func (e *event) wanted() bool {
	ref := &e.ObjectRef
	writes := e.Verb == "update" || e.Verb == "patch"
	resource := schema.GroupResource{Group: ref.APIGroup, Resource: ref.Resource}.String()
	switch {
	case e.Stage != "ResponseComplete", e.ResponseStatus.Code/100 != 2, ref.Resource == "",
		!slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb),
		ref.APIGroup == "authorization.k8s.io", ref.APIGroup == "authentication.k8s.io", // reviews
		resource == "events", resource == "events.events.k8s.io":
		return false
	case resource == "leases.coordination.k8s.io":
		return !writes
	case ref.Subresource == "":
		return true
	case resource == "pods" && ref.Subresource == "eviction":
		return e.Verb == "create"
	case resource == "namespaces" && ref.Subresource == "finalize":
		return writes
	}
	// What else has a status matters while it is being deleted.
	return ref.Subresource == "status" && writes && (mentionsDeletion(e.ResponseObject) || mentionsDeletion(e.RequestObject))
}

func mentionsDeletion(object []byte) bool { return bytes.Contains(object, []byte("deletionTimestamp")) }

// body is an object in an event.
type body struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   json.RawMessage `json:"metadata"`
	Items      json.RawMessage `json:"items"`
	Spec       json.RawMessage `json:"spec"`
	Details    json.RawMessage `json:"details"`

	raw    []byte // all of it
	answer bool   // of the server; else of the client
}

// bodyOf decodes an object. Case matters, as a custom resource may also have a field named Kind or Spec.
func bodyOf(raw []byte, answer bool) (*body, error) {
	b := &body{raw: raw, answer: answer}
	return b, utiljson.Unmarshal(raw, b)
}

func (b *body) isStatus() bool { return b.Kind == "Status" && b.APIVersion == "v1" }

// isObject reports whether the body is an object of the API, or the metadata of one, rather than an answer
// that no one can create.
func (b *body) isObject() bool {
	return bytes.HasPrefix(b.Metadata, []byte("{")) && !b.isStatus() && (b.group() != metav1.GroupName || b.isPartial())
}

// isPartial reports whether the body is the metadata of an object.
func (b *body) isPartial() bool {
	return b.Kind == "PartialObjectMetadata" && b.group() == metav1.GroupName
}

// isWhole reports whether the body is a whole object.
func (b *body) isWhole() bool {
	return b.isObject() && !b.isPartial() && b.APIVersion != "" && b.Kind != ""
}

func (b *body) group() string {
	gv, _ := schema.ParseGroupVersion(b.APIVersion)
	return gv.Group
}

// meta returns the metadata of an object.
func (b *body) meta() (m metav1.ObjectMeta, err error) {
	if len(b.Metadata) > 0 {
		err = utiljson.Unmarshal(b.Metadata, &m)
	}
	return m, err
}

// bodies calls yield with the objects in the answer, or with the one in the request if there is no answer and
// the request wrote the whole object. The items of a list get its type, as those of built-in types have none.
// A Status is among the objects.
func (e *event) bodies(yield func(b *body) error) error {
	raw, answer := e.ResponseObject, true
	if raw == nil && (e.Verb == "create" || e.Verb == "update") {
		raw, answer = e.RequestObject, false
	}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil
	}
	b, err := bodyOf(raw, answer)
	if err != nil {
		return err
	}
	kind, isList := strings.CutSuffix(b.Kind, "List")
	if isList && len(b.Items) > 0 {
		m, err := b.meta()
		if err != nil {
			return err
		}
		isList = m.Name == ""
	}
	if !isList || len(b.Items) == 0 {
		return yield(b)
	}
	items := json.NewDecoder(bytes.NewReader(b.Items)) // one by one, as a slice of small ones is many times as long
	if _, err := items.Token(); err != nil {
		return err
	}
	for items.More() {
		var raw json.RawMessage
		if err := items.Decode(&raw); err != nil {
			return err
		}
		item, err := bodyOf(raw, answer)
		if err != nil {
			return err
		}
		if item.Kind == "" && item.APIVersion == "" {
			item.Kind, item.APIVersion = kind, b.APIVersion
		}
		if err := yield(item); err != nil {
			return err
		}
	}
	return nil
}
