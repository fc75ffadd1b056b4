package write

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Read returns an object as it is now. It returns nil if the object is proven to be gone or, by
// two answers that agree, replaced by another object of the same name.
func (w *Writer) Read(ctx context.Context, at object.Identity) (*object.Object, error) {
	return w.reader().ReadState(ctx, w.view, at)
}

// Verify reads an object and looks up everything its references lead to, ignoring what the scan
// found there. The result is a snapshot with this object alone, or without objects if it is
// proven to be gone or replaced. Lists and gaps are those of the scan: they decide what a 404
// proves.
func (w *Writer) Verify(ctx context.Context, at object.Identity) (*snapshot.Snapshot, error) {
	o, err := w.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	s := &snapshot.Snapshot{Server: w.seen.Server, Types: w.seen.Types, Listed: w.seen.Listed, Gaps: w.seen.Gaps}
	if o != nil {
		s.Objects = []*object.Object{o}
		unknown := func(types.UID) *object.Object { return nil }
		s.Lookups, err = w.reader().LookupAll(ctx, w.view, w.view.UnverifiedOwners(s.Objects, unknown), s.Objects, unknown)
		if err != nil {
			return nil, err
		}
	}
	s.Taken = time.Now().UTC().Truncate(time.Second)
	slices.SortFunc(s.Lookups, func(a, b snapshot.Lookup) int { return a.Compare(b.Coordinates) }) // the other lists are shared and sorted
	return s, nil
}

// Relist discovers and scans the whole cluster again. A type that is missing now is a gap, unless
// it is proven to be removed. The error may be a *scan.NothingReadableError or a
// *discovery.UnreachableError.
func (w *Writer) Relist(ctx context.Context) (*snapshot.Snapshot, error) {
	return scan.Cluster(ctx, w.client, nil, scan.Scope{}, time.Now)
}

// Contents lists what the deletion of a Namespace or CustomResourceDefinition also deletes.
func (w *Writer) Contents(ctx context.Context, of object.Identity) (*snapshot.Snapshot, error) {
	return scan.Contents(ctx, w.client, of)
}

// Pauses between two requests while waiting.
const firstPause, longestPause = 250 * time.Millisecond, 2 * time.Second

// WaitForGone returns nil when the object is gone or replaced, and the context's error if that
// ends first. It keeps asking while the server fails, unless the error is permanent: it is then a
// *client.RequestError.
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
		if err := client.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

func isLasting(r snapshot.ErrorClass) bool {
	return r == snapshot.Forbidden || r == snapshot.Unverified || r == snapshot.Vanished || r == snapshot.Refused
}

// reader returns a new reader for each question, so that a failed list is tried again.
func (w *Writer) reader() *scan.ObjectReader {
	return scan.NewObjectReader(w.client, w.seen)
}
