package client

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
		"GET /api":                                             verbDiscovery,
		"GET /api/v1":                                          verbDiscovery,
		"GET /apis/apps/v1":                                    verbDiscovery,
		"GET /version":                                         verbDiscovery,
		"GET /api/v1/pods?limit=500":                           verbList,
		"GET /apis/apps/v1/deployments":                        verbList,
		"GET /api/v1/namespaces":                               verbList,
		"GET /api/v1/namespaces/shop/pods":                     verbList,
		"GET /api/v1/namespaces/shop/pods?watch=true":          verbWatch,
		"GET /api/v1/namespaces/shop":                          verbGet,
		"GET /api/v1/nodes/a":                                  verbGet,
		"GET /apis/apps/v1/namespaces/shop/deployments/web":    verbGet,
		"DELETE /api/v1/nodes/a":                               verbDelete,
		"PATCH /apis/apps/v1/namespaces/shop/deployments/web":  verbPatch,
		"POST /apis/apps/v1/namespaces/shop/deployments":       verbCreate,
		"GET /clusters/here/api/v1/nodes/a":                    verbGet,
		"GET /clusters/here/apis/apps/v1/namespaces/shop/jobs": verbList,
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

func TestRequestStats(t *testing.T) {
	body := pageOf(t, "", "a", "b")
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		switch asked.Add(1) {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			half(body)(w)
		default:
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(body)
			_ = z.Close()
		}
	}))
	t.Cleanup(server.Close)
	var stats RequestStats
	if got := stats.String(); got != "requests: 0" {
		t.Errorf("at first: %s", got)
	}
	c, err := New(&rest.Config{Host: server.URL}, Options{Timeout: 10 * time.Second, Stats: &stats})
	if err != nil {
		t.Fatal(err)
	}
	c.compression.slowLink.Store(true) // so that it requests compressed lists
	if err := c.List(context.Background(), Query{Type: podType}, false).Err; err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("requests: 3 (list 3), not 2xx: 1, broken off: 1, asked again: 2, bytes unpacked: %d, seconds: ", len(body)/2+len(body))
	if got := stats.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
