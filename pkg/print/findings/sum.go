package findings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
)

// Sum is the last line of an answer, without its line break: how much was
// found in how much, and whether that was all there is.
func Sum(r *audit.Report) string {
	var found []string
	for _, kind := range []struct {
		n    int
		noun string
	}{
		{r.Summary.Errors, "error"},
		{r.Summary.Warnings, "warning"},
		{r.Summary.Infos, "info"},
	} {
		if kind.n > 0 {
			found = append(found, count(kind.n, kind.noun))
		}
	}
	what := strings.Join(found, ", ")
	if what == "" {
		what = "Nothing to report"
	}
	view := "Whole view."
	if !r.Complete {
		view = "Not the whole view."
	}
	return fmt.Sprintf("%s in %s with %s. %s", what,
		count(r.Summary.Objects, "object"), count(r.Summary.References, "reference"), view)
}

// count is a number with its noun, which takes an s.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return thousands(n) + " " + noun
}

// thousands sets n apart by commas. n is not negative.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
