package planrun

import (
	"context"
	"sync"
	"testing"
)

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
				t.Errorf("requested when %d calls had begun, got the result of call %d", before, got)
			}
		})
	}
	for range 200 {
		release <- struct{}{}
	}
	all.Wait()
	if len(f.next) > 0 {
		t.Errorf("left over: %v", f.next)
	}
}
