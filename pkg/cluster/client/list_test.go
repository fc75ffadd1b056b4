package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestListsHaveNoPagesIfTheServerStreamsThem(t *testing.T) {
	chosen := Config{ChunkSize: DefaultChunkSize, ChooseChunkSize: true}
	for name, test := range map[string]struct {
		o       Config
		release string
		want    int64
	}{
		"since 1.33":                    {chosen, "v1.33.0", 0},
		"also with a suffix":            {chosen, "v1.36.3-eks-5b5ee1a", 0},
		"not before":                    {chosen, "v1.32.9", DefaultChunkSize},
		"nor if the version is unknown": {chosen, "", DefaultChunkSize},
		"nor if a size is asked for":    {Config{ChunkSize: 500}, "v1.36.3", 500},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(&rest.Config{Host: "https://127.0.0.1:1"}, test.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.ForServer(test.release).Config.ChunkSize; got != test.want {
				t.Errorf("pages of %d objects, want %d", got, test.want)
			}
		})
	}
}

func TestAnswersAreCompressedUnlessServerIsThisMachine(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}`)
	}))
	t.Cleanup(server.Close)
	toServer := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	for name, test := range map[string]struct {
		config rest.Config
		want   string
	}{
		"a name":                   {rest.Config{Host: "http://api.example.com"}, "gzip"},
		"a private address":        {rest.Config{Host: "http://10.96.0.1:80"}, "gzip"},
		"unless it was turned off": {rest.Config{Host: "http://api.example.com", DisableCompression: true}, ""},
		"localhost":                {rest.Config{Host: "http://localhost:8001"}, ""},
		"a loopback address":       {rest.Config{Host: "http://127.0.0.2:6443"}, ""},
		"one of IPv6":              {rest.Config{Host: "http://[::1]:6443"}, ""},
	} {
		test.config.Dial = toServer
		c, err := New(&test.config, Config{Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.List(t.Context(), Query{Type: podType}, false).Err; err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestPageThatDoesNotComeEndsTheListInTime(t *testing.T) {
	ended := make(chan struct{})
	defer close(ended)
	c := connectWith(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		if r.URL.Query().Get("continue") != "" {
			<-ended
			return
		}
		_, _ = w.Write(pageOf(t, "more", "a"))
	}, Config{Timeout: 200 * time.Millisecond})
	list := c.List(t.Context(), Query{Type: podType}, false)
	if !errors.Is(list.Err, context.DeadlineExceeded) || len(list.Objects) != 1 {
		t.Errorf("%d objects, %v, want %v", len(list.Objects), list.Err, context.DeadlineExceeded)
	}
}
