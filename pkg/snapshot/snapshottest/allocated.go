package snapshottest

import "runtime"

// Allocated returns the number of bytes that f allocates in total, freed or not. Unlike the
// bytes in use, it is the same each time.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
