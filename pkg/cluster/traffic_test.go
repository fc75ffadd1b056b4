package cluster

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestVerbOf(t *testing.T) {
	for path, want := range map[string]verb{
		"GET /api":                                             toDiscover,
		"GET /api/v1":                                          toDiscover,
		"GET /apis/apps/v1":                                    toDiscover,
		"GET /version":                                         toDiscover,
		"GET /api/v1/pods?limit=500":                           toList,
		"GET /apis/apps/v1/deployments":                        toList,
		"GET /api/v1/namespaces":                               toList,
		"GET /api/v1/namespaces/shop/pods":                     toList,
		"GET /api/v1/namespaces/shop/pods?watch=true":          toWatch,
		"GET /api/v1/namespaces/shop":                          toGet,
		"GET /api/v1/nodes/a":                                  toGet,
		"GET /apis/apps/v1/namespaces/shop/deployments/web":    toGet,
		"DELETE /api/v1/nodes/a":                               toDelete,
		"PATCH /apis/apps/v1/namespaces/shop/deployments/web":  toPatch,
		"POST /apis/apps/v1/namespaces/shop/deployments":       toCreate,
		"GET /clusters/here/api/v1/nodes/a":                    toGet,
		"GET /clusters/here/apis/apps/v1/namespaces/shop/jobs": toList,
	} {
		method, at, _ := strings.Cut(path, " ")
		base := ""
		if strings.HasPrefix(at, "/clusters/here") {
			base = "/clusters/here"
		}
		if got := verbOf(httptest.NewRequest(method, at, nil), base); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestTrafficIsCounted(t *testing.T) {
	body := pageOf(t, "", "a", "b")
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		switch asked.Add(1) {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			half(body)(w)
		default: // packed, where the client can unpack
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(body)
			_ = z.Close()
		}
	}))
	t.Cleanup(server.Close)
	var traffic RequestStats
	if got := traffic.String(); got != "requests: 0" {
		t.Errorf("at first: %s", got)
	}
	c, err := New(&rest.Config{Host: server.URL}, Options{Timeout: 10 * time.Second, Traffic: &traffic})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.rest.(*rest.RESTClient).Client.CloseIdleConnections() })
	if err := c.list(context.Background(), job{of: pods}, false).err; err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("requests: 3 (list 3), not 2xx: 1, broken off: 1, asked again: 2, bytes unpacked: %d, seconds: ", len(body)/2+len(body))
	if got := traffic.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
