package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// floors are how narrow columns become: all that may shrink do so to one floor before any
// shrinks to the next.
var floors = []int{40, 28, 20, 12}

// fitting is how rows are broken into lines.
type fitting struct {
	widths []int        // of the columns; a cell that is wider is a tail
	lines  [][]string   // each with all cells
	tails  map[int]tail // by line
}

// tail is a cell that is wider than its column, and ends its line.
type tail struct {
	column int
	text   string
}

// fit breaks the cells of the columns to shrink, the first of them first, so that a table is at
// most as wide as the terminal. It returns nil if the table is no wider, or terminal is 0.
func fit(terminal int, header []string, rows [][]string, shrink []string) *fitting {
	if terminal == 0 {
		return nil
	}
	var columns []int
	for _, title := range shrink {
		if c := slices.Index(header, title); c >= 0 {
			columns = append(columns, c)
		}
	}
	f := fitting{widths: widths(header, rows), tails: map[int]tail{}}
	excess := f.offset(len(f.widths)) - len(gap) - terminal
	if excess <= 0 || len(columns) == 0 {
		return nil
	}
	for _, floor := range floors {
		for _, c := range columns {
			less := max(min(f.widths[c]-max(floor, len(header[c])), excess), 0)
			f.widths[c] -= less
			excess -= less
		}
	}
	for _, c := range columns[1:] { // the first column gets the room that the others do not need
		before := f.widths[c]
		f.widths[c] = f.used(c, header[c], rows)
		f.widths[columns[0]] += before - f.widths[c]
	}
	for i, row := range rows {
		f.add(row, below(rows, i))
	}
	f.widths = widths(header, f.lines)
	return &f
}

// widths returns how wide the widest cell of each column is.
func widths(header []string, rows [][]string) []int {
	out := make([]int, len(header))
	for c, title := range header {
		out[c] = wrap.Width(title)
	}
	for _, row := range rows {
		for c, cell := range row {
			out[c] = max(out[c], wrap.Width(cell))
		}
	}
	return out
}

// used returns the width of the widest line in a column that is no tail.
func (f *fitting) used(column int, title string, rows [][]string) int {
	widest := len(title)
	for i, row := range rows {
		for _, line := range f.broken(column, at(row, column), at(below(rows, i), column)) {
			if width := wrap.Width(line); width <= f.widths[column] {
				widest = max(widest, width)
			}
		}
	}
	return widest
}

// offset returns where a column begins.
func (f *fitting) offset(column int) int {
	total := 0
	for _, width := range f.widths[:column] {
		total += width + len(gap)
	}
	return total
}

// add adds the lines of a row. Below a tail, the cells after it begin. Lines of a tree go on to
// the next row.
func (f *fitting) add(row, next []string) {
	first, begin := len(f.lines), len(f.lines)
	for c, cell := range row {
		above := begin // of the next cells
		for i, text := range f.broken(c, cell, at(next, c)) {
			for len(f.lines) <= begin+i {
				f.lines = append(f.lines, f.between(len(f.lines) > first, next))
			}
			if wrap.Width(text) > f.widths[c] {
				f.tails[begin+i], text, above = tail{c, text}, "", begin+i+1
			}
			f.lines[begin+i][c] = text
		}
		begin = above
	}
}

// broken returns the lines of a cell; next is the cell below it.
func (f *fitting) broken(column int, cell, next string) []string {
	own, below := branchesOf(cell), trunks(next)
	if own != "" {
		below += strings.Repeat(" ", max(wrap.Width(own)+2-wrap.Width(below), 0))
	}
	const least = 12
	out := wrap.Lines(cell[len(own):], max(f.widths[column]-wrap.Width(own), least), max(f.widths[column]-wrap.Width(below), least))
	for i := range out {
		if i == 0 {
			out[i] = own + out[i]
		} else {
			out[i] = below + out[i]
		}
	}
	return out
}

// between returns the cells of a new line, with the lines of a tree if it is not the first of its row.
func (f *fitting) between(continued bool, next []string) []string {
	line := make([]string, len(f.widths))
	for c := range line {
		if continued {
			line[c] = trunks(at(next, c))
		}
	}
	return line
}

// addTails adds to a table with a header, whose lines were broken, the cells that end a line.
func (f *fitting) addTails(text []byte) []byte {
	if f == nil || len(f.tails) == 0 {
		return text
	}
	var out bytes.Buffer
	i := -1 // the header
	for line := range bytes.Lines(text) {
		if tail, ok := f.tails[i]; ok {
			line = bytes.TrimSuffix(line, []byte("\n"))
			blanks := max(f.offset(tail.column)-wrap.Width(string(line)), 0)
			line = fmt.Appendf(slices.Clip(line), "%*s%s\n", blanks, "", tail.text)
		}
		out.Write(line)
		i++
	}
	return out.Bytes()
}

// below returns the row after row i, or nil.
func below(rows [][]string, i int) []string {
	if i+1 < len(rows) {
		return rows[i+1]
	}
	return nil
}

func at(row []string, column int) string {
	if column < len(row) {
		return row[column]
	}
	return ""
}
