// Package client talks to a Kubernetes API server through client-go: discovery,
// metadata-only lists, lookups of single owners, the server's own table rendering
// of what is shown, whole objects for a backup, and writes to single objects.
//
// Every write is bound to the UID and the resourceVersion of the object that it
// is about. What is written, and why, is the caller's to decide.
//
// It turns answers into a snapshot and failures into gaps; it classes errors,
// and it is the one place that decides when a 404 proves absence. It judges no
// reference and prints nothing. All concurrency of a look lives here; results
// are collected by index and sorted, never in the order of arrival.
//
// A Cluster is safe for concurrent use. Every method stops when its context
// ends, and then answers the context's error.
package client

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Options tunes how a cluster is read. The zero value is usable.
type Options struct {
	ChunkSize   int64         // objects a page; 0: one page holds all
	Large       int64         // up to how many objects a page where they come quickly, behind the first; 0: as ChunkSize
	Concurrency int           // requests in flight; below 1: one
	Small       int           // the same of requests for one object, or in one namespace; 0: as Concurrency
	Timeout     time.Duration // of one request, retries and waiting included; 0: none
	MaxMemory   int64         // bytes that a scan or a backup may hold; 0: DefaultMaxMemory
	// Progress is told of every list that ended. It may be nil, and is never
	// called concurrently.
	Progress func(Progress)
	// Traffic counts every request. It may be nil.
	Traffic *RequestStats
}

// Progress counts the lists of a look.
type Progress struct{ Done, Total, Objects int }

// Client talks to one API server.
type Client struct {
	Options          Options
	Server           string
	REST             rest.Interface
	Metadata         metadata.Interface // for watches
	compression      *compression
	resourceVersions *resourceVersions
	// DiscoveredTypes is shared by all scans of a connection, as states is.
	DiscoveredTypes *TypeHistory
	Memory          *Memory // of what is under way; a scan and a backup have their own
}

// New prepares to read the server of a config; it asks nothing yet. Throttling
// on the client's side is off: the server's priority and fairness governs.
func New(config *rest.Config, o Options) (*Client, error) {
	config = metadata.ConfigFor(config)
	config.QPS, config.Burst = -1, -1
	config.RateLimiter = nil
	config.WarningHandler = rest.NoWarnings{}
	if o.MaxMemory < 1 {
		o.MaxMemory = DefaultMaxMemory
	}
	if err := wrap(config, o); err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	// An answer from elsewhere is not the server's, and the credentials are not for elsewhere.
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
	if o.Small < 1 {
		o.Small = o.Concurrency
	}
	c := &Client{Options: o, Server: config.Host, REST: r, Metadata: m, compression: &compression{}, resourceVersions: &resourceVersions{}, DiscoveredTypes: &TypeHistory{}}
	return c.WithOwnMemory(), nil
}

// WithOwnMemory is the same with memory of its own.
func (c *Client) WithOwnMemory() *Client {
	own := *c
	own.Memory = &Memory{limit: c.Options.MaxMemory}
	return &own
}

// wrap has every answer bounded and verified and, unless o.Traffic is nil, every request
// counted.
func wrap(config *rest.Config, o Options) error {
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return fmt.Errorf("prepare a client for %s: %w", config.Host, err)
	}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		if o.Traffic != nil {
			rt = &metricsTransport{rt, at.Path, o.Traffic}
		}
		return &limitingTransport{rt, at.Path, o.MaxMemory}
	})
	return nil
}
