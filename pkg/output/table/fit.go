package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// floors are how narrow columns become: all that may shrink do so to one floor before any
// shrinks to the next. Text gets no column that is narrower than leastText.
var floors = []int{40, leastText, 20, 12}

const leastText = 28

// fitting is how rows are broken into lines.
type fitting struct {
	terminal int // columns
	header   []string
	rows     [][]string
	widths   []int        // of the columns; a cell that is wider is a tail
	lines    [][]string   // each with all cells
	tails    map[int]tail // by line
}

// tail is a cell that is wider than its column, and ends its line.
type tail struct {
	column int
	text   string
}

// fit lays out a table for a terminal. It returns nil if the table is no wider than that, if it has
// too many columns, or if terminal is 0.
func fit(terminal int, header []string, rows [][]string, shrink []string) *fitting {
	if terminal == 0 {
		return nil
	}
	columns := positions(header, shrink)
	f := newFitting(terminal, header, rows)
	if f.excess() <= 0 || len(columns) == 0 {
		return nil
	}
	var texts []string
	if !f.shrink(columns, floors[:2]) {
		// The cells of the first column stand below their rows, and begin in the second.
		header, rows, texts = without(columns[0], header, rows)
		columns = positions(header, shrink)
		f = newFitting(terminal, header, rows)
		if len(columns) == 0 || !f.shrink(columns, floors) {
			return nil
		}
	}
	for i := range rows {
		f.add(i)
		if texts != nil && texts[i] != "" {
			f.addBelow(i, columns[0], texts[i])
		}
	}
	f.widths = widths(header, f.lines)
	return f
}

func newFitting(terminal int, header []string, rows [][]string) *fitting {
	return &fitting{terminal: terminal, header: header, rows: rows, widths: widths(header, rows), tails: map[int]tail{}}
}

// positions returns where the columns with these titles are.
func positions(header, titles []string) (out []int) {
	for _, title := range titles {
		if c := slices.Index(header, title); c >= 0 {
			out = append(out, c)
		}
	}
	return out
}

// without returns a table without a column, and the cells of that.
func without(column int, header []string, rows [][]string) (titles []string, rest [][]string, cells []string) {
	titles = slices.Delete(slices.Clone(header), column, column+1)
	for _, row := range rows {
		cells = append(cells, at(row, column))
		if column < len(row) {
			row = slices.Delete(slices.Clone(row), column, column+1)
		}
		rest = append(rest, row)
	}
	return titles, rest, cells
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

// offset returns where a column begins.
func (f *fitting) offset(column int) int {
	total := 0
	for _, width := range f.widths[:column] {
		total += width + len(gap)
	}
	return total
}

// excess returns how much wider than the terminal the columns are.
func (f *fitting) excess() int { return f.offset(len(f.widths)) - len(gap) - f.terminal }

// shrink makes columns as narrow as the terminal demands, and reports whether that is possible.
func (f *fitting) shrink(columns, floors []int) bool {
	for _, floor := range floors {
		for _, c := range columns {
			f.widths[c] -= max(min(f.widths[c]-max(floor, len(f.header[c])), f.excess()), 0)
		}
	}
	if f.excess() > 0 {
		return false
	}
	for _, c := range columns[1:] { // the first column gets the room that the others do not need
		used := f.used(c)
		f.widths[columns[0]] += f.widths[c] - used
		f.widths[c] = used
	}
	return true
}

// used returns the width of the widest line in a column that is no tail.
func (f *fitting) used(column int) int {
	widest := len(f.header[column])
	for i := range f.rows {
		for _, line := range f.broken(i, column) {
			if width := wrap.Width(line); width <= f.widths[column] {
				widest = max(widest, width)
			}
		}
	}
	return widest
}

// add adds the lines of row i. No cell stands beside a tail of one before it. The lines of a tree go
// on to the next row.
func (f *fitting) add(i int) {
	first := len(f.lines)
	for c := range f.rows[i] {
		lines := f.broken(i, c)
		begin := f.free(first, len(lines))
		for k, text := range lines {
			for len(f.lines) <= begin+k {
				line := make([]string, len(f.widths))
				for c := range line {
					if len(f.lines) > first {
						line[c] = trunks(f.cell(i+1, c))
					}
				}
				f.lines = append(f.lines, line)
			}
			if wrap.Width(text) > f.widths[c] {
				f.tails[begin+k], text = tail{c, text}, ""
			}
			f.lines[begin+k][c] = text
		}
	}
}

// free returns the first line from which on so many have no tail.
func (f *fitting) free(from, lines int) int {
	for k := from; k < from+lines; k++ {
		if _, taken := f.tails[k]; taken {
			from = k + 1
		}
	}
	return from
}

// addBelow adds a text below row i, from a column to the end of the terminal.
func (f *fitting) addBelow(i, column int, text string) {
	margin := f.margin(i, column)
	room := max(f.terminal-f.offset(column)-wrap.Width(margin), leastText)
	for _, line := range wrap.Lines(text, room, room) {
		f.tails[len(f.lines)] = tail{column, margin + line}
		f.lines = append(f.lines, make([]string, len(f.widths)))
	}
}

// broken returns the lines of a cell of row i.
func (f *fitting) broken(i, column int) []string {
	const least = 12 // however deep in a tree
	cell, rest := f.cell(i, column), trunks(f.cell(i+1, column))
	own := branchesOf(cell)
	if own != "" {
		rest = f.margin(i, column)
	}
	out := wrap.Lines(cell[len(own):], max(f.widths[column]-wrap.Width(own), least), max(f.widths[column]-wrap.Width(rest), least))
	for k := range out {
		if k == 0 {
			out[k] = own + out[k]
		} else {
			out[k] = rest + out[k]
		}
	}
	return out
}

// margin returns what is before a text below a cell of row i: the lines of a tree, and an indent.
func (f *fitting) margin(i, column int) string {
	begin := trunks(f.cell(i+1, column))
	return begin + strings.Repeat(" ", max(wrap.Width(branchesOf(f.cell(i, column)))+2-wrap.Width(begin), 0))
}

// cell returns a cell of row i; it is empty beyond the ends of the table.
func (f *fitting) cell(i, column int) string {
	if i < len(f.rows) {
		return at(f.rows[i], column)
	}
	return ""
}

// at returns a cell, which is empty if the row is too short.
func at(row []string, column int) string {
	if column < len(row) {
		return row[column]
	}
	return ""
}

// addTails adds to the text of a table with a header the cells that end a line.
func (f *fitting) addTails(text []byte) []byte {
	if f == nil || len(f.tails) == 0 {
		return text
	}
	var out bytes.Buffer
	i := -1 // the header
	for line := range bytes.Lines(text) {
		if tail, ok := f.tails[i]; ok {
			line = bytes.TrimSuffix(line, []byte("\n"))
			line = fmt.Appendf(slices.Clip(line), "%*s%s\n", max(f.offset(tail.column)-wrap.Width(string(line)), 0), "", tail.text)
		}
		out.Write(line)
		i++
	}
	return out.Bytes()
}
