package main

import (
	"fmt"
	"strconv"
	"time"
)

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// memory returns an empty string for an unknown size.
func memory(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

// ratio returns an empty string if there is nothing to compare with.
func ratio(a, b time.Duration) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

// thousands returns 50234 as 50,234.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
