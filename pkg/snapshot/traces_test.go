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

// own returns a type of the group core.own.io.
func own(resource, kind string) snapshot.Type {
	return snapshot.Type{Group: "core.own.io", Version: "v1", Resource: resource, Kind: kind, Namespaced: true, Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}
}

func TestTraces(t *testing.T) {
	apiService := func(name string) object.Object { return Object("apiregistration.k8s.io/v1", "APIService", name) }
	webhook := func(name string) object.Object {
		return Object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name)
	}
	unread := func(group, resource string, class snapshot.ErrorClass) []reason.Gap {
		return []reason.Gap{{Group: group, Resource: resource, ErrorClass: string(class)}}
	}
	widget := func(with ...Option) object.Object { return Object("core.own.io/v1", "Widget", "shop/gear", with...) }
	status := func(writers []string, reporters ...string) Option {
		return func(o *object.Object) { o.Status = &object.DeletionStatus{Writers: writers, Reporters: reporters} }
	}
	leases := func(of ...string) Part {
		return func(s *snapshot.Snapshot) { s.ActiveLeases = append([]string{}, of...) }
	}
	found := func(traces ...string) reason.ControllerTraces { return reason.ControllerTraces{Found: traces} }
	for name, c := range map[string]struct {
		domain string
		of     object.Object
		parts  []Part
		want   reason.ControllerTraces
	}{
		"a served type, also of a subdomain":                  {"example.com", ConfigMap("shop/a"), nil, found("type widgets.example.com", "type widgets.legacy.example.com")},
		"a served type of the parent domain":                  {"finalizer.legacy.example.com", ConfigMap("shop/a"), nil, found("type widgets.example.com", "type widgets.legacy.example.com")},
		"a type of another subdomain of the parent":           {"hooks.example.com", ConfigMap("shop/a"), nil, found("type widgets.example.com", "type widgets.legacy.example.com")},
		"no parent domain that projects share":                {"mine.x-k8s.io", ConfigMap("shop/a"), []Part{Listing(CRD("clusters.yours.x-k8s.io"))}, reason.ControllerTraces{}},
		"nothing":                                             {"other.io", ConfigMap("shop/a"), []Part{Listing(CRD("widgets.another.io"), webhook("example.com"))}, reason.ControllerTraces{}},
		"not the type of the object itself":                   {"example.com", Object("example.com/v1", "Widget", "shop/gear"), []Part{Listing(CRD("widgets.example.com"))}, reason.ControllerTraces{Own: true, Found: []string{"type widgets.legacy.example.com"}}},
		"another type of the object's own group (rook#17059)": {"own.io", widget(), []Part{Serving(own("widgets", "Widget"), own("pools", "Pool"))}, reason.ControllerTraces{Own: true, Found: []string{"type pools.core.own.io"}}},
		"no part of a word":                                   {"ample.com", ConfigMap("shop/a"), []Part{Listing(webhook("example.com"))}, reason.ControllerTraces{}},
		"a domain without labels":                             {".", ConfigMap("shop/a"), []Part{Listing(webhook("a"), Deployment("ops/a"))}, reason.ControllerTraces{}},
		"no group of Kubernetes":                              {"some.apps", ConfigMap("shop/a"), nil, reason.ControllerTraces{}},
		"a CustomResourceDefinition that is not served":       {"other.io", ConfigMap("shop/a"), []Part{Listing(CRD("a.other.io"), CRD("b.x.other.io"), CRD("c.another.io"))}, found("type a.other.io", "type b.x.other.io")},
		"an APIService without types":                         {"other.io", ConfigMap("shop/a"), []Part{Listing(apiService("v1.other.io"), apiService("v1."))}, found("APIService/v1.other.io")},
		"a Deployment that is called as the project":          {"hooks.other.io", ConfigMap("shop/a"), []Part{Listing(Deployment("ops/other-operator"), Deployment("ops/brother"), Deployment("ops/hooks"))}, found("Deployment/other-operator")},
		"webhooks, three names, and how many more": {"other.io", ConfigMap("shop/a"), []Part{Listing(webhook("a.other.io"), webhook("other.io-b"), webhook("c.other.io"), webhook("d.other.io"), webhook("brother.io"), webhook("other.iox"))}, reason.ControllerTraces{
			Found: []string{"ValidatingWebhookConfiguration/a.other.io", "ValidatingWebhookConfiguration/c.other.io", "ValidatingWebhookConfiguration/d.other.io"}, More: 1,
		}},
		"a write": {"own.io", widget(status([]string{"manager"})), []Part{leases()}, reason.ControllerTraces{Own: true, Watched: true, Active: []string{"a write by manager"}}},
		"an Event of its controller, by the kind or the domain": {"own.io", widget(status(nil, "widget-controller", "own-operator", "kyverno-scan")), []Part{leases()}, reason.ControllerTraces{
			Own: true, Watched: true, Active: []string{"an Event from widget-controller", "an Event from own-operator"},
		}},
		"an Event about a Pod":               {"other.io", Pod("shop/a", status(nil, "pod-garbage-collector", "kubelet")), []Part{leases()}, reason.ControllerTraces{Watched: true}},
		"a Lease, by its name or its holder": {"ceph.rook.io", ConfigMap("shop/a", status(nil)), []Part{leases("5c6a.ceph.rook.io (held by a)", "leader (held by rook-operator-x_1)", "kube-scheduler (held by b)")}, reason.ControllerTraces{Watched: true, Active: []string{"Lease 5c6a.ceph.rook.io (held by a)", "Lease leader (held by rook-operator-x_1)"}}},
		"nothing in an hour, without Leases": {"other.io", ConfigMap("shop/a", status(nil)), nil, reason.ControllerTraces{}},
		"webhooks that may not be listed": {"other.io", ConfigMap("shop/a"), []Part{Unreadable("validatingwebhookconfigurations.admissionregistration.k8s.io", snapshot.Forbidden)}, reason.ControllerTraces{
			Unread: unread("admissionregistration.k8s.io", "validatingwebhookconfigurations", snapshot.Forbidden),
		}},
		"webhooks that were not listed": {"other.io", ConfigMap("shop/a"), []Part{Unlisted("mutatingwebhookconfigurations.admissionregistration.k8s.io")}, reason.ControllerTraces{
			Unread: unread("admissionregistration.k8s.io", "mutatingwebhookconfigurations", snapshot.NotListed),
		}},
		"a group of the domain that cannot be discovered":  {"other.io", ConfigMap("shop/a"), []Part{Undiscovered("x.other.io", snapshot.Unavailable)}, reason.ControllerTraces{Unread: unread("x.other.io", "*", snapshot.Unavailable)}},
		"not a group of another that cannot be discovered": {"other.io", ConfigMap("shop/a"), []Part{Undiscovered("metrics.k8s.io", snapshot.Unavailable)}, reason.ControllerTraces{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(append([]Part{Serving(append(traceTypes(), Workloads()...)...)}, c.parts...)...)
			c.want.Domain = c.domain
			if diff := cmp.Diff(c.want, snapshot.NewTraces(snapshot.NewView(s), s).Of(c.domain, &c.of)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
