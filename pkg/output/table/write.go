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
)

const gap = "  "

// Write writes the header, unless it is nil, and the rows. A row may be shorter than the
// header. Nothing is written if the layout fails.
func Write(w io.Writer, header []string, rows [][]string) error {
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
	for _, row := range rows {
		if err := t.Append(oneLine(row)); err != nil {
			return fmt.Errorf("lay out table: %w", err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("lay out table: %w", err)
	}
	_, err := w.Write(trimLines(out.Bytes()))
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

// oneLine replaces line breaks and tabs, which would break the table.
func oneLine(row []string) []string {
	const breaks = "\n\r\t"
	for i, cell := range row {
		if strings.ContainsAny(cell, breaks) {
			row = append([]string(nil), row...)
			row[i] = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(cell)
		}
	}
	return row
}

// trimLines removes the blanks at the end of every line, also those before the colour
// reset that the renderer writes after a coloured cell.
func trimLines(text []byte) []byte {
	const reset = "\x1b[0m"
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \n")
		if text, coloured := bytes.CutSuffix(line, []byte(reset)); coloured {
			line = append(bytes.TrimSuffix(bytes.TrimRight(text, " "), []byte(reset)), reset...)
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

// DropEmpty returns header and rows without those optional columns that are empty in every
// row. It does not change its arguments.
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
