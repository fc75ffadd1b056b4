// Package tree lays a family of objects out as an indented tree, and words what
// is remarkable about each row.
//
// Every object of the family stands in full exactly once, under the first of
// its owners that is reached; wherever else it depends, a row refers to it. A
// reference whose owner is absent or bad gets a row of its own where that owner
// would stand. Cycles end with a mark. Layout is linear in references and does
// not recurse.
//
// Values in, rows or a document out: no client, no clock, no terminal. Rows
// hold strings as the cluster sent them; whoever prints them escapes them.
package tree
