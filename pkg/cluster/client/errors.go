package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Classify returns the class of a failed request and the first line of its message.
func Classify(err error) (snapshot.ErrorClass, string) {
	message, _, _ := strings.Cut(err.Error(), "\n")
	var status apierrors.APIStatus
	var stale StaleGroupError
	var network net.Error
	switch {
	case errors.As(err, &status):
		return classOfStatus(status.Status()), message
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return snapshot.TimedOut, message
	case errors.As(err, &stale), errors.As(err, &network), IsConnectionError(err):
		return snapshot.Unavailable, message
	}
	return snapshot.Unreadable, message
}

// GapOf returns the gap that a failed list leaves.
func GapOf(q Query, err error) snapshot.Gap {
	class, message := Classify(err)
	out := snapshot.Gap{Group: q.Type.Group, Resource: q.Type.Resource, Namespace: q.Namespace, Reason: class, Message: message}
	if class == snapshot.StoreRead {
		out.Objects, out.MoreObjects = unreadableObjects(q.Type, err)
	}
	return out
}

// IsConnectionError reports whether an error says that a connection broke off.
func IsConnectionError(err error) bool {
	signs := []string{"EOF", "connection reset", "connection refused", "stream error", "broken pipe"}
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(err.Error(), sign) })
}

// From 1.37 on, the API server names the objects that it cannot read from etcd: a list fails with the reason
// StorageReadError and the causes that unreadableObjects reads. A GET fails with a 500, and a list that the watch
// cache cannot answer with a 429, where only the message tells. Objects that a conversion webhook should have
// converted look the same, but nothing is wrong with them (docs/gc-semantics.md#unreadable-objects).
const (
	corruptObject   = "StorageError: corrupt object"
	conversionFails = "conversion webhook"
)

// maxUnreadable limits how many objects a gap names, and the bytes of each name. The API server
// names at most 100.
const maxUnreadable, maxKey = 100, 512

// unreadableObjects returns the objects that the API server could not read from etcd, by the error of a
// list, and whether there may be more.
func unreadableObjects(t snapshot.Type, err error) (names []string, more bool) {
	var failed apierrors.APIStatus
	if !errors.As(err, &failed) || failed.Status().Details == nil {
		return nil, false
	}
	for _, cause := range failed.Status().Details.Causes {
		switch {
		case strings.Contains(cause.Message, conversionFails):
		case cause.Field == "" || len(names) == maxUnreadable: // the first says that the list is cut off
			more = true
		default:
			names = append(names, nameOfKey(t, cause.Field))
		}
	}
	return names, more && len(names) > 0
}

// nameOfKey returns the name of the object with a key in etcd, such as /registry/secrets/NAMESPACE/NAME, or the
// key, shortened, if that has another form.
func nameOfKey(t snapshot.Type, key string) string {
	segments := strings.Split(key, "/")
	n := 1
	if t.Namespaced {
		n = 2
	}
	name := segments[max(0, len(segments)-n):]
	if len(segments) < n+2 || segments[0] != "" || slices.ContainsFunc(name, func(s string) bool { return !snapshot.ValidName(s) }) || len(key) > maxKey {
		return "/" + strings.TrimPrefix(key[:min(len(key), maxKey)], "/")
	}
	return strings.Join(name, "/")
}

func classOfStatus(s metav1.Status) snapshot.ErrorClass {
	switch {
	case s.Code == http.StatusUnauthorized, s.Code == http.StatusForbidden:
		return snapshot.Forbidden
	case s.Code == http.StatusNotFound, s.Code == http.StatusMethodNotAllowed:
		return snapshot.Vanished
	case strings.Contains(s.Message, conversionFails):
		return snapshot.Webhook
	case s.Reason == metav1.StatusReasonStoreReadError, strings.Contains(s.Message, corruptObject):
		return snapshot.StoreRead
	case s.Code == http.StatusTooManyRequests:
		return snapshot.Throttled
	case s.Code == http.StatusServiceUnavailable:
		return snapshot.Unavailable
	case s.Code == http.StatusGatewayTimeout, s.Code == http.StatusRequestTimeout,
		s.Reason == metav1.StatusReasonTimeout, s.Reason == metav1.StatusReasonServerTimeout:
		return snapshot.TimedOut
	}
	return snapshot.ServerError
}

// isTransient reports whether an immediate retry may help. client-go already retries 429 and 503
// with Retry-After.
func isTransient(err error) bool {
	reason := ClassifyRequest(err)
	return reason == snapshot.ServerError || reason == snapshot.Unavailable
}

// IsNotFound reports whether a 404 is about this object, and not about a path that the server
// does not know at the moment (docs/gc-semantics.md#absent-owner,
// docs/differences.md#it-is-more-careful).
func IsNotFound(err error, of schema.GroupResource, name string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.Status().Details
	if details == nil || details.Name != name || details.Kind != "" && details.Kind != of.Resource ||
		details.Group != "" && details.Group != of.Group {
		return false
	}
	return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// RequestError is a request about one object that failed or whose result is unknown.
type RequestError struct {
	Verb   string // delete, patch, create, read, wait for
	Object object.Identity
	Reason snapshot.ErrorClass
	Err    error // not escaped
}

// NewRequestError returns an error about a request for one object.
func NewRequestError(verb string, o object.Identity, class snapshot.ErrorClass, err error) *RequestError {
	return &RequestError{verb, o, class, err}
}

func (e *RequestError) Error() string {
	message, _, _ := strings.Cut(e.Err.Error(), "\n")
	if e.Object.Namespace == "" {
		return fmt.Sprintf("%s %s: %s", e.Verb, e.Object, message)
	}
	return fmt.Sprintf("%s %s in namespace %s: %s", e.Verb, e.Object, e.Object.Namespace, message)
}

func (e *RequestError) Unwrap() error { return e.Err }

// Class returns the error class, which decides what a caller does next.
func (e *RequestError) Class() snapshot.ErrorClass { return e.Reason }

// Hint returns what a user can do about the error, or an empty string.
func (e *RequestError) Hint() string {
	if e.Reason != snapshot.Forbidden {
		return ""
	}
	// Messages of the admission plugin OwnerReferencesPermissionEnforcement
	// (docs/gc-semantics.md#permission-to-change-references).
	switch message := e.Err.Error(); {
	case strings.Contains(message, "cannot set an ownerRef on a resource you can't delete"):
		return "this cluster lets you change owner references only if you may delete the object"
	case strings.Contains(message, "a resource you can't set finalizers on"):
		return "this cluster lets an object block the deletion of an owner only if you may update the finalizers of that owner"
	case strings.Contains(message, "exceeded quota"):
		return "raise that quota or make room, and run it again"
	case apierrors.HasStatusCause(e.Err, namespaceTerminating):
		return "recreate its namespace once that is gone, and run it again"
	}
	return ""
}

// namespaceTerminating is the cause of a create that is refused because its namespace is being
// deleted (corev1.NamespaceTerminatingCause).
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// ErrNotServed reports that the type is not served or that the name is invalid.
var ErrNotServed = errors.New("no request can be made for it")

// ClassifyRequest returns the class of a failed request about a single object. A 404 is
// Unverified: by itself it does not prove absence.
func ClassifyRequest(err error) snapshot.ErrorClass {
	reason, _ := Classify(err)
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return reason
	}
	switch code := status.Status().Code; {
	case code == http.StatusConflict:
		return snapshot.Conflict
	case code == http.StatusUnprocessableEntity:
		return snapshot.Invalid
	case code == http.StatusNotFound:
		return snapshot.Unverified
	case code >= 400 && code < 500 && (reason == snapshot.ServerError || reason == snapshot.Vanished || reason == snapshot.Webhook):
		return snapshot.Refused
	}
	return reason
}

// StaleGroupError reports that the aggregation layer has no current discovery of a group.
type StaleGroupError struct{ schema.GroupVersion }

func (e StaleGroupError) Error() string { return "stale GroupVersion discovery: " + e.String() }
