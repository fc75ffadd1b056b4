package snapshottest

import "runtime"

// Allocated is how many bytes a function takes in all, kept or not: unlike what is in
// use at a moment, that is the same each time.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
