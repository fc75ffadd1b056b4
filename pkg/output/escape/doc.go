// Package escape makes hidden characters visible. Names, kinds and messages come from
// anyone who may write to the cluster. The API server does not validate the name in an
// owner reference at all, so it may contain a terminal escape sequence, a line break that
// forges a row, or characters that reverse or hide others. Hidden decides for text, JSON
// and YAML what is escaped. Escapes look like those of Go: \n, \x1b, \u202e, \U000e0001.
// Text does not escape the backslash, so it is only for reading; JSON and YAML decode to
// the original value.
package escape
