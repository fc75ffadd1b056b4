// Package markdown writes Markdown as plain text.
package markdown

import (
	"cmp"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// Text writes a page of docs for a terminal. A paragraph becomes one line, and so does an item of a
// list, if w does not fit them into columns. A link becomes its text, with the page if that is another
// one, and code is never broken.
func Text(w io.Writer, page string) error {
	b := &block{w: w}
	b.whole, b.columns = wrap.Unwrap(w)
	code := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence:
			b.flush()
			code = !code
		case code && line != "":
			b.print("    " + line)
		case line == "" || code:
			b.flush()
			b.print("")
		case strings.HasPrefix(line, "|"):
			b.addRow(line)
		case strings.HasPrefix(line, "# "):
			b.print(line[2:])
		case strings.HasPrefix(line, "#"):
			b.print(strings.ToUpper(strings.TrimLeft(line, "# ")))
		default:
			if item.MatchString(line) {
				b.flush()
			}
			b.text = append(b.text, strings.TrimSpace(line))
		}
	}
	b.flush()
	return b.err
}

// item matches the beginning of an item of a list.
var item = regexp.MustCompile(`^(\*|\d+\.) `)

// block is the paragraph or the table that is being read.
type block struct {
	w, whole io.Writer  // whole breaks no lines
	columns  int        // of the lines; 0 is no limit
	text     []string   // lines of a paragraph
	rows     [][]string // of a table; the first is its header
	err      error      // the first one
}

func (b *block) print(line string) {
	if b.err == nil {
		_, b.err = io.WriteString(b.whole, line+"\n")
	}
}

// flush writes the block.
func (b *block) flush() {
	switch {
	case len(b.text) > 0:
		indent := len(item.FindString(b.text[0]))
		text := wrap.Text(plain(strings.Join(b.text, " ")), indent, b.columns)
		b.print(strings.ReplaceAll(text, "`", ""))
	case len(b.rows) > 0 && b.err == nil:
		b.err = table.Write(b.w, b.rows[0], b.rows[1:], b.widestFirst()...)
	}
	b.text, b.rows = nil, nil
}

// widestFirst returns the titles of the table, that of its widest column first.
func (b *block) widestFirst() []string {
	widths := map[string]int{}
	for _, row := range b.rows {
		for i, cell := range row {
			title := b.rows[0][min(i, len(b.rows[0])-1)]
			widths[title] = max(widths[title], len(cell))
		}
	}
	return slices.SortedFunc(maps.Keys(widths), func(a, b string) int { return cmp.Or(widths[b]-widths[a], strings.Compare(a, b)) })
}

// addRow adds the row of a line, unless it is the one below the header.
func (b *block) addRow(line string) {
	if strings.HasPrefix(line, "| ---") {
		return
	}
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(plain(strings.ReplaceAll(cell, `\|`, "|")), "`", "")
		if len(b.rows) == 0 {
			cells[i] = strings.ToUpper(cells[i])
		}
	}
	b.rows = append(b.rows, cells)
}

var (
	link = regexp.MustCompile(`\[([^\]]+)\]\(([^)]*)\)`)
	bold = regexp.MustCompile("\\*\\*([^*`]+)\\*\\*")
)

// plain returns the text of a paragraph or a cell. The target of a link stays unless it is on the same
// page.
func plain(text string) string {
	text = link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		switch to := parts[2]; {
		case strings.HasPrefix(to, "#"):
			return parts[1]
		case strings.Contains(to, "://"):
			return parts[1] + " (" + to + ")"
		default:
			return parts[1] + " (" + path.Join("docs", to) + ")"
		}
	})
	return bold.ReplaceAllString(text, "$1")
}
