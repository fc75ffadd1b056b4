// Package escape makes visible what a cluster could hide in a string.
//
// Names, kinds and messages come from whoever may write to the cluster. An
// owner reference's name is not validated by the API server at all, so it may
// hold an escape sequence, a line break that forges a row, or characters that
// reverse or hide what stands next to them. Every printer passes such strings
// through here before they meet a terminal.
//
// What is hidden is decided in one place (Hidden) for every form of output:
// text, JSON and YAML. Escapes look like Go's: \n, \x1b, \u202e, \U000e0001.
// A backslash is not escaped, so the text form is for reading only; JSON and
// YAML decode to the value they had.
package escape
