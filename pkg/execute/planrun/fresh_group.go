package planrun

import (
	"context"
	"sync"
)

// freshGroup shares the results of concurrent calls, as singleflight does, with one
// difference: a caller only gets the result of a call that began after its request. At
// most one call per key is in flight. It is safe for concurrent use.
type freshGroup[K comparable, T any] struct {
	call    func(context.Context, K) (T, error)
	mu      sync.Mutex
	running map[K]chan struct{}     // closed when the call has ended
	next    map[K]func() (T, error) // shared calls that have not begun
}

// do returns the result of a call that begins after do was called. All callers must
// pass the same context.
func (g *freshGroup[K, T]) do(ctx context.Context, key K) (T, error) {
	g.mu.Lock()
	if g.next == nil {
		g.running, g.next = map[K]chan struct{}{}, map[K]func() (T, error){}
	}
	if g.next[key] == nil {
		previous := g.running[key]
		g.next[key] = sync.OnceValues(func() (T, error) {
			if previous != nil {
				<-previous
			}
			ended := make(chan struct{})
			g.mu.Lock()
			delete(g.next, key)
			g.running[key] = ended
			g.mu.Unlock()
			defer func() {
				g.mu.Lock()
				defer g.mu.Unlock()
				delete(g.running, key)
				close(ended)
			}()
			return g.call(ctx, key)
		})
	}
	shared := g.next[key]
	g.mu.Unlock()
	return shared()
}
