package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// event is an audit event whose fields are JSON, not yet decoded. A missing field is nil.
type event struct {
	raw                                                          []byte // all of it
	kind, apiVersion, level, stage, requestURI, verb, userAgent  []byte
	user, impersonatedUser, sourceIPs, objectRef, responseStatus []byte
	requestObject, responseObject                                []byte
	received, answered                                           []byte
	items                                                        []byte // of an EventList
}

func (e *event) field(key []byte) *[]byte {
	switch string(key) {
	case "kind":
		return &e.kind
	case "apiVersion":
		return &e.apiVersion
	case "level":
		return &e.level
	case "stage":
		return &e.stage
	case "requestURI":
		return &e.requestURI
	case "verb":
		return &e.verb
	case "user":
		return &e.user
	case "impersonatedUser":
		return &e.impersonatedUser
	case "sourceIPs":
		return &e.sourceIPs
	case "userAgent":
		return &e.userAgent
	case "objectRef":
		return &e.objectRef
	case "responseStatus":
		return &e.responseStatus
	case "requestObject":
		return &e.requestObject
	case "responseObject":
		return &e.responseObject
	case "requestReceivedTimestamp":
		return &e.received
	case "stageTimestamp":
		return &e.answered
	case "items":
		return &e.items
	}
	return nil
}

const apiVersion = "audit.k8s.io/v1"

func (e *event) valid() bool { return is(e.kind, "Event") && is(e.apiVersion, apiVersion) }

var errNoEvent = errors.New("it holds no event of " + apiVersion)

// events calls yield with the events that a document holds: itself, those of an EventList, or those that a
// collector of logs wrapped in an object of its own, as an object or as text. An event that is found to be
// uninteresting is not read to its end. depth limits the objects around an event.
func events(document []byte, depth int, yield func(e *event) error) error {
	e := event{raw: document}
	err := members(document, func(key, value []byte) bool {
		if f := e.field(key); f != nil {
			*f = value
		}
		return !e.valid() || !e.uninteresting()
	})
	switch {
	case err != nil:
		return err
	case e.valid():
		return yield(&e)
	case is(e.kind, "EventList") && is(e.apiVersion, apiVersion):
		var first error
		err := elements(e.items, func(item []byte) error {
			if err := events(item, 0, yield); err != nil && first == nil {
				first = err
			}
			return nil
		})
		return errors.Join(err, first)
	case depth == 0:
		return errNoEvent
	}
	err = errNoEvent
	broken := members(document, func(_, value []byte) bool {
		if value[0] == '"' && bytes.IndexByte(value, '{') >= 0 {
			value = []byte(text(value))
		}
		if len(value) > 0 && value[0] == '{' {
			if inner := events(value, depth-1, yield); inner == nil || errors.Is(err, errNoEvent) {
				err = inner
			}
		}
		return err != nil
	})
	return errors.Join(broken, err)
}

// uninteresting reports whether the fields that are known tell that the event is not a successful write that
// could delete something or tell of its owners.
func (e *event) uninteresting() bool {
	switch {
	case e.stage != nil && !is(e.stage, "ResponseComplete"):
		return true
	case e.verb == nil:
		return false
	}
	verb := text(e.verb)
	if !slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, verb) {
		return true
	}
	if e.responseStatus != nil && !e.succeeded() {
		return true
	}
	if e.objectRef == nil {
		return false
	}
	var group, resource, subresource []byte
	if members(e.objectRef, func(key, value []byte) bool {
		switch string(key) {
		case "apiGroup":
			group = value
		case "resource":
			resource = value
		case "subresource":
			subresource = value
		}
		return true
	}) != nil {
		return false // and fails when it is decoded
	}
	core := group == nil || is(group, "")
	writes := verb == "update" || verb == "patch"
	switch {
	case is(group, "authorization.k8s.io"), is(group, "authentication.k8s.io"):
		return true // reviews
	case is(resource, "events") && (core || is(group, "events.k8s.io")):
		return true
	case is(resource, "leases") && is(group, "coordination.k8s.io"):
		return writes
	case subresource == nil, is(subresource, ""):
		return false
	case is(resource, "pods") && core && is(subresource, "eviction"):
		return verb != "create"
	case is(resource, "namespaces") && core && is(subresource, "finalize"), is(subresource, "status"):
		return !writes
	}
	return true
}

// code returns the code of the answer as it is written.
func (e *event) code() (code []byte) {
	_ = members(e.responseStatus, func(key, value []byte) bool {
		if string(key) == "code" {
			code = value
		}
		return true
	})
	return code
}

func (e *event) succeeded() bool {
	code := e.code()
	return len(code) == 3 && code[0] == '2'
}

// body is an object in an event, not decoded.
type body struct {
	raw                            []byte
	apiVersion, kind               string
	metadata, items, spec, details []byte
	answer                         bool // of the server; else of the client
}

func bodyOf(raw []byte) (b body, err error) {
	b.raw = raw
	err = members(raw, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			b.apiVersion = text(value)
		case "kind":
			b.kind = text(value)
		case "metadata":
			b.metadata = value
		case "items":
			b.items = value
		case "spec":
			b.spec = value
		case "details":
			b.details = value
		}
		return true
	})
	return b, err
}

func (b *body) isStatus() bool { return b.kind == "Status" && b.apiVersion == "v1" }

// isObject reports whether the body is an object of the API, or the metadata of one, rather than an answer
// that no one can create.
func (b *body) isObject() bool {
	return len(b.metadata) > 0 && b.metadata[0] == '{' && !b.isStatus() && (b.group() != metaGroup || b.isPartial())
}

// isPartial reports whether the body is the metadata of an object.
func (b *body) isPartial() bool { return b.kind == "PartialObjectMetadata" && b.group() == metaGroup }

// isWhole reports whether the body is a whole object.
func (b *body) isWhole() bool {
	return b.isObject() && !b.isPartial() && b.apiVersion != "" && b.kind != ""
}

const metaGroup = "meta.k8s.io"

func (b *body) group() string {
	gv, _ := schema.ParseGroupVersion(b.apiVersion)
	return gv.Group
}

// bodies calls yield with the objects in the answer, or with the one in the request if there is no answer and
// the request wrote the whole object. The items of a list get its type, as those of built-in types have none.
// A Status is among the objects.
func (e *event) bodies(yield func(b *body) error) error {
	raw, answer := e.responseObject, true
	if raw == nil && (is(e.verb, "create") || is(e.verb, "update")) {
		raw, answer = e.requestObject, false
	}
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	b, err := bodyOf(raw)
	if err != nil {
		return err
	}
	b.answer = answer
	item, isList := strings.CutSuffix(b.kind, "List")
	var list struct{ Name string }
	if isList {
		if err := decode(b.metadata, &list); err != nil {
			return err
		}
	}
	if !isList || len(b.items) == 0 || list.Name != "" {
		return yield(&b)
	}
	if string(b.items) == "null" {
		return nil
	}
	return elements(b.items, func(raw []byte) error {
		i, err := bodyOf(raw)
		if err != nil {
			return err
		}
		if i.answer = answer; i.kind == "" && i.apiVersion == "" {
			i.kind, i.apiVersion = item, b.apiVersion
		}
		return yield(&i)
	})
}

// number returns a small number, and 0 for anything else.
func number(value []byte) (n int) {
	_ = json.Unmarshal(value, &n)
	return n
}
