package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var widgets = schema.GroupResource{Group: "example.com", Resource: "widgets"}

func TestClassify(t *testing.T) {
	for name, test := range map[string]struct {
		err       error
		want      snapshot.ErrorClass
		transient bool
	}{
		"a 403 is forbidden":                   {err: apierrors.NewForbidden(widgets, "", errors.New("no")), want: snapshot.Forbidden},
		"a 401 is forbidden":                   {err: apierrors.NewUnauthorized("who are you"), want: snapshot.Forbidden},
		"a 404 of a list is a vanished type":   {err: apierrors.NewNotFound(widgets, ""), want: snapshot.Vanished},
		"a 429 is throttled":                   {err: apierrors.NewTooManyRequests("later", 1), want: snapshot.Throttled},
		"a 503 is unavailable":                 {err: apierrors.NewServiceUnavailable("down"), want: snapshot.Unavailable, transient: true},
		"a 504 is a timeout":                   {err: apierrors.NewTimeoutError("slow", 1), want: snapshot.TimedOut},
		"a 500 is the server's":                {err: apierrors.NewInternalError(errors.New("etcd")), want: snapshot.ServerError, transient: true},
		"a 500 may be a conversion webhook's":  {err: apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1 failed")), want: snapshot.Webhook},
		"our own deadline is a timeout":        {err: fmt.Errorf("get: %w", context.DeadlineExceeded), want: snapshot.TimedOut},
		"a cut connection is unavailable":      {err: &url.Error{Op: "Get", Err: errors.New("unexpected EOF")}, want: snapshot.Unavailable, transient: true},
		"what cannot be decoded is unreadable": {err: errors.New("proto: illegal wireType 7"), want: snapshot.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := Classify(test.err); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := isTransient(test.err); got != test.transient {
				t.Errorf("transient: got %t", got)
			}
		})
	}
}

// Only a 404 about this very object proves anything (docs/differences.md#it-is-more-careful,
// openshift/origin#14646).
func TestIsNotFound(t *testing.T) {
	fromProxy := apierrors.NewGenericServerResponse(404, "get", widgets, "w", "404 page not found", 0, true)
	otherKind := apierrors.NewNotFound(schema.GroupResource{Resource: "gadgets"}, "w")
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"it names the object":                {apierrors.NewNotFound(widgets, "w"), true},
		"it names another object":            {apierrors.NewNotFound(widgets, "v"), false},
		"it names another kind":              {otherKind, false},
		"it is about a path":                 {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}}, false},
		"it comes from something in between": {fromProxy, false},
		"it is no 404":                       {apierrors.NewForbidden(widgets, "w", errors.New("no")), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsNotFound(test.err, widgets, "w"); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestRequestError(t *testing.T) {
	at := object.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "y", Name: "x"}
	for _, test := range []struct {
		failure RequestError
		want    string
		hint    bool
	}{
		{RequestError{"delete", at, snapshot.Forbidden, errors.New("no\nmore")}, "delete ConfigMap/x in namespace y: no", false},
		{RequestError{"patch", object.Identity{Kind: "Node", Name: "n"}, snapshot.Conflict, errors.New("no")}, "patch Node/n: no", false},
		{RequestError{"patch", at, snapshot.Forbidden, errors.New("cannot set an ownerRef on a resource you can't delete: , <nil>")}, "patch ConfigMap/x in namespace y: cannot set an ownerRef on a resource you can't delete: , <nil>", true},
		{RequestError{"patch", at, snapshot.Forbidden, errors.New("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>")}, "", true},
	} {
		if got := test.failure.Error(); test.want != "" && got != test.want {
			t.Errorf("got %s", got)
		}
		if got := test.failure.Hint(); (got != "") != test.hint {
			t.Errorf("hint of %v: %q", test.failure.Err, got)
		}
	}
}
