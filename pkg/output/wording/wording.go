// Package wording formats numbers, times, lists and command lines for all printers. It does not
// escape: the caller escapes text from the cluster, as it knows how much of it to show.
package wording

import (
	"strconv"
	"strings"
	"time"
)

// Count returns a number with its noun, which takes an s: "1 object", "1,024 objects".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands returns n with commas between thousands. n is not negative.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// List returns at most limit names, and how many more there are.
func List(names []string, limit int) string {
	if more := len(names) - limit; more > 0 {
		return strings.Join(names[:limit], ", ") + " and " + Thousands(more) + " more"
	}
	return strings.Join(names, ", ")
}

// Scan returns whether everything that was requested was read.
func Scan(complete bool) string {
	if complete {
		return "Complete scan."
	}
	return "Incomplete scan."
}

// Time returns a time as every view writes it: in UTC, to the second.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }
