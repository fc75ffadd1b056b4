package planrun

import (
	"context"
	"sync"
	"testing"
)

// Every answer is of a taking that began after it was asked for, no two of one
// key are taken at once, and those who wait share.
func TestFreshGroupSharesOnlyLaterCalls(t *testing.T) {
	var mu sync.Mutex
	begun, running := 0, 0
	release := make(chan struct{}, 1000)
	f := freshGroup[string, int]{call: func(context.Context, string) (int, error) {
		mu.Lock()
		begun++
		mine := begun
		if running++; running > 1 {
			t.Error("two at once")
		}
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		return mine, nil
	}}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			mu.Lock()
			before := begun
			mu.Unlock()
			if got, _ := f.do(t.Context(), "key"); got <= before {
				t.Errorf("asked when %d had begun, answered by number %d", before, got)
			}
		})
	}
	for range 200 {
		release <- struct{}{}
	}
	all.Wait()
	if len(f.next) > 0 || len(f.running) > 0 {
		t.Errorf("left over: %v, %v", f.next, f.running)
	}
}
