package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
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
		"a 403 is forbidden":                  {err: apierrors.NewForbidden(widgets, "", errors.New("no")), want: snapshot.Forbidden},
		"a 401 is forbidden":                  {err: apierrors.NewUnauthorized("who are you"), want: snapshot.Forbidden},
		"a 404 of a list is a vanished type":  {err: apierrors.NewNotFound(widgets, ""), want: snapshot.Vanished},
		"a 429 is throttled":                  {err: apierrors.NewTooManyRequests("later", 1), want: snapshot.Throttled},
		"a 503 is unavailable":                {err: apierrors.NewServiceUnavailable("down"), want: snapshot.Unavailable, transient: true},
		"a 504 is a timeout":                  {err: apierrors.NewTimeoutError("slow", 1), want: snapshot.TimedOut},
		"a 500 is the server's":               {err: apierrors.NewInternalError(errors.New("etcd")), want: snapshot.ServerError, transient: true},
		"a 500 may be a conversion webhook's": {err: apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1 failed")), want: snapshot.Webhook},
		"a list with an unreadable object":    {err: storeReadError("/registry/example.com/widgets/shop/a"), want: snapshot.StoreRead},
		"a GET of an unreadable object":       {err: apierrors.NewInternalError(errors.New("StorageError: corrupt object, Code: 7, Key: /secrets/shop/web")), want: snapshot.StoreRead},
		"a 429 because of an unreadable one":  {err: apierrors.NewTooManyRequests("storage is (re)initializing: failed to list: StorageError: corrupt object, Code: 7", 1), want: snapshot.StoreRead},
		"one that no webhook converted": {
			err:  apierrors.NewInternalError(errors.New("StorageError: corrupt object, Code: 7, Key: /a, AdditionalErrorMsg: conversion webhook for example.com/v1 failed")),
			want: snapshot.Webhook,
		},
		"before 1.37 nothing says so":          {err: apierrors.NewInternalError(errors.New("illegal base64 data at input byte 6")), want: snapshot.ServerError, transient: true},
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

// storeReadError returns the error of a list with unreadable objects at these keys in etcd. An empty
// key says that there are more.
func storeReadError(keys ...string) *apierrors.StatusError {
	details := &metav1.StatusDetails{Name: "list"}
	for _, key := range keys {
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: key, Message: "StorageError: corrupt object"})
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Reason: metav1.StatusReasonStoreReadError, Message: "failed to read one or more widgets from the storage", Details: details}}
}

func TestGapNamesUnreadableObjects(t *testing.T) {
	namespaced, clusterScoped := snapshot.Type{Resource: "secrets", Namespaced: true}, snapshot.Type{Resource: "nodes"}
	unconverted := storeReadError("/registry/example.com/widgets/shop/fine", "/registry/example.com/widgets/shop/web")
	unconverted.ErrStatus.Details.Causes[0].Message += ": conversion webhook for example.com/v1 failed"
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf("/registry/secrets/shop/s%d", i)
	}
	for name, test := range map[string]struct {
		of   snapshot.Type
		err  error
		want []string
		more bool
	}{
		"in a namespace":           {namespaced, storeReadError("/registry/secrets/shop/web", "/registry/services/specs/shop/db"), []string{"shop/web", "shop/db"}, false},
		"of a custom resource":     {namespaced, storeReadError("/registry/example.com/widgets/shop/w"), []string{"shop/w"}, false},
		"without a namespace":      {clusterScoped, storeReadError("/registry/minions/node-1", "/prefix/of/many/words/nodes/n2"), []string{"node-1", "n2"}, false},
		"a namespace named a type": {namespaced, storeReadError("/registry/secrets/secrets/x"), []string{"secrets/x"}, false},
		"other keys stay":          {namespaced, storeReadError("/registry/web", "nonsense", "/registry/secrets/a%2fb/c"), []string{"/registry/web", "/nonsense", "/registry/secrets/a%2fb/c"}, false},
		"a long key is cut":        {namespaced, storeReadError("/registry/secrets/shop/" + strings.Repeat("x", 5000)), []string{"/registry/secrets/shop/" + strings.Repeat("x", maxKey-23)}, false},
		"more than are named":      {namespaced, storeReadError("/registry/secrets/shop/web", ""), []string{"shop/web"}, true},
		"what was not converted":   {namespaced, unconverted, []string{"shop/web"}, false},
		"no names":                 {namespaced, apierrors.NewInternalError(errors.New("StorageError: corrupt object")), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := GapOf(Query{Type: test.of}, test.err)
			if g.Reason != snapshot.StoreRead || !slices.Equal(g.Objects, test.want) || g.MoreObjects != test.more {
				t.Errorf("got %+v, want objects %q", g, test.want)
			}
		})
	}
	if g := GapOf(Query{Type: namespaced}, storeReadError(many...)); len(g.Objects) != maxUnreadable || !g.MoreObjects {
		t.Errorf("%d names, more: %t", len(g.Objects), g.MoreObjects)
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
