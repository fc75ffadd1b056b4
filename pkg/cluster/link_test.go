package cluster

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestALongWayIsMeasured(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	far := net.Dialer{Control: func(string, string, syscall.RawConn) error {
		time.Sleep(2 * nearby) // is the way
		return nil
	}}
	c, err := New(&rest.Config{Host: server.URL, Dial: far.DialContext}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.rest.(*rest.RESTClient).Client.CloseIdleConnections() })
	c.link.near.Store(true)
	_, _ = c.Discover(t.Context()) // there is nothing to be discovered
	if c.link.near.Load() {
		t.Errorf("a server %s away is near", 2*nearby)
	}
}

func TestListsAreCompressedOnALongWayOnly(t *testing.T) {
	for near, want := range map[bool]string{true: "identity", false: "gzip"} {
		var asked string
		c, _ := serve(t, map[string]func(*http.Request) any{"/api/v1/pods": func(r *http.Request) any {
			asked = r.Header.Get("Accept-Encoding")
			return list()
		}})
		c.link.near.Store(near)
		if _, err := c.list(context.Background(), job{of: pods}, false); err != nil {
			t.Fatal(err)
		}
		if asked != want {
			t.Errorf("near %t: asked for %s, want %s", near, asked, want)
		}
	}
}
