// Package audit turns verdicts into findings: every bad reference and every
// stuck deletion, under a rule with a stable id, with what the collector does
// about it and what mends it.
//
// A rule lives in a file of its own and in the registry of Rules. Rules word
// and grade; what a reference is worth and what comes of it they ask of
// collector. A Report is plain data, sorted, complete in itself and part of the
// public JSON contract. Nothing here reads a clock: ages are measured from the
// snapshot. Strings that came from the cluster are unescaped.
package audit
