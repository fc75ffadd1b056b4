package table

import "slices"

// DropEmpty leaves out those of the optional columns, called by their title,
// that are empty in every row. The arguments are not changed.
func DropEmpty(header []string, rows [][]string, optional ...string) ([]string, [][]string) {
	keep := make([]int, 0, len(header))
	for i, title := range header {
		if !slices.Contains(optional, title) || slices.ContainsFunc(rows, func(row []string) bool { return i < len(row) && row[i] != "" }) {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(header) {
		return header, rows
	}
	pick := func(row []string) []string {
		out := make([]string, 0, len(keep))
		for _, i := range keep {
			if i < len(row) {
				out = append(out, row[i])
			}
		}
		return out
	}
	shorter := make([][]string, len(rows))
	for i, row := range rows {
		shorter[i] = pick(row)
	}
	return pick(header), shorter
}
