package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Corrupt makes the server unable to read objects, as if what etcd has for them could not be decoded. If
// restarted is true, it has not read their types since its start, and has no cache to answer a list from.
func (s *Server) Corrupt(restarted bool, objects ...*Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.corrupt == nil {
		s.corrupt = map[types.UID]bool{}
	}
	s.restarted = restarted
	for _, o := range objects {
		s.corrupt[o.UID] = true
	}
}

// decodingError returns what the storage of the API server says about an object that it cannot decode.
func decodingError(key string) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=243: illegal base64 data at input byte 6", key)
}

// key returns where etcd has an object, as the API server of a default cluster stores it.
func (o *Object) key() string {
	of := o.Type.Resource
	if o.Type.Custom {
		of = o.Type.Group + "/" + of
	}
	return "/" + of + strings.TrimSuffix("/"+o.Namespace, "/") + "/" + o.Name
}

// readError returns the error of a request for an object.
func (s *Server) readError(o *Object) error {
	if !s.corrupt[o.UID] {
		return nil
	}
	return apierrors.NewInternalError(fmt.Errorf("%s", decodingError(o.key())))
}

// listError returns the error of a list. limited reports that it has a limit, so that etcd answers it.
func (s *Server) listError(of schema.GroupResource, objects []Object, limited bool) error {
	const most = 100
	var causes []metav1.StatusCause
	for i := range objects {
		if o := &objects[i]; s.corrupt[o.UID] && len(causes) < most {
			key := "/registry" + o.key()
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: key, Message: decodingError(key)})
		}
	}
	if len(causes) == 0 {
		return nil
	}
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", of, causes[0].Message)
	if more := len(causes) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	if s.restarted && !limited {
		return apierrors.NewTooManyRequests("storage is (re)initializing: failed to list <unspecified>: "+message, 30)
	}
	if len(causes) == most {
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError, Message: message,
		Details: &metav1.StatusDetails{Group: of.Group, Kind: of.Resource, Name: "list", Causes: slices.Clip(causes)},
	}}
}
