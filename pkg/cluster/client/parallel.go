package client

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// InParallel asks for every one of in, limit at a time; answers are in the order of
// in. Once the context ends nothing new is asked, and the error is its.
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
	_ = group.Wait() // ask answers through out
	return out, ctx.Err()
}
