package cluster

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	// manifestBatch is how many objects that are asked for one by one are held.
	manifestBatch = 16
	// manifestPage is how many whole objects are asked for at a time; twice as many
	// are held. The first page is a shorter one: a page that is too long is not read,
	// and its objects are asked for one by one.
	manifestPage = 500
	firstPage    = 100
)

// Manifests reads whole objects and passes them on, one after the other, with
// their metadata as it is now: never concurrently, and in the same order for the
// same answers. The JSON is the server's to the byte, save that apiVersion and
// kind are put into items of lists that lack them; it is the receiver's to keep.
//
// What is gone or was replaced since is left out. failed says by UID what could
// not be read, each time a *Failure. The error is the context's or each's, which
// ends the reading.
func (c *Cluster) Manifests(ctx context.Context, seen *snapshot.Snapshot, wanted []object.Identity, each func(object.Object, json.RawMessage) error) (failed map[types.UID]error, err error) {
	c = c.withMemory()
	m := &manifests{
		Cluster: c, pass: each, failed: map[types.UID]error{}, wanted: make(map[types.UID]object.Identity, len(wanted)),
		look: &scan{Cluster: c, origin: seen, probes: map[probeKey]func() error{}}, view: snapshot.NewView(seen),
	}
	for _, o := range wanted {
		m.wanted[o.UID] = o
	}
	lists, single := divide(m.view, seen, wanted, kindOf, kindIn)
	for _, l := range lists {
		rest, err := m.list(ctx, l)
		if err != nil {
			return m.failed, err
		}
		single = append(single, rest...)
	}
	return m.failed, m.single(ctx, single)
}

// manifests is one reading under way.
type manifests struct {
	*Cluster
	look   *scan
	view   *snapshot.View
	pass   func(object.Object, json.RawMessage) error
	wanted map[types.UID]object.Identity // what was not passed on yet
	failed map[types.UID]error
}
