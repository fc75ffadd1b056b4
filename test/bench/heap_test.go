package main

import "testing"

func TestHeapOfMetrics(t *testing.T) {
	const metrics = `# TYPE go_gc_duration_seconds summary
go_gc_duration_seconds{quantile="0"} 2.6e-05
go_gc_duration_seconds_sum 0.01
go_gc_duration_seconds_count 33
# TYPE go_memstats_alloc_bytes_total counter
go_memstats_alloc_bytes 1e+03
go_memstats_alloc_bytes_total 2.5e+09
`
	got, err := heapOf([]byte(metrics))
	if want := (heap{made: 2_500_000_000, collections: 33}); err != nil || got != want {
		t.Errorf("got %+v and %v, want %+v", got, err, want)
	}
	if _, err := heapOf([]byte("go_goroutines 7\n")); err == nil {
		t.Error("metrics that say nothing of memory are no heap of nothing")
	}
}
