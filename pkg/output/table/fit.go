package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// floors are how narrow columns become: all that may shrink do so to one floor before any
// shrinks to the next. The first column becomes no narrower than leastText.
var floors = []int{40, leastText, 20, 12}

const leastText = 28

// fitting is how rows are broken into lines.
type fitting struct {
	terminal int // columns
	header   []string
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
	var columns []int
	for _, title := range shrink {
		if c := slices.Index(header, title); c >= 0 {
			columns = append(columns, c)
		}
	}
	f := fitting{terminal: terminal, header: header, widths: widths(header, rows), tails: map[int]tail{}}
	if f.excess() <= 0 || len(columns) == 0 {
		return nil
	}
	if !f.shrink(columns, floors[:2], rows) {
		return fitBelow(terminal, header, rows, columns)
	}
	for i := range rows {
		f.add(rows, i)
	}
	f.widths = widths(header, f.lines)
	return &f
}

// fitBelow lays out a table without its first column to shrink. Its cells stand below their rows,
// and begin in the second.
func fitBelow(terminal int, header []string, rows [][]string, columns []int) *fitting {
	if len(columns) < 2 {
		return nil
	}
	without := func(row []string) []string {
		if columns[0] >= len(row) {
			return row
		}
		return slices.Delete(slices.Clone(row), columns[0], columns[0]+1)
	}
	rest := make([][]string, len(rows))
	for i, row := range rows {
		rest[i] = without(row)
	}
	var others []int
	for _, c := range columns[1:] {
		if c > columns[0] {
			c--
		}
		others = append(others, c)
	}
	f := fitting{terminal: terminal, header: without(header), widths: widths(without(header), rest), tails: map[int]tail{}}
	if !f.shrink(others, floors, rest) {
		return nil
	}
	for i, row := range rows {
		f.add(rest, i)
		if text := at(row, columns[0]); text != "" {
			f.addBelow(text, rest, i, others[0])
		}
	}
	f.widths = widths(f.header, f.lines)
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
func (f *fitting) shrink(columns, floors []int, rows [][]string) bool {
	for _, floor := range floors {
		for _, c := range columns {
			f.widths[c] -= max(min(f.widths[c]-max(floor, len(f.header[c])), f.excess()), 0)
		}
	}
	if f.excess() > 0 {
		return false
	}
	for _, c := range columns[1:] { // the first column gets the room that the others do not need
		before := f.widths[c]
		f.widths[c] = f.used(c, rows)
		f.widths[columns[0]] += before - f.widths[c]
	}
	return true
}

// used returns the width of the widest line in a column that is no tail.
func (f *fitting) used(column int, rows [][]string) int {
	widest := len(f.header[column])
	for i, row := range rows {
		for _, line := range f.broken(column, at(row, column), at(below(rows, i), column)) {
			if width := wrap.Width(line); width <= f.widths[column] {
				widest = max(widest, width)
			}
		}
	}
	return widest
}

// add adds the lines of row i. No cell stands beside a tail of one before it.
func (f *fitting) add(rows [][]string, i int) {
	next, first := below(rows, i), len(f.lines)
	for c, cell := range rows[i] {
		lines := f.broken(c, cell, at(next, c))
		begin := f.free(first, len(lines))
		for k, text := range lines {
			for len(f.lines) <= begin+k {
				f.lines = append(f.lines, f.between(len(f.lines) > first, next))
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
func (f *fitting) addBelow(text string, rows [][]string, i, column int) {
	margin := margin(at(rows[i], column), at(below(rows, i), column))
	room := max(f.terminal-f.offset(column)-wrap.Width(margin), leastText)
	for _, line := range wrap.Lines(text, room, room) {
		f.tails[len(f.lines)] = tail{column, margin + line}
		f.lines = append(f.lines, make([]string, len(f.widths)))
	}
}

// broken returns the lines of a cell; next is the cell below it.
func (f *fitting) broken(column int, cell, next string) []string {
	own, rest := branchesOf(cell), trunks(next)
	if own != "" {
		rest = margin(cell, next)
	}
	const least = 12
	out := wrap.Lines(cell[len(own):], max(f.widths[column]-wrap.Width(own), least), max(f.widths[column]-wrap.Width(rest), least))
	for i := range out {
		if i == 0 {
			out[i] = own + out[i]
		} else {
			out[i] = rest + out[i]
		}
	}
	return out
}

// margin returns what is before a text between a cell and the next one: the lines of a tree, and an
// indent.
func margin(cell, next string) string {
	begin := trunks(next)
	return begin + strings.Repeat(" ", max(wrap.Width(branchesOf(cell))+2-wrap.Width(begin), 0))
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
			begin := f.offset(tail.column)
			if left := f.terminal - wrap.Width(tail.text); left >= 0 && len(line) == 0 && !strings.ContainsAny(tail.text, "│├└") {
				begin = min(begin, left)
			}
			blanks := max(begin-wrap.Width(string(line)), 0)
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

// at returns a cell, which is empty if the row is too short.
func at(row []string, column int) string {
	if column < len(row) {
		return row[column]
	}
	return ""
}
