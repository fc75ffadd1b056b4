// Package table writes rows as kubectl does: an upper-case header, left-aligned columns,
// no borders, nothing cut or merged, no blanks at the end of a line. Cells may have
// colors, wide characters, tree glyphs and leading blanks. The caller escapes them. On a
// terminal that is too narrow, cells go on below at blanks; words and trees are never broken.
// Time and memory are linear in the number of rows.
package table

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

const gap = "  "

// NoBreak is a blank at which no cell is broken.
const NoBreak = "\u00a0"

// Write writes the header, unless it is nil, and the rows. A row may be shorter than the
// header. Nothing is written if the layout fails. If w is a wrap.LineWriter and the table wider than
// its terminal, the columns with these titles shrink, the first one first; the others keep their
// width. If too little room would be left for the first, its cells stand below their rows, and
// begin in the second. A table that does not fit even so is written as without a terminal. NoBreak in a
// cell is written as a blank.
func Write(w io.Writer, header []string, rows [][]string, shrink ...string) error {
	w, columns := wrap.Unwrap(w)
	clean := make([][]string, len(rows))
	for i, row := range rows {
		clean[i] = oneLine(row)
	}
	fitted := fit(columns, header, clean, shrink)
	if fitted != nil {
		header, clean = fitted.header, fitted.lines
	}
	var out bytes.Buffer // the renderer drops the errors of its writer
	t := tablewriter.NewTable(&out,
		tablewriter.WithConfig(config()),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		// Otherwise the locale of the environment decides on the width of tree glyphs.
		tablewriter.WithEastAsian(tw.Off),
	)
	if header != nil {
		titles := make([]string, len(header))
		for i, title := range header {
			titles[i] = strings.ToUpper(title)
		}
		t.Header(titles)
	}
	for _, row := range clean {
		if err := t.Append(row); err != nil {
			return fmt.Errorf("lay out table: %w", err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("lay out table: %w", err)
	}
	_, err := w.Write(bytes.ReplaceAll(fitted.addTails(trimLines(out.Bytes())), []byte(NoBreak), []byte(" ")))
	return err
}

func config() tablewriter.Config {
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Merging:    tw.CellMerging{Mode: tw.MergeNone},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
		Padding:    tw.CellPadding{Global: tw.Padding{Right: gap, Overwrite: true}},
	}
	return tablewriter.Config{
		Header: cell, Row: cell,
		Behavior: tw.Behavior{AutoHide: tw.Off, TrimSpace: tw.Off, TrimLine: tw.Off, TrimTab: tw.Off},
	}
}

// breaks replaces line breaks and tabs, which would break the table.
var breaks = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

func oneLine(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = breaks.Replace(cell)
	}
	return out
}

// trimLines removes the blanks at the end of every line, also those before the color
// reset that the renderer writes after a colored cell.
func trimLines(text []byte) []byte {
	const reset = "\x1b[0m"
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \n")
		if text, colored := bytes.CutSuffix(line, []byte(reset)); colored {
			line = append(bytes.TrimSuffix(bytes.TrimRight(text, " "), []byte(reset)), reset...)
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

// DropEmpty returns header and rows without those optional columns that are empty in every
// row. It does not change its arguments.
func DropEmpty(header []string, rows [][]string, optional ...string) ([]string, [][]string) {
	header = slices.Clone(header)
	shorter := make([][]string, len(rows))
	for i, row := range rows {
		shorter[i] = slices.Clone(row)
	}
	for column := len(header) - 1; column >= 0; column-- {
		filled := func(row []string) bool { return column < len(row) && row[column] != "" }
		if !slices.Contains(optional, header[column]) || slices.ContainsFunc(rows, filled) {
			continue
		}
		header = slices.Delete(header, column, column+1)
		for i, row := range shorter {
			if column < len(row) {
				shorter[i] = slices.Delete(row, column, column+1)
			}
		}
	}
	return header, shorter
}
