package cli

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

const (
	maxNearest  = 3   // names that Nearest returns
	maxNameSize = 256 // bytes of a name that Nearest compares
)

// DidYouMean returns what an error message adds for what the user may have meant; empty for nothing.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	last := len(near) - 1
	out := strings.Join(near[:last], ", ")
	if last > 0 {
		out += " or "
	}
	return ". Did you mean " + escape.Short(out+near[last], 300) + "?"
}

// Nearest returns the candidates that typed may have been meant to be: those that differ from it by
// one or two edits, else those that begin with it, else those that differ by a few more; sorted and at most three. Case
// does not matter. Candidates may repeat and be empty.
func Nearest(typed string, candidates []string) (near []string) {
	fewest, longer := (len(typed)+2)/3, []string(nil)
	for _, c := range candidates {
		if max(len(c), len(typed)) > maxNameSize || c == "" {
			continue
		}
		if len(typed) > 2 && strings.HasPrefix(c, typed) {
			longer = append(longer, c)
		}
		if max(len(c), len(typed))-min(len(c), len(typed)) > fewest {
			continue
		}
		switch d := editDistance(strings.ToLower(typed), strings.ToLower(c)); {
		case d < fewest:
			fewest, near = d, []string{c}
		case d == fewest:
			near = append(near, c)
		}
	}
	if len(near) == 0 || fewest > 2 && len(longer) > 0 {
		near = longer
	}
	slices.Sort(near)
	near = slices.Compact(near)
	return near[:min(len(near), maxNearest)]
}

// editDistance returns how many bytes must be inserted, removed, replaced or swapped with the next one
// to make b of a (optimal string alignment).
func editDistance(a, b string) int {
	var before []int             // the row before last
	row := make([]int, len(b)+1) // distances of the prefixes of b to one prefix of a
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := append(make([]int, 0, len(b)+1), i+1)
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			d := min(replaced, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next = append(next, d)
		}
		before, row = row, next
	}
	return row[len(b)]
}
