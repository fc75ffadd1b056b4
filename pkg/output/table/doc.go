// Package table writes rows as kubectl does: an upper-case header, left-aligned columns,
// no borders, nothing wrapped, cut or merged, no blanks at the end of a line. Cells may
// have colours, wide characters, tree glyphs and leading blanks. The caller escapes them.
// Time and memory are linear in the number of rows.
package table
