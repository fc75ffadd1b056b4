// Package client sends requests to a Kubernetes API server and verifies that each answer is what
// was asked for. It limits the memory, time and number of requests, reads lists page by page, and
// classifies errors.
//
// All packages below pkg/cluster use it. A Client is safe for concurrent use. Every function
// stops when its context ends and then returns the context's error.
package client

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Config configures a Client. The zero value is usable.
type Config struct {
	ChunkSize        int64         // objects per page; 0: no pages
	ChooseChunkSize  bool          // a server that streams lists is asked for no pages; see ForServer
	Concurrency      int           // requests in flight; at least 1
	SmallConcurrency int           // same, for requests about one object or namespace; 0: Concurrency
	Timeout          time.Duration // per request, including retries, and until a watch begins; 0: none
	MaxMemory        int64         // bytes held by one scan or backup; 0: DefaultMaxMemory
	// Progress is called after every list, never concurrently. It may be nil.
	Progress func(ScanProgress)
	// maxAnswer replaces maxAnswerBytes in tests, if it is not 0.
	maxAnswer int64
}

// ScanProgress counts the finished lists of a scan and their objects.
type ScanProgress struct{ Done, Total, Objects int }

// Client is a connection to one API server.
type Client struct {
	Config   Config
	Server   string
	REST     rest.Interface
	metadata metadata.Interface // used for watches
	// DiscoveredTypes is shared by all scans of a connection.
	DiscoveredTypes *TypeHistory
	Memory          *Memory // a scan or a backup has its own
	// Crowded are namespaces whose large objects are held without their owner references, since there is not
	// enough memory for them. Each is a gap.
	Crowded []string
}

// New returns a client for the server of a config without sending a request. Client-side rate
// limits are off: the server's priority and fairness applies.
func New(config *rest.Config, o Config) (*Client, error) {
	config = metadata.ConfigFor(config)
	config.QPS, config.Burst = -1, -1
	config.Timeout = 0 // of the HTTP client, which would end watches, too; contexts limit all other requests
	config.RateLimiter = nil
	config.WarningHandler = rest.NoWarnings{}
	if o.MaxMemory < 1 {
		o.MaxMemory = DefaultMaxMemory
	}
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	if isLoopback(at.Hostname()) {
		config.DisableCompression = true // compressing costs more than sending
	}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return &limitingTransport{rt, o.MaxMemory, cmp.Or(o.maxAnswer, maxAnswerBytes)}
	})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	// Following a redirect would send the credentials to another server.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	raw := rest.CopyConfig(config)
	raw.GroupVersion = nil
	r, err := rest.UnversionedRESTClientForConfigAndClient(raw, client)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	m, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	o.Concurrency = max(o.Concurrency, 1)
	if o.SmallConcurrency < 1 {
		o.SmallConcurrency = o.Concurrency
	}
	c := &Client{
		Config: o, Server: config.Host, REST: r, metadata: m,
		DiscoveredTypes: &TypeHistory{Types: map[schema.GroupResource]bool{}, Custom: map[schema.GroupResource]bool{}},
	}
	return c.WithOwnMemory(), nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// WithOwnMemory returns a copy of the client that counts memory separately.
func (c *Client) WithOwnMemory() *Client {
	own := *c
	own.Memory = &Memory{limit: c.Config.MaxMemory, large: map[string]int64{}}
	return &own
}

// TypeHistory holds all types that discovery has returned on this connection.
type TypeHistory struct {
	Mu     sync.Mutex // guards the maps
	Types  map[schema.GroupResource]bool
	Custom map[schema.GroupResource]bool
}
