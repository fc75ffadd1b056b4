package cli

import "slices"

const (
	maxNearest  = 3   // names that Nearest returns
	maxNameSize = 256 // bytes of a name that Nearest compares
)

// Nearest returns the candidates that typed may have been meant to be: those that differ from it by
// the fewest edits, if these are few, sorted and at most three. Candidates may repeat and be empty.
func Nearest(typed string, candidates []string) (near []string) {
	fewest := (len(typed) + 2) / 3
	for _, c := range candidates {
		if c == "" || max(len(c), len(typed)) > maxNameSize || max(len(c), len(typed))-min(len(c), len(typed)) > fewest {
			continue
		}
		switch d := editDistance(typed, c); {
		case d < fewest:
			fewest, near = d, []string{c}
		case d == fewest:
			near = append(near, c)
		}
	}
	slices.Sort(near)
	near = slices.Compact(near)
	return near[:min(len(near), maxNearest)]
}

// editDistance returns how many bytes must be inserted, removed or replaced to make b of a
// (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the prefixes of b to one prefix of a
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
