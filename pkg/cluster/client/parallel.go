package client

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// InParallel calls ask for every element, limit at a time, and returns the results in the same
// order. Once the context ends it makes no new calls and returns the context's error.
func InParallel[T, R any](ctx context.Context, limit int, in []T, ask func(T) R) ([]R, error) {
	out := make([]R, len(in))
	var group errgroup.Group
	group.SetLimit(limit)
	for i, of := range in {
		group.Go(func() error {
			if ctx.Err() == nil {
				out[i] = ask(of)
			}
			return nil
		})
	}
	_ = group.Wait() // ask reports errors in its result
	return out, ctx.Err()
}
