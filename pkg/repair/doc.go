// Package repair decides how to repair an owner reference: remove it (unlink), point it at
// the owner's successor of the same name (relink), rewrite its apiVersion to a served one
// (update-version), or leave it alone, and why.
//
// Package audit reports these decisions, package plan orders them into steps, and package
// execute makes them again before each write.
//
// Only a reference that resolves to no owner is repaired, and a rewritten reference is
// solid. A reference that could not be verified is never repaired, and a solid reference
// never changes.
package repair
