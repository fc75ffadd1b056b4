package findings

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
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
			found = append(found, phrase.Count(kind.n, kind.noun))
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
		phrase.Count(r.Summary.Objects, "object"), phrase.Count(r.Summary.References, "reference"), view)
}
