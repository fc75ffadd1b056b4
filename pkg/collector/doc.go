// Package collector is the garbage collector's rules as pure functions.
//
// The rules are written here once and nowhere else: what a reference is worth
// (its verdict, docs/gc-semantics.md#verdicts) and what the collector does with
// an object because of its references (its consequence,
// docs/gc-semantics.md#decision). Audit asks it, and so do plan, which
// foretells, and execute, which acts.
//
// It works on a graph alone. It knows no client, clock, environment or
// terminal, and it never guesses: what the snapshot does not prove is Unknown.
// A Judge is immutable and safe for concurrent use.
package collector
