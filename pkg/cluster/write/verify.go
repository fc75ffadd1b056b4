package write

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Read answers an object as it is now, or nil where it is proven to be gone or
// replaced by another of its name, by two answers that agree.
func (w *Writer) Read(ctx context.Context, at object.Identity) (*object.Object, error) {
	return w.reader().ReadState(ctx, w.view, at)
}

// Verify reads an object and everything that its references lead to, as a
// snapshot that holds this object alone. It holds none where the object is
// proven to be gone or replaced. Its lists and gaps are those of the look that
// the Writer rests on: they say what a 404 proves. What the lists showed is not
// believed: every reference that can be asked for was asked for anew.
func (w *Writer) Verify(ctx context.Context, at object.Identity) (*snapshot.Snapshot, error) {
	o, err := w.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	s := &snapshot.Snapshot{Server: w.seen.Server, Types: w.seen.Types, Listed: w.seen.Listed, Gaps: w.seen.Gaps}
	if o != nil {
		s.Objects = []*object.Object{o}
		unknown := func(types.UID) *object.Object { return nil }
		s.Lookups, err = w.reader().LookupAll(ctx, w.view, w.view.Unverified(s.Objects, unknown), s.Objects, unknown)
		if err != nil {
			return nil, err
		}
	}
	s.Taken = time.Now().UTC().Truncate(time.Second)
	slices.SortFunc(s.Lookups, func(a, b snapshot.Lookup) int { return a.Compare(b.Coordinates) }) // the other lists are shared, and sorted
	return s, nil
}

// Relist lists everything again, of the types that discovery names now: who depends on
// whom. A type that was there and is named no more is a gap, unless it is proven that it
// was taken away. The error may be a *Blind or an *Unreachable.
func (w *Writer) Relist(ctx context.Context) (*snapshot.Snapshot, error) {
	world, err := discovery.Discover(ctx, w.client)
	if err != nil {
		return nil, err
	}
	return scan.Run(ctx, w.client, world, scan.Scope{}, time.Now)
}

// Contents lists what the deletion of a Namespace or CustomResourceDefinition takes along.
func (w *Writer) Contents(ctx context.Context, of object.Identity) (*snapshot.Snapshot, error) {
	return scan.Contents(ctx, w.client, of)
}

// The pauses between two questions of Await.
const firstPause, longestPause = 250 * time.Millisecond, 2 * time.Second

// WaitForGone returns nil when the object is gone or replaced, and the context's error
// when that ends before. It goes on asking while the server is out of order, but
// not where the answer would stay the same: the error is then a *Failure.
func (w *Writer) WaitForGone(ctx context.Context, at object.Identity) error {
	for pause := firstPause; ; pause = min(pause*2, longestPause) {
		o, err := w.Read(ctx, at)
		var failed *client.RequestError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && o == nil:
			return nil
		case errors.As(err, &failed) && isLasting(failed.Reason):
			failed.Verb = "wait for"
			return failed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func isLasting(r snapshot.ErrorClass) bool {
	return r == snapshot.Forbidden || r == snapshot.Unverified || r == snapshot.Vanished || r == snapshot.Refused
}

// reader returns a reader for one question. It is not kept, so that a list which failed is
// tried again for the next.
func (w *Writer) reader() *scan.ObjectReader {
	return scan.NewObjectReader(w.client, w.seen)
}
