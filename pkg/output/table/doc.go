// Package table writes rows as kubectl does: an upper-case header, columns
// aligned on the left and set apart by blanks, no borders, nothing wrapped, cut
// or merged, no blanks at the end of a line.
//
// Cells may be coloured and hold wide characters or tree glyphs, and keep their
// leading blanks. Escaping is the caller's: a cell must be one line without
// controls other than colours. Time and memory are linear in the rows, all of
// which must be known before the first is written.
package table
