// Package reason names why things are as they are: why an object is deleted, kept or
// skipped, what was found of an owner, what blocks a deletion.
//
// A reason is a Go type: its name is the reason's code, which scripts may rely on, its
// fields are the parameters, and its Message is the sentence for people, which may
// change at any time. Nothing compares or hashes a Message; see Stored.
//
// Most reasons have no parameters, or one that others have, too: they are declared in
// groups, where the comment behind a type says what it means, and the sentences follow.
//
// Strings that come from a cluster are in parameters and messages as they are: escape
// them before they reach a terminal.
//
// The package knows object and nothing else. docs/reasons.md is generated from the
// comments of the types.
package reason
