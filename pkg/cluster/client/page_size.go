package client

import (
	"time"

	"k8s.io/apimachinery/pkg/util/version"
)

const (
	// DefaultChunkSize is how many objects the first page requests.
	DefaultChunkSize = 5000
	// MaxChunkSize is up to how many objects one page requests if pages may grow.
	MaxChunkSize = 50_000
	// pageTime is how long a page should take. Pages grow while they are quicker, since for each
	// page the server goes through everything that follows; but no page should come near the
	// timeout.
	pageTime = time.Second
	// maxPageGrowth limits how much larger a page may be than the one before.
	maxPageGrowth = 4
)

// streamingRelease is the first release that sends a list while it encodes it, and serves one
// without pages from its cache (StreamingCollectionEncodingToProtobuf, ConsistentListFromCache).
// From then on pages cost more than they save: those behind the first are read from etcd, unless
// the type has changed since the last compaction.
var streamingRelease = version.MustParseGeneric("1.33")

// ForServer returns the client for a server of that version, such as v1.36.3. With
// Options.ChooseChunkSize it reads no pages from a server that streams lists. An unknown version
// changes nothing.
func (c *Client) ForServer(release string) *Client {
	if !c.Options.ChooseChunkSize || c.Options.ChunkSize == 0 {
		return c
	}
	if v, err := version.ParseGeneric(release); err != nil || v.LessThan(streamingRelease) {
		return c
	}
	out := *c
	out.Options.ChunkSize = 0
	return &out
}

// largestPage returns how many objects a page may request at the most.
func (o Options) largestPage() int64 {
	if o.ChooseChunkSize {
		return MaxChunkSize
	}
	return o.ChunkSize
}

// nextPageSize returns the limit for the page after one of that size and duration.
func nextPageSize(size, most int64, took time.Duration) int64 {
	if took >= pageTime {
		return max(1, size*int64(pageTime)/int64(took))
	}
	return min(most, size*min(maxPageGrowth, int64(pageTime/max(took, 1))))
}
