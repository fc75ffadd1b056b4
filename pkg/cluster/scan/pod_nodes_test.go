package scan

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const nodesPath, podsPath = "/api/v1/nodes", "/api/v1/namespaces/ns/pods/"

// podOn returns a Pod whose grace period ended at that time.
func podOn(node, name, deleted string) clustertest.Fields {
	return clustertest.Fields{
		"kind": "Pod", "apiVersion": "v1", "spec": clustertest.Fields{"nodeName": node},
		"metadata": clustertest.Fields{
			"name": name, "namespace": "ns", "uid": "uid-" + name, "resourceVersion": "5",
			"deletionTimestamp": deleted, "deletionGracePeriodSeconds": 30,
		},
	}
}

// nodeWith returns a Node with a condition Ready, which has this status.
func nodeWith(name, ready string) clustertest.Fields {
	return clustertest.Fields{
		"kind": "Node", "apiVersion": "v1", "metadata": clustertest.Fields{"name": name, "uid": "uid-" + name, "resourceVersion": "5"},
		"status": clustertest.Fields{"conditions": []clustertest.Fields{{"type": "Ready", "status": ready, "lastTransitionTime": "1969-12-31T20:00:00Z"}}},
	}
}

func missingNode(name string) clustertest.Fields {
	return clustertest.Status(http.StatusNotFound, "NotFound", "nodes not found", clustertest.Fields{"name": name, "kind": "nodes"})
}

// serveLostPods serves Pods past their grace period, each under its own name, and Nodes.
func serveLostPods(t *testing.T, more map[string]func(*http.Request) any, pods ...clustertest.Fields) (*client.Client, clustertest.Server) {
	t.Helper()
	verbs := []string{"delete", "get", "list", "watch"}
	items := make([]clustertest.Fields, len(pods))
	answers := map[string]func(*http.Request) any{
		"/api/v1": clustertest.Reply(clustertest.Fields{"kind": "APIResourceList", "groupVersion": "v1", "resources": []clustertest.Fields{
			{"name": "pods", "kind": "Pod", "singularName": "pod", "namespaced": true, "verbs": verbs},
			{"name": "nodes", "kind": "Node", "singularName": "node", "verbs": verbs},
		}}),
		nodesPath: clustertest.Reply(clustertest.List()),
	}
	for i, p := range pods {
		items[i] = item(p)
		answers[podsPath+p["metadata"].(clustertest.Fields)["name"].(string)] = clustertest.Reply(p)
	}
	answers["/api/v1/pods"] = clustertest.Reply(clustertest.List(items...))
	for path, a := range more {
		answers[path] = a
	}
	c, f := clustertest.Serve(t, answers)
	c.Config.ChunkSize = 0
	return c, f
}

func nodesOf(s *snapshot.Snapshot) map[string]*object.PodNode {
	out := map[string]*object.PodNode{}
	for _, o := range s.Objects {
		if o.Kind == "Pod" {
			out[o.Name] = o.Node
		}
	}
	return out
}

const (
	longAgo = "1969-12-31T23:00:00Z" // the scans are at 1970-01-01T00:00:00Z
	soon    = "1970-01-01T00:00:10Z"
)

func TestScanReadsNodesOfPodsPastTheirGracePeriod(t *testing.T) {
	forbidden := clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden"))
	c, f := serveLostPods(t, map[string]func(*http.Request) any{
		nodesPath:                clustertest.Reply(clustertest.List(item(nodeWith("down", "Unknown")), item(nodeWith("up", "True")))),
		nodesPath + "/down":      clustertest.Reply(nodeWith("down", "Unknown")),
		nodesPath + "/up":        clustertest.Reply(nodeWith("up", "True")),
		nodesPath + "/gone":      clustertest.Reply(missingNode("gone")),
		nodesPath + "/path":      clustertest.Reply(clustertest.Refuse(http.StatusNotFound, "NotFound")), // names no object
		nodesPath + "/forbidden": forbidden,
		podsPath + "unreadable":  forbidden,
		podsPath + "replaced":    clustertest.Reply(podOn("up", "other", longAgo)),
	},
		podOn("down", "a", longAgo), podOn("down", "b", longAgo), podOn("up", "c", longAgo), podOn("gone", "d", longAgo),
		podOn("path", "e", longAgo), podOn("forbidden", "f", longAgo), podOn("../secrets", "g", longAgo),
		podOn("up", "unreadable", longAgo), podOn("up", "replaced", longAgo), podOn("up", "stopping", soon),
	)
	down := &object.PodNode{Name: "down", State: object.NodeNotReady, Since: time.Unix(0, 0).UTC().Add(-4 * time.Hour)}
	unknown := func(name string) *object.PodNode { return &object.PodNode{Name: name, State: object.NodeUnknown} }
	s := take(t, c)
	want := map[string]*object.PodNode{
		"a": down, "b": down, "c": {Name: "up", State: object.NodeReady}, "d": {Name: "gone", State: object.NodeAbsent},
		"e": unknown("path"), "f": unknown("forbidden"), "g": unknown("../secrets"),
		"unreadable": nil, "replaced": nil, "stopping": nil,
	}
	if diff := cmp.Diff(want, nodesOf(s)); diff != "" {
		t.Error(diff)
	}
	if !s.Complete() {
		t.Errorf("gaps %v", s.Gaps)
	}
	if n := f.Count("GET " + nodesPath + "/down"); n != 1 {
		t.Errorf("the Node of two Pods was requested %d times", n)
	}
	if n := f.Count("GET " + podsPath + "stopping"); n != 0 {
		t.Errorf("a Pod in its grace period was requested %d times", n)
	}
}

func TestScanKnowsNoAbsentNodeIfNodesCannotBeListed(t *testing.T) {
	c, _ := serveLostPods(t, map[string]func(*http.Request) any{
		nodesPath:           clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
		nodesPath + "/gone": clustertest.Reply(missingNode("gone")),
	}, podOn("gone", "a", longAgo))
	want := map[string]*object.PodNode{"a": {Name: "gone", State: object.NodeUnknown}}
	if diff := cmp.Diff(want, nodesOf(take(t, c))); diff != "" {
		t.Error(diff)
	}
}

func TestScanLimitsHowManyPodsItRequestsWhole(t *testing.T) {
	pods := []clustertest.Fields{podOn("gone", "latest", "1969-12-31T23:59:00Z")}
	for i := range maxOverduePods {
		pods = append(pods, podOn("gone", fmt.Sprint("p-", i), longAgo))
	}
	c, f := serveLostPods(t, map[string]func(*http.Request) any{nodesPath + "/gone": clustertest.Reply(missingNode("gone"))}, pods...)
	got := nodesOf(take(t, c))
	if got["latest"] != nil || got["p-0"] == nil || f.Count("GET "+podsPath+"latest") != 0 {
		t.Errorf("the Node of the latest is %v, of another %v", got["latest"], got["p-0"])
	}
}

// requested are lists that are requested for every scan.
type requested struct{ *client.Client }

func (requested) Find(snapshot.Listing, string, string) *object.Object { return nil }

func TestMemoKeepsNodesUntilTheyMayHaveChanged(t *testing.T) {
	for name, c := range map[string]struct {
		nodes func(*http.Request) any // the list of Nodes
		node  any
		later time.Duration
		want  int // requests for the Node in two scans
	}{
		"an absent one while the list has none":    {clustertest.Reply(clustertest.List()), missingNode("n"), time.Hour, 1},
		"a listed one in the same state":           {clustertest.Reply(clustertest.List(item(nodeWith("n", "True")))), nodeWith("n", "True"), time.Hour, 1},
		"one that could not be read, for a while":  {clustertest.Reply(clustertest.List()), clustertest.Refuse(http.StatusForbidden, "Forbidden"), MaxLookupAge - 1, 1},
		"one that could not be read, not longer":   {clustertest.Reply(clustertest.List()), clustertest.Refuse(http.StatusForbidden, "Forbidden"), MaxLookupAge, 2},
		"one of a type without a list, not longer": {clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")), nodeWith("n", "True"), MaxLookupAge, 2},
	} {
		t.Run(name, func(t *testing.T) {
			conn, f := serveLostPods(t, map[string]func(*http.Request) any{nodesPath: c.nodes, nodesPath + "/n": clustertest.Reply(c.node)}, podOn("n", "a", longAgo))
			discovered, err := discovery.Discover(t.Context(), conn)
			if err != nil {
				t.Fatal(err)
			}
			memo, now := NewMemo(), time.Unix(0, 0)
			for range 2 {
				s, err := RunLive(t.Context(), Live{Lists: requested{conn}, Memo: memo}, conn, discovered, Scope{}, func() time.Time { return now })
				if err != nil {
					t.Fatal(err)
				}
				if n := nodesOf(s)["a"]; n == nil || n.Name != "n" {
					t.Errorf("the Node is %v", n)
				}
				now = now.Add(c.later)
			}
			if got := f.Count("GET " + nodesPath + "/n"); got != c.want {
				t.Errorf("the Node was requested %d times, want %d", got, c.want)
			}
			if got := f.Count("GET " + podsPath + "a"); got != 1 {
				t.Errorf("the Pod was requested %d times", got)
			}
		})
	}
}
