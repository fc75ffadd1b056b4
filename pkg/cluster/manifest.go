package cluster

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	// maxConcurrentManifests is how many objects that are asked for one by one are held.
	maxConcurrentManifests = 16
	// manifestPageSize is how many whole objects are asked for at a time; twice as many
	// are held. The first page is a shorter one: a page that is too long is not read,
	// and its objects are asked for one by one.
	manifestPageSize      = 500
	firstManifestPageSize = 100
)

// Manifests reads whole objects and passes them on, one after the other, with
// their metadata as it is now: never concurrently, and in the same order for the
// same answers. The JSON is the server's to the byte, save that apiVersion and
// kind are put into items of lists that lack them; it is the receiver's to keep.
//
// What is gone or was replaced since is left out. failed says by UID what could
// not be read, each time a *Failure. The error is the context's or each's, which
// ends the reading.
func Manifests(ctx context.Context, c *Client, seen *snapshot.Snapshot, wanted []object.Identity, each func(object.Object, json.RawMessage) error) (failed map[types.UID]error, err error) {
	c = c.WithOwnMemory()
	m := &manifestReader{
		client: c, each: each, failed: map[types.UID]error{}, wanted: make(map[types.UID]object.Identity, len(wanted)),
		look: &scanner{client: c, origin: seen, probes: map[probeKey]func() error{}}, view: snapshot.NewView(seen),
	}
	for _, o := range wanted {
		m.wanted[o.UID] = o
	}
	lists, single := SplitBatches(m.view, seen, wanted, KindOf, KindInNamespace)
	for _, l := range lists {
		rest, err := m.list(ctx, l)
		if err != nil {
			return m.failed, err
		}
		single = append(single, rest...)
	}
	return m.failed, m.readByName(ctx, single)
}

// manifestReader is one reading under way.
type manifestReader struct {
	client *Client
	look   *scanner
	view   *snapshot.View
	each   func(object.Object, json.RawMessage) error
	wanted map[types.UID]object.Identity // what was not passed on yet
	failed map[types.UID]error
}
