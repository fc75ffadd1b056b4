// Package tree lays out objects with their owners and dependents as an indented tree, and
// notes what is unusual about each row. Each object has one full row, below the first of
// its owners; below its other owners a row refers to it. An owner that is missing, or that
// a bad reference names, has a row of its own. A cycle ends with a mark. Layout is linear
// in the references and does not recurse. Rows are not escaped; View.Write escapes them.
package tree
