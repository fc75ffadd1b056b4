package findings

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

// Sum is the last line of an answer, without its line break: how much was
// found in how much, which clusters gave no answer, and whether that was all there is.
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
	return fmt.Sprintf("%s in %s with %s%s. %s", what,
		phrase.Count(r.Summary.Objects, "object"), phrase.Count(r.Summary.References, "reference"), clusters(r.Clusters), view)
}

// namedClusters is how many silent clusters are named.
const namedClusters = 5

// clusters says of how many the sum is, and which of them it is not; empty for the only one.
func clusters(all []audit.Tally) string {
	if all == nil {
		return ""
	}
	var silent []string
	for _, c := range all {
		if !c.Answered {
			silent = append(silent, escape.Short(c.Name, textWidth))
		}
	}
	of := " of " + phrase.Count(len(all)-len(silent), "cluster")
	if len(silent) > 0 {
		of += "; no answer from " + phrase.List(silent, namedClusters)
	}
	return of
}
