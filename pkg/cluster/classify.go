package cluster

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Classify names the reason behind a failed request, and its message on one line.
func Classify(err error) (snapshot.ErrorClass, string) {
	message, _, _ := strings.Cut(err.Error(), "\n")
	var status apierrors.APIStatus
	var stale StaleGroupError
	var network net.Error
	switch {
	case errors.As(err, &status):
		return classOfStatus(status.Status()), message
	case errors.As(err, &stale):
		return snapshot.Unavailable, message
	case errors.Is(err, context.DeadlineExceeded):
		return snapshot.TimedOut, message
	case errors.As(err, &network) && network.Timeout():
		return snapshot.TimedOut, message
	case errors.As(err, &network), isConnectionError(err):
		return snapshot.Unavailable, message
	}
	return snapshot.Unreadable, message
}

func isConnectionError(err error) bool {
	for _, sign := range []string{"EOF", "connection reset", "connection refused", "stream error", "broken pipe"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

func classOfStatus(s metav1.Status) snapshot.ErrorClass {
	switch s.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return snapshot.Forbidden
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return snapshot.Vanished
	case http.StatusTooManyRequests:
		return snapshot.Throttled
	case http.StatusServiceUnavailable:
		return snapshot.Unavailable
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return snapshot.TimedOut
	}
	if s.Reason == metav1.StatusReasonTimeout || s.Reason == metav1.StatusReasonServerTimeout {
		return snapshot.TimedOut
	}
	if strings.Contains(s.Message, "conversion webhook") {
		return snapshot.Webhook
	}
	return snapshot.ServerError
}

// isTransient says whether asking again at once may help. 429 and 503 with a
// Retry-After were asked again by client-go already.
func isTransient(err error) bool {
	reason := ClassifyRequest(err)
	return reason == snapshot.ServerError || reason == snapshot.Unavailable
}

// IsNotFound says whether a 404 is about that very object, and not about a path that
// the server does not know just now (docs/gc-semantics.md#absent-owner,
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
	for _, cause := range details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return false
		}
	}
	return true
}
