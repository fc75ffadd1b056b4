package discovery

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// aggregated returns a group as in aggregated discovery (since 1.30), preferred version first.
func aggregated(name string, versions ...apidiscovery.APIVersionDiscovery) apidiscovery.APIGroupDiscovery {
	return apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}, Versions: versions}
}

func versionOf(version string, resources ...string) apidiscovery.APIVersionDiscovery {
	v := apidiscovery.APIVersionDiscovery{Version: version}
	for _, r := range resources {
		v.Resources = append(v.Resources, apidiscovery.APIResourceDiscovery{
			Resource: r, ResponseKind: &metav1.GroupVersionKind{Kind: "K" + r}, Scope: apidiscovery.ScopeNamespace, Verbs: []string{"list"},
			Subresources: []apidiscovery.APISubresourceDiscovery{{Subresource: "status", ResponseKind: &metav1.GroupVersionKind{Kind: "K" + r}}},
		})
	}
	return v
}

// resourcesOf returns the same in unaggregated discovery.
func resourcesOf(version string, resources ...string) func(*http.Request) any {
	list := clustertest.Fields{"kind": "APIResourceList", "groupVersion": version}
	for _, r := range resources {
		all, _ := list["resources"].([]clustertest.Fields)
		list["resources"] = append(all,
			clustertest.Fields{"name": r, "kind": "K" + r, "namespaced": true, "verbs": []string{"list"}},
			clustertest.Fields{"name": r + "/status", "kind": "K" + r, "namespaced": true})
	}
	return clustertest.Reply(list)
}

// inProtobuf returns discovery as sent for a protobuf request.
func inProtobuf(t *testing.T, list *apidiscovery.APIGroupDiscoveryList) []byte {
	t.Helper()
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{Kind: kindGroupDiscovery}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(client.ProtobufPrefix), envelope...)
}

// The preferred version is the group's if it has the type, otherwise the first that does
// (docs/gc-semantics.md#monitored-types).
func TestPreferredVersions(t *testing.T) {
	core := &apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: kindGroupDiscovery}, Items: []apidiscovery.APIGroupDiscovery{aggregated("", versionOf("v1", "pods"))}}
	others := &apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: kindGroupDiscovery}, Items: []apidiscovery.APIGroupDiscovery{aggregated("g",
		versionOf("v1", "both"), versionOf("v2beta1", "both", "older", "newest"), versionOf("v1beta1", "both", "older", "oldest"),
	)}}
	version := func(v string) clustertest.Fields { return clustertest.Fields{"groupVersion": "g/" + v, "version": v} }
	for name, answers := range map[string]map[string]func(*http.Request) any{
		"of all groups in one answer, in protobuf": {"/api": clustertest.Reply(inProtobuf(t, core)), "/apis": clustertest.Reply(inProtobuf(t, others))},
		"of all groups in one answer, in JSON":     {"/api": clustertest.Reply(core), "/apis": clustertest.Reply(others)},
		"of each group in an answer of its own": {
			"/api": clustertest.Reply(clustertest.Fields{"kind": "APIVersions", "versions": []string{"v1"}}),
			"/apis": clustertest.Reply(clustertest.Fields{"kind": "APIGroupList", "groups": []clustertest.Fields{
				{"name": "g", "versions": []clustertest.Fields{version("v2beta1"), version("v1"), version("v1beta1")}, "preferredVersion": version("v1")},
			}}),
			"/api/v1":         resourcesOf("v1", "pods"),
			"/apis/g/v2beta1": resourcesOf("g/v2beta1", "both", "older", "newest"),
			"/apis/g/v1":      resourcesOf("g/v1", "both"),
			"/apis/g/v1beta1": resourcesOf("g/v1beta1", "both", "older", "oldest"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := clustertest.Serve(t, answers)
			result, err := Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, of := range result.Types {
				if !of.Namespaced || !of.Can("list") || of.Kind != "K"+of.Resource {
					t.Errorf("got %+v", of)
				}
				if of.Preferred {
					got[of.Resource] += of.Version
				}
			}
			want := map[string]string{"pods": "v1", "both": "v1", "older": "v2beta1", "newest": "v2beta1", "oldest": "v1beta1"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(result.Types) != 8 || len(result.Gaps) != 0 || result.Server != "v1.37.2" {
				t.Errorf("got %+v", result)
			}
		})
	}
}

func TestFailedGroupIsGap(t *testing.T) {
	pods := &apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: kindGroupDiscovery}, Items: []apidiscovery.APIGroupDiscovery{aggregated("", versionOf("v1", "pods"))}}
	stale := aggregated("metrics.k8s.io", apidiscovery.APIVersionDiscovery{Version: "v1", Freshness: apidiscovery.DiscoveryFreshnessStale})
	only := clustertest.Fields{"groupVersion": "metrics.k8s.io/v1", "version": "v1"}
	for name, test := range map[string]struct {
		answers map[string]func(*http.Request) any
		message string
	}{
		"in the answer that tells of all": {
			answers: map[string]func(*http.Request) any{
				"/api": clustertest.Reply(pods), "/apis": clustertest.Reply(&apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: kindGroupDiscovery}, Items: []apidiscovery.APIGroupDiscovery{stale}}),
			},
			message: "stale GroupVersion discovery: metrics.k8s.io/v1 (APIService v1.metrics.k8s.io)",
		},
		"when it is asked itself": {
			answers: map[string]func(*http.Request) any{
				"/api": clustertest.Reply(pods), "/apis": clustertest.Reply(clustertest.Fields{"kind": kindGroups, "groups": []clustertest.Fields{{"name": "metrics.k8s.io", "versions": []clustertest.Fields{only}, "preferredVersion": only}}}),
				"/apis/metrics.k8s.io/v1": clustertest.Reply(clustertest.Refuse(http.StatusServiceUnavailable, "ServiceUnavailable")),
			},
			message: "ServiceUnavailable (APIService v1.metrics.k8s.io)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := clustertest.Serve(t, test.answers)
			result, err := Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			want := []snapshot.Gap{{Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unavailable, Message: test.message}}
			if diff := cmp.Diff(want, result.Gaps); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(result.Types) != 1 {
				t.Errorf("got %+v", result.Types)
			}
		})
	}
}

func TestGroupGapsNameAPIService(t *testing.T) {
	down := errors.New("the server is currently unable to handle the request")
	got := groupGaps(map[schema.GroupVersion]error{
		{Group: "metrics.k8s.io", Version: "v1beta1"}: down,
		{Group: "metrics.k8s.io", Version: "v1"}:      down,
	})
	want := []snapshot.Gap{{
		Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unreadable,
		Message: down.Error() + " (APIService v1.metrics.k8s.io); " + down.Error() + " (APIService v1beta1.metrics.k8s.io)",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A server about which nothing is known must not count as one without types.
func TestUnreachableError(t *testing.T) {
	for name, answers := range map[string]map[string]func(*http.Request) any{
		"everything is refused": {"/api": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")), "/apis": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))},
		"pages for people":      {"/api": clustertest.Reply([]byte("<html>sign in</html>")), "/apis": clustertest.Reply([]byte("<html>sign in</html>"))},
		"protobuf that is cut":  {"/api": clustertest.Reply([]byte(client.ProtobufPrefix + "\x0a\xff")), "/apis": clustertest.Reply([]byte(client.ProtobufPrefix + "\x0a\xff"))},
		"nothing is served":     {"/api": clustertest.Reply(clustertest.Fields{"kind": kindVersions}), "/apis": clustertest.Reply(clustertest.Fields{"kind": kindGroups})},
		"other documents":       {"/api": clustertest.Reply(clustertest.Fields{"kind": kindGroups}), "/apis": clustertest.Reply(clustertest.Fields{"kind": "Status", "status": "Success"})},
		"empty documents":       {"/api": clustertest.Reply(clustertest.Fields{}), "/apis": clustertest.Reply(clustertest.Fields{})},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := clustertest.Serve(t, answers)
			result, err := Discover(t.Context(), c)
			var unreachable *UnreachableError
			if !errors.As(err, &unreachable) {
				t.Errorf("got %+v, %v", result, err)
			}
		})
	}
}

func TestUnreachableErrorSaysWhetherAServerAnswered(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	for name, c := range map[string]struct{ server, want string }{
		"its certificate is not trusted":     {server.URL, " answers with a certificate that is not trusted: "},
		"plain HTTP where HTTPS is expected": {strings.Replace(server.URL, "https", "http", 1), " answers, but not as an API server does: "},
	} {
		t.Run(name, func(t *testing.T) {
			live, err := client.New(&rest.Config{Host: c.server}, client.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Discover(t.Context(), live); err == nil || !strings.HasPrefix(err.Error(), c.server+c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The types of a failed root are unknown, not absent.
func TestFailedRootIsGap(t *testing.T) {
	core := snapshot.Gap{Resource: snapshot.All}
	others := snapshot.Gap{Group: snapshot.All, Resource: snapshot.All}
	for name, test := range map[string]struct {
		answers map[string]func(*http.Request) any
		want    snapshot.Gap
		reason  snapshot.ErrorClass
	}{
		"the core group is refused":            {map[string]func(*http.Request) any{"/api": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))}, core, snapshot.Forbidden},
		"the core group is not there":          {map[string]func(*http.Request) any{"/api": clustertest.Reply(clustertest.Refuse(http.StatusNotFound, "NotFound"))}, core, snapshot.Vanished},
		"the core group is an empty document":  {map[string]func(*http.Request) any{"/api": clustertest.Reply(clustertest.Fields{"kind": kindVersions})}, core, snapshot.Unreadable},
		"the core group is another one":        {map[string]func(*http.Request) any{"/api": clustertest.Reply(&apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: kindGroupDiscovery}, Items: []apidiscovery.APIGroupDiscovery{aggregated("g", versionOf("v1", "pods"))}})}, core, snapshot.Unreadable},
		"the other groups are refused":         {map[string]func(*http.Request) any{"/apis": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))}, others, snapshot.Forbidden},
		"the other groups are not there":       {map[string]func(*http.Request) any{"/apis": clustertest.Reply(clustertest.Refuse(http.StatusNotFound, "NotFound"))}, others, snapshot.Vanished},
		"the other groups are an empty list":   {map[string]func(*http.Request) any{"/apis": clustertest.Reply(clustertest.Fields{"kind": kindGroups, "groups": []clustertest.Fields{}})}, others, snapshot.Unreadable},
		"the other groups are a page of HTML":  {map[string]func(*http.Request) any{"/apis": clustertest.Reply([]byte("<html>sign in</html>"))}, others, snapshot.Unreadable},
		"the other groups are a Status":        {map[string]func(*http.Request) any{"/apis": clustertest.Reply(clustertest.Fields{"kind": "Status", "status": "Success"})}, others, snapshot.Unreadable},
		"the other groups are an empty object": {map[string]func(*http.Request) any{"/apis": clustertest.Reply(clustertest.Fields{})}, others, snapshot.Unreadable},
		"the other groups are protobuf, cut":   {map[string]func(*http.Request) any{"/apis": clustertest.Reply([]byte(client.ProtobufPrefix + "\x0a\xff"))}, others, snapshot.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := clustertest.Serve(t, test.answers)
			result, err := Discover(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Gaps) != 1 || result.Gaps[0].Reason != test.reason || result.Gaps[0].Group != test.want.Group || result.Gaps[0].Resource != test.want.Resource {
				t.Errorf("got the gaps %+v, want %v (%s)", result.Gaps, test.want, test.reason)
			}
		})
	}
}

// Three requests start at once.
func TestDiscoverySharesOneConnection(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(result http.ResponseWriter, r *http.Request) {
		group := "g"
		switch r.URL.Path {
		case "/version":
			result.Header().Set("Content-Type", "application/json")
			_, _ = result.Write([]byte(`{"gitVersion": "v1.36.3"}`))
			return
		case "/api":
			group = ""
		case "/apis":
		default:
			http.NotFound(result, r)
			return
		}
		result.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		_, _ = result.Write(inProtobuf(t, &apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: kindGroupDiscovery}, Items: []apidiscovery.APIGroupDiscovery{aggregated(group, versionOf("v1", "pods"))}}))
	}))
	server.EnableHTTP2 = true
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := client.New(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, client.Config{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Discover(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections were opened", n)
	}
}
