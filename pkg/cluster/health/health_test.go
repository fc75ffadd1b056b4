package health

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

type values = clustertest.Fields

type answers = map[string]func(*http.Request) any

// whole returns an object as the API server sends it.
func whole(apiVersion, kind, namespace, name string, more values) values {
	out := values{"apiVersion": apiVersion, "kind": kind, "metadata": values{"name": name, "namespace": namespace, "uid": "uid-" + name, "resourceVersion": "5"}}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func listing(apiVersion, kind string, items ...values) values {
	return values{"apiVersion": apiVersion, "kind": kind + "List", "metadata": values{"resourceVersion": "10"}, "items": items}
}

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"

func leaseOf(holder, renewed string) values {
	seconds := 15
	if holder == "" {
		seconds = 1 // as its holder leaves it
	}
	return whole("coordination.k8s.io/v1", "Lease", leaseNamespace, leaseName, values{"spec": values{"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": renewed}})
}

func TestWatchLeader(t *testing.T) {
	const (
		early, late = "2026-11-24T08:00:00.000000Z", "2026-11-24T08:00:02.000000Z"
		retry       = 4400 * time.Millisecond // the longest that a candidate waits before it tries again
		patience    = 22500 * time.Millisecond
	)
	for name, c := range map[string]struct {
		first, then values
		at          time.Duration // when the lease changes
		want        reason.Leader // without Renewed
	}{
		"a holder that renews its lease runs":          {leaseOf("a", early), leaseOf("a", late), time.Second, reason.Leader{Exists: true, Holder: "a", Renews: true, Watched: time.Second}},
		"a holder that does not renew it does not":     {leaseOf("a", early), leaseOf("a", early), time.Second, reason.Leader{Exists: true, Holder: "a", Watched: patience}},
		"a candidate takes over when it has expired":   {leaseOf("a", early), leaseOf("b", late), 15*time.Second + retry, reason.Leader{Exists: true, Holder: "b", Renews: true, Watched: 19500 * time.Millisecond}},
		"a lease that was released has no holder":      {leaseOf("a", early), leaseOf("", late), time.Second, reason.Leader{Exists: true, Watched: time.Second + patience}},
		"a candidate takes over a released lease":      {leaseOf("", early), leaseOf("b", late), retry, reason.Leader{Exists: true, Holder: "b", Renews: true, Watched: 4500 * time.Millisecond}},
		"a released lease that nobody takes":           {leaseOf("", early), leaseOf("", early), time.Second, reason.Leader{Exists: true, Watched: patience}},
		"without a lease there is nothing to wait for": {first: clustertest.Status(404, "NotFound", "not found", values{"name": leaseName, "group": "coordination.k8s.io", "kind": "leases"})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				cluster := clustertest.ConnectInMemory(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					switch {
					case !c.want.Exists:
						apiserver.WriteJSON(w, http.StatusNotFound, c.first)
					case time.Since(begun) < c.at:
						apiserver.WriteJSON(w, http.StatusOK, c.first)
					default:
						apiserver.WriteJSON(w, http.StatusOK, c.then)
					}
				}), client.Config{})
				got, err := WatchLeader(t.Context(), cluster)
				got.Renewed = time.Time{}
				if err != nil || got != c.want {
					t.Errorf("got %+v, %v, want %+v", got, err, c.want)
				}
			})
		})
	}
}

// TestMetadataAloneIsNoLease is about a server that sends metadata where the whole object was
// requested: nothing would seem to hold the lease.
func TestMetadataAloneIsNoLease(t *testing.T) {
	metadata := leaseOf("a", "2026-11-24T08:00:00.000000Z")
	metadata["apiVersion"], metadata["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	cluster, _ := clustertest.Serve(t, answers{leasePath: clustertest.Reply(metadata)})
	if got, err := WatchLeader(t.Context(), cluster); err == nil {
		t.Errorf("it is taken for a lease: %+v", got)
	}
}

func TestWatchLeaderReportsWhyItIsUnknown(t *testing.T) {
	cluster, _ := clustertest.Serve(t, answers{leasePath: clustertest.Reply(clustertest.Refuse(403, "Forbidden"))})
	if got, err := WatchLeader(t.Context(), cluster); err == nil {
		t.Errorf("got %+v without an error", got)
	}
}

func TestBackends(t *testing.T) {
	const group = "metrics.example.com"
	service := func(more values) values { return whole("v1", "Service", "ops", "backend", more) }
	slices := func(ready ...any) values {
		var endpoints []values
		for _, r := range ready {
			endpoints = append(endpoints, values{"conditions": values{"ready": r}})
		}
		return listing("discovery.k8s.io/v1", "EndpointSlice", whole("discovery.k8s.io/v1", "EndpointSlice", "ops", "backend-x", values{"endpoints": endpoints}))
	}
	missing := clustertest.Status(404, "NotFound", "not found", values{"name": "backend", "kind": "services"})
	for name, c := range map[string]struct {
		service, slices any
		want            reason.BackendState
	}{
		"a service without endpoints":                      {service(nil), slices(), reason.BackendNoEndpoints},
		"a service whose endpoints are not ready":          {service(nil), slices(false), reason.BackendNoEndpoints},
		"a service with an endpoint":                       {service(nil), slices(false, true), reason.BackendReady},
		"an endpoint of unknown readiness counts as ready": {service(nil), slices(nil), reason.BackendReady},
		"no service":                       {missing, nil, reason.BackendMissing},
		"a service outside of the cluster": {service(values{"spec": values{"type": "ExternalName"}}), nil, reason.BackendExternal},
		"a service that may not be read":   {clustertest.Refuse(403, "Forbidden"), nil, reason.BackendUnknown},
		"endpoints that may not be read":   {service(nil), clustertest.Refuse(403, "Forbidden"), reason.BackendUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			available := func(name, group, status string) values {
				return whole("apiregistration.k8s.io/v1", "APIService", "", name, values{
					"spec":   values{"group": group, "version": "v1", "service": values{"namespace": "ops", "name": "backend"}},
					"status": values{"conditions": []values{{"type": "Available", "status": status, "message": "it is down"}}},
				})
			}
			cluster, _ := clustertest.Serve(t, answers{
				"/apis/apiregistration.k8s.io/v1/apiservices": clustertest.Reply(listing("apiregistration.k8s.io/v1", "APIService",
					available("v1."+group, group, "False"), available("v1beta1."+group, group, "True"), available("v1.other", "other", "False"))),
				"/api/v1/namespaces/ops/services/backend":                 clustertest.Reply(c.service),
				"/apis/discovery.k8s.io/v1/namespaces/ops/endpointslices": clustertest.Reply(c.slices),
			})
			got := Backends(t.Context(), cluster, []snapshot.Gap{{Group: group, Resource: snapshot.All, Reason: snapshot.Unavailable}})
			if len(got) != 1 || got[0].State != c.want || got[0].Serves != group+"/v1" || got[0].Object.Name != "v1."+group {
				t.Errorf("got %+v, want one that is %s", got, c.want)
			}
		})
	}
}

func TestBackendsOfAConversionWebhook(t *testing.T) {
	gap := []snapshot.Gap{{Group: "example.com", Resource: "widgets", Reason: snapshot.Webhook}, {Resource: "secrets", Reason: snapshot.Forbidden}}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
	crd := object.Identity{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}
	for name, c := range map[string]struct {
		definition any
		want       reason.Backend
	}{
		"a webhook with a URL": {
			whole(crd.APIVersion, crd.Kind, "", crd.Name, values{"spec": values{"conversion": values{"webhook": values{"clientConfig": values{"url": "https://x"}}}}}),
			reason.Backend{Serves: "widgets.example.com", State: reason.BackendExternal},
		},
		"a definition that may not be read": {clustertest.Refuse(403, "Forbidden"), reason.Backend{Serves: "widgets.example.com", State: reason.BackendUnknown}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, _ := clustertest.Serve(t, answers{path: clustertest.Reply(c.definition)})
			got := Backends(t.Context(), cluster, gap)
			if len(got) != 1 || got[0].State != c.want.State || got[0].Serves != c.want.Serves || got[0].Object.Name != crd.Name {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestObjectsWithOwnersElsewhere(t *testing.T) {
	about := func(event, name string) values {
		return whole("v1", "Event", "ns", event, values{"involvedObject": values{"apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": name, "uid": "u-" + name}})
	}
	selected := ""
	cluster, _ := clustertest.Serve(t, answers{"/api/v1/events": func(r *http.Request) any {
		selected = r.URL.Query().Get("fieldSelector")
		return listing("v1", "Event", about("1", "b"), about("2", "a"), about("3", "b"))
	}})
	got, err := ObjectsWithOwnersElsewhere(t.Context(), cluster, "")
	var names []string
	for _, o := range got {
		names = append(names, o.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" || err != nil || selected != "reason=OwnerRefInvalidNamespace" {
		t.Errorf("%v, selected by %s:\n%s", err, selected, diff)
	}
}
