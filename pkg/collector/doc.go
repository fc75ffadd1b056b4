// Package collector contains the garbage collector's rules as pure functions: the
// verdict on an owner reference (docs/gc-semantics.md#verdicts), and the action that an
// object's references lead to (docs/gc-semantics.md#decision).
//
// The rules read a graph. What the snapshot does not prove is VerdictUnknown.
package collector
