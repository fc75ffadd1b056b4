// Package health reads what decides whether a cluster's own garbage collector can work: the
// services behind its APIs, the lease of kube-controller-manager, what the API server does with a
// deletion policy, and the collector's events. It changes nothing.
package health

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var (
	services       = snapshot.Type{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}
	endpointSlices = snapshot.Type{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices", Kind: "EndpointSlice", Namespaced: true}
)

type apiService struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		Group, Version string
		Service        *snapshot.ServiceReference // nil: the API server itself
	}
	Status struct {
		Conditions []struct{ Type, Status, Message string }
	}
}

// Backends returns what is behind the API groups and converted types that could not be read,
// sorted by what they serve. What the user may not read is missing, or its state is unknown.
func Backends(ctx context.Context, c *client.Client, gaps []snapshot.Gap) []reason.Backend {
	var out []reason.Backend
	groups := map[string]bool{}
	for _, g := range gaps {
		switch {
		case g.Resource == snapshot.All:
			groups[g.Group] = true
		case g.Reason == snapshot.Webhook:
			out = append(out, webhookOf(ctx, c, g))
		}
	}
	if len(groups) > 0 {
		all, err := client.ListWhole[apiService](ctx, c, client.Query{Type: discovery.APIServices}, metav1.ListOptions{})
		if err == nil {
			for _, s := range all {
				ok, message := s.available()
				if (groups[s.Spec.Group] || groups[snapshot.All]) && !ok {
					out = append(out, s.backend(ctx, c, message))
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b reason.Backend) int { return cmp.Compare(a.Serves, b.Serves) })
	return out
}

// available reports whether the API server reaches what serves the group, and what it says if not.
func (s *apiService) available() (ok bool, message string) {
	for _, condition := range s.Status.Conditions {
		if condition.Type == "Available" {
			return condition.Status == "True", condition.Message
		}
	}
	return false, ""
}

func (s *apiService) backend(ctx context.Context, c *client.Client, message string) reason.Backend {
	b := reason.Backend{
		Serves: s.Spec.Group + "/" + s.Spec.Version,
		Object: object.Identity{APIVersion: discovery.APIServices.APIVersion(), Kind: discovery.APIServices.Kind, Name: s.Metadata.Name, UID: s.Metadata.UID},
		Detail: message,
	}
	return withService(ctx, c, b, s.Spec.Service)
}

func webhookOf(ctx context.Context, c *client.Client, g snapshot.Gap) reason.Backend {
	b := reason.Backend{
		Serves: g.String(), State: reason.BackendUnknown,
		Object: object.Identity{APIVersion: discovery.Definitions.APIVersion(), Kind: discovery.Definitions.Kind, Name: g.Word()},
	}
	var found snapshot.Caller
	if err := client.GetWhole(ctx, c, client.Query{Type: discovery.Definitions, Name: b.Object.Name}, &found); err != nil {
		b.Detail = err.Error()
		return b
	}
	b.Object.UID = found.Metadata.UID
	return withService(ctx, c, b, found.Spec.Conversion.Webhook.ClientConfig.Service)
}

// withService returns the backend with the state of its service, which may be nil.
func withService(ctx context.Context, c *client.Client, b reason.Backend, s *snapshot.ServiceReference) reason.Backend {
	if s == nil {
		b.State = reason.BackendExternal
		return b
	}
	b.Service = s.Namespace + "/" + s.Name
	state, err := serviceState(ctx, c, s)
	if b.State = state; err != nil {
		b.Detail = err.Error()
	}
	return b
}

func serviceState(ctx context.Context, c *client.Client, s *snapshot.ServiceReference) (reason.BackendState, error) {
	var service struct{ Spec struct{ Type string } }
	err := client.GetWhole(ctx, c, client.Query{Type: services, Namespace: s.Namespace, Name: s.Name}, &service)
	switch {
	case client.IsNotFound(err, services.GroupResource(), s.Name):
		return reason.BackendMissing, nil
	case err != nil:
		return reason.BackendUnknown, err
	case service.Spec.Type == "ExternalName":
		return reason.BackendExternal, nil
	}
	type slice struct {
		Endpoints []struct{ Conditions struct{ Ready *bool } }
	}
	found, err := client.ListWhole[slice](ctx, c, client.Query{Type: endpointSlices, Namespace: s.Namespace}, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + s.Name})
	if err != nil {
		return reason.BackendUnknown, err
	}
	for _, part := range found {
		for _, e := range part.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				return reason.BackendReady, nil
			}
		}
	}
	return reason.BackendNoEndpoints, nil
}
