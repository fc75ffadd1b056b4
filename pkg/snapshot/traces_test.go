package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// traceTypes are the types whose objects show controllers, which Types does not have.
func traceTypes() []snapshot.Type {
	verbs := []string{"delete", "get", "list", "watch"}
	return append(TypesWithContents(),
		snapshot.Type{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService", Verbs: verbs, Preferred: true},
		snapshot.Type{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration", Verbs: verbs, Preferred: true},
		snapshot.Type{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration", Verbs: verbs, Preferred: true},
	)
}

func TestTraces(t *testing.T) {
	apiService := func(name string) object.Object { return Object("apiregistration.k8s.io/v1", "APIService", name) }
	webhook := func(name string) object.Object {
		return Object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name)
	}
	unread := func(group, resource string, class snapshot.ErrorClass) []reason.Gap {
		return []reason.Gap{{Group: group, Resource: resource, ErrorClass: string(class)}}
	}
	for name, c := range map[string]struct {
		domain string
		parts  []Part
		want   reason.ControllerTraces
	}{
		"a served group, also of a subdomain":               {"example.com", nil, reason.ControllerTraces{Groups: []string{"example.com", "legacy.example.com"}}},
		"a served group of which the domain is a subdomain": {"finalizer.legacy.example.com", nil, reason.ControllerTraces{Groups: []string{"example.com", "legacy.example.com"}}},
		"nothing":                                  {"other.io", []Part{Listing(apiService("v1.example.com"), CRD("widgets.example.com"), webhook("example.com"))}, reason.ControllerTraces{}},
		"not the group of the object itself":       {"own.io", []Part{Listing(CRD("a.core.own.io"), CRD("b.own.io"))}, reason.ControllerTraces{Own: "core.own.io", Definitions: 1}},
		"no part of a word":                        {"ample.com", []Part{Listing(webhook("example.com"), CRD("x.example.com"))}, reason.ControllerTraces{}},
		"no group of Kubernetes":                   {"some.apps", nil, reason.ControllerTraces{}},
		"definitions":                              {"other.io", []Part{Listing(CRD("a.other.io"), CRD("b.x.other.io"), CRD("c.another.io"))}, reason.ControllerTraces{Definitions: 2}},
		"an APIService without a group":            {"other.io", []Part{Listing(apiService("v1.other.io"), apiService("v1."))}, reason.ControllerTraces{APIServices: []string{"v1.other.io"}}},
		"the APIService of a group that is served": {"example.com", []Part{Listing(apiService("v1.example.com"))}, reason.ControllerTraces{Groups: []string{"example.com", "legacy.example.com"}}},
		"webhooks":                                 {"other.io", []Part{Listing(webhook("validate.other.io"), webhook("other.io-defaults"), webhook("brother.io"), webhook("other.iox"))}, reason.ControllerTraces{Webhooks: []string{"other.io-defaults", "validate.other.io"}}},
		"five names, and how many more": {"other.io", []Part{Listing(webhook("a.other.io"), webhook("b.other.io"), webhook("c.other.io"), webhook("d.other.io"), webhook("e.other.io"), webhook("f.other.io"), webhook("g.other.io"))}, reason.ControllerTraces{
			Webhooks: []string{"a.other.io", "b.other.io", "c.other.io", "d.other.io", "e.other.io"}, More: 2,
		}},
		"webhooks that may not be listed": {"other.io", []Part{Unreadable("validatingwebhookconfigurations.admissionregistration.k8s.io", snapshot.Forbidden)}, reason.ControllerTraces{
			Unread: unread("admissionregistration.k8s.io", "validatingwebhookconfigurations", snapshot.Forbidden),
		}},
		"webhooks that were not listed": {"other.io", []Part{Unlisted("mutatingwebhookconfigurations.admissionregistration.k8s.io")}, reason.ControllerTraces{
			Unread: unread("admissionregistration.k8s.io", "mutatingwebhookconfigurations", snapshot.NotListed),
		}},
		"a group of the domain that cannot be discovered":  {"other.io", []Part{Undiscovered("x.other.io", snapshot.Unavailable)}, reason.ControllerTraces{Unread: unread("x.other.io", "*", snapshot.Unavailable)}},
		"not a group of another that cannot be discovered": {"other.io", []Part{Undiscovered("metrics.k8s.io", snapshot.Unavailable)}, reason.ControllerTraces{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(append([]Part{Serving(traceTypes()...)}, c.parts...)...)
			c.want.Domain = c.domain
			if diff := cmp.Diff(c.want, snapshot.NewTraces(snapshot.NewView(s), s.Objects).Of(c.domain, "core.own.io")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
