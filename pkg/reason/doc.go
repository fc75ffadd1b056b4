// Package reason names why things are as they are: why an object is deleted, kept or
// skipped, what was found of an owner, what blocks a deletion.
//
// A reason without parameters is a variable, and one with parameters is a type, whose
// fields are the parameters. Its name is the reason's code, which scripts may rely on, and
// its Message is the sentence for people, which may change at any time. Nothing compares
// or hashes a Message; see Stored.
//
// Strings that come from a cluster are in parameters and messages as they are: escape
// them before they reach a terminal.
//
// The package knows object and nothing else. docs/reasons.md is generated from the
// comments of the variables and types, which say what a reason means.
package reason
