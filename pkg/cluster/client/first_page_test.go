package client_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
)

const firstPageLimit = 500

func TestFirstPageReadsOnePage(t *testing.T) {
	requests := 0
	c := clustertest.Connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if r.URL.Path != "/api/v1/namespaces/ns/pods" || limit != firstPageLimit {
			t.Errorf("it asks for %s", r.URL)
		}
		var items []clustertest.Fields
		for i := range limit {
			items = append(items, clustertest.Item(fmt.Sprintf("pod-%03d", i)))
		}
		page := clustertest.List(items...)
		page["metadata"] = clustertest.Fields{"resourceVersion": "10", "continue": "more"}
		clustertest.ReplyWith(200, page)(w, r)
	}), client.Config{Timeout: time.Minute})
	got, err := c.FirstPage(t.Context(), client.Query{Type: clustertest.Pods, Namespace: "ns"}, firstPageLimit)
	if err != nil || requests != 1 || len(got) != firstPageLimit || got[0].Name != "pod-000" {
		t.Errorf("%d objects after %d requests, %v", len(got), requests, err)
	}
}

func TestFirstPageError(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a refusal":                    clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "no", nil)),
		"a list of something else":     clustertest.ReplyWith(200, clustertest.Fields{"apiVersion": "v1", "kind": "SecretList", "metadata": clustertest.Fields{"resourceVersion": "10"}, "items": []any{}}),
		"objects in another namespace": clustertest.ReplyWith(200, clustertest.List(clustertest.Item("a"))),
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.Connect(t, answer, client.Config{Timeout: time.Minute})
			got, err := c.FirstPage(t.Context(), client.Query{Type: clustertest.Pods, Namespace: "other"}, firstPageLimit)
			if err == nil || got != nil {
				t.Errorf("objects %v and error %v", got, err)
			}
		})
	}
}
