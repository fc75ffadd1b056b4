package main

import "fmt"

// The control plane's peak memory, with many streams of unpaged lists, and the memory that
// must always stay free.
const (
	eachObject = 32 << 10
	besides    = 2 << 30
	reserve    = 1 << 30
)

func available() int64 { return kibibytes("/proc/meminfo", "MemAvailable") }

// checkMemory returns an error if the machine has too little memory for that many objects.
func checkMemory(objects int) error { return checkMemoryFor(available(), objects) }

func checkMemoryFor(free int64, objects int) error {
	need := int64(objects)*eachObject + besides
	if free == 0 || free >= need {
		return nil
	}
	return fmt.Errorf("%s objects may take the API server to %s, and this machine has %s to spare: choose fewer with -objects",
		thousands(objects), gibibytes(need), gibibytes(free))
}

// checkFreeMemory returns an error if little memory is left.
func checkFreeMemory() error { return checkFreeMemoryFor(available()) }

func checkFreeMemoryFor(free int64) error {
	if free == 0 || free >= reserve {
		return nil
	}
	return fmt.Errorf("stop before the machine runs out of memory: %s are left, which may not do for the next run; choose fewer objects with -objects", gibibytes(free))
}

func gibibytes(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
