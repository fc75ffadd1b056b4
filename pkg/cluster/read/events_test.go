package read

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var worker = object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "worker", UID: "u"}

func told(minute int, reason string) clustertest.Fields {
	return clustertest.Fields{
		"metadata": meta(strings.ToLower(reason)), "involvedObject": clustertest.Fields{"apiVersion": "v1", "uid": "u"}, "type": "Normal", "reason": reason,
		"message": "it did", "source": clustertest.Fields{"component": "kubelet"}, "lastTimestamp": fmt.Sprintf("2026-11-20T08:%02d:00Z", minute),
	}
}

func listOf(items ...clustertest.Fields) clustertest.Fields {
	return clustertest.Fields{"kind": "EventList", "apiVersion": "v1", "metadata": clustertest.Fields{"resourceVersion": "10"}, "items": items}
}

func meta(name string) clustertest.Fields {
	return clustertest.Fields{"name": name, "namespace": "ns", "uid": "uid-" + name, "resourceVersion": "5"}
}

func reasons(found []object.ClusterEvent) string {
	var out []string
	for _, e := range found {
		out = append(out, e.Reason)
	}
	return strings.Join(out, " ")
}

func TestEventsAreSelectedByObject(t *testing.T) {
	for name, c := range map[string]struct {
		of   object.Identity
		path string
		want string
	}{
		"a namespaced object":      {worker, "/api/v1/namespaces/ns/events", "involvedObject.kind=Pod,involvedObject.name=worker"},
		"a cluster-scoped object":  {object.Identity{APIVersion: "v1", Kind: "Node", Name: "n"}, "/api/v1/namespaces/default/events", "involvedObject.kind=Node,involvedObject.name=n"},
		"a UID and no more":        {object.Identity{UID: "u"}, "/api/v1/events", "involvedObject.uid=u"},
		"a name made for mischief": {object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "a,b=c"}, "/api/v1/namespaces/ns/events", `involvedObject.kind=Pod,involvedObject.name=a\,b\=c`},
	} {
		t.Run(name, func(t *testing.T) {
			asked := ""
			cluster, _ := clustertest.Serve(t, map[string]func(*http.Request) any{c.path: func(r *http.Request) any {
				asked = r.URL.Query().Get("fieldSelector")
				return listOf()
			}})
			if found, err := Events(context.Background(), cluster, c.of); err != nil || len(found) > 0 {
				t.Fatalf("got %v, %v", found, err)
			}
			if asked != c.want {
				t.Errorf("asked for %s, want %s", asked, c.want)
			}
		})
	}
}

func TestLatestEventsComeLast(t *testing.T) {
	var first, second []clustertest.Fields
	for i := range 15 {
		first = append(first, told(59-i, fmt.Sprintf("late%d", 59-i)))
		second = append(second, told(i, fmt.Sprintf("early%d", i)))
	}
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/namespaces/ns/events": func(r *http.Request) any {
		if r.URL.Query().Get("continue") == "more" {
			return listOf(second...)
		}
		page := listOf(first...)
		page["metadata"] = clustertest.Fields{"resourceVersion": "10", "continue": "more"}
		return page
	}})
	found, err := Events(context.Background(), c, worker)
	if err != nil || len(found) != maxEvents || found[len(found)-1].Reason != "late59" || found[0].Reason != "early10" {
		t.Errorf("got %d, %s, %v", len(found), reasons(found), err)
	}
}

func TestEventsOfOtherGroupsAreLeftOut(t *testing.T) {
	other := told(1, "other")
	other["involvedObject"] = clustertest.Fields{"apiVersion": "example.com/v1", "uid": "x"}
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/namespaces/ns/events": clustertest.Reply(listOf(other, told(2, "its")))})
	found, err := Events(context.Background(), c, worker)
	if err != nil || reasons(found) != "its" {
		t.Errorf("got %s, %v", reasons(found), err)
	}
}

func TestEventOfASeriesIsAsOldAsItsLatest(t *testing.T) {
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/namespaces/ns/events": clustertest.Reply(listOf(clustertest.Fields{
			"metadata": meta("failed"), "involvedObject": clustertest.Fields{"apiVersion": "v1", "uid": "u"}, "type": "Warning", "reason": "Failed", "message": "it did not",
			"reportingComponent": "example.com/c", "eventTime": "2026-11-20T08:00:00.000000Z", "series": clustertest.Fields{"count": 7, "lastObservedTime": "2026-11-20T08:30:00.000000Z"},
		})),
	})
	found, err := Events(context.Background(), c, worker)
	if err != nil {
		t.Fatal(err)
	}
	found[0].Last = found[0].Last.UTC()
	want := []object.ClusterEvent{{Last: found[0].Last, Count: 7, Type: "Warning", Reason: "Failed", Source: "example.com/c", Message: "it did not", UID: "u"}}
	if diff := cmp.Diff(want, found); diff != "" || found[0].Last.Minute() != 30 {
		t.Errorf("%s %v", diff, found[0].Last)
	}
}

func TestUnreadableEventsAreAnError(t *testing.T) {
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/namespaces/ns/events": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
	})
	_, err := Events(context.Background(), c, worker)
	var failed *client.RequestError
	if !errors.As(err, &failed) || failed.Reason != snapshot.Forbidden || !strings.HasPrefix(err.Error(), "read the Events about Pod/worker in namespace ns: ") {
		t.Errorf("got %v", err)
	}
}
