package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// RequestError is a request about one object that was not granted, or of which it is
// not known whether it was.
type RequestError struct {
	Verb   string // delete, patch, create, read, wait for
	Object object.Identity
	Reason snapshot.ErrorClass
	Err    error // as the server or the connection put it: unescaped
}

// Error is one line.
func (f *RequestError) Error() string {
	message, _, _ := strings.Cut(f.Err.Error(), "\n")
	if f.Object.Namespace == "" {
		return fmt.Sprintf("%s %s: %s", f.Verb, f.Object, message)
	}
	return fmt.Sprintf("%s %s in namespace %s: %s", f.Verb, f.Object, f.Object.Namespace, message)
}

// Unwrap is the cause.
func (f *RequestError) Unwrap() error { return f.Err }

// Refusal is the reason, by which a caller decides what to do next.
func (f *RequestError) Refusal() snapshot.ErrorClass { return f.Reason }

// Hint is what a person may do about it, or empty.
func (f *RequestError) Hint() string {
	if f.Reason != snapshot.Forbidden {
		return ""
	}
	// What the admission plugin OwnerReferencesPermissionEnforcement says
	// (docs/gc-semantics.md#permission-to-change-references).
	switch message := f.Err.Error(); {
	case strings.Contains(message, "cannot set an ownerRef on a resource you can't delete"):
		return "here, only who may delete an object may change its owner references"
	case strings.Contains(message, "a resource you can't set finalizers on"):
		return "here, only who may update the finalizers of an owner may let an object block its deletion"
	case strings.Contains(message, "exceeded quota"):
		return "raise that quota or make room, and run it again"
	case apierrors.HasStatusCause(f.Err, namespaceTerminating):
		return "run it again when its namespace is gone and has been created again"
	}
	return ""
}

// namespaceTerminating is the cause of a refusal to make something in a namespace
// that is being deleted (corev1.NamespaceTerminatingCause).
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// ClassifyRequest classes what stood in the way of a request about a single object. A
// 404 proves nothing yet.
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
