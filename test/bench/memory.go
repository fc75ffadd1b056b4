package main

import "fmt"

// What the control plane takes at its worst, when many streams list everything without
// pages, and what has to be left at any time.
const (
	eachObject = 32 << 10
	besides    = 2 << 30
	reserve    = 1 << 30
)

func available() int64 { return kibibytes("/proc/meminfo", "MemAvailable") }

// enough refuses more objects than the machine has memory for.
func enough(objects int) error { return enoughOf(available(), objects) }

func enoughOf(free int64, objects int) error {
	need := int64(objects)*eachObject + besides
	if free == 0 || free >= need {
		return nil
	}
	return fmt.Errorf("%s objects may take the API server to %s, and this machine has %s to spare: choose fewer with -objects",
		thousands(objects), gibibytes(need), gibibytes(free))
}

// spare refuses to go on when little memory is left.
func spare() error { return spareOf(available()) }

func spareOf(free int64) error {
	if free == 0 || free >= reserve {
		return nil
	}
	return fmt.Errorf("stop before the machine runs out of memory: %s are left, which may not do for the next run; choose fewer objects with -objects", gibibytes(free))
}

func gibibytes(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
