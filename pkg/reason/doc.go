// Package reason names why things are as they are: why an object is deleted, kept or
// skipped, what was found of an owner, what blocks a deletion.
//
// A reason without parameters is a variable, and one with up to two that cannot be mixed up is made by a function: a line of
// a table with its code and its sentence. Any other is made by Of from a struct, whose fields are the parameters. The
// code is the name, which scripts may rely on, and the Message is the sentence for people,
// which may change at any time. Nothing outside of this package decides by a reason: what
// decides is a field of the finding, the step or the object. Codes and parameters are also
// compared to group findings, and hashed in the digest of a plan; a Message is compared only
// by the log of controller, which leaves out what it wrote of an object just before.
//
// The sentences are here and not in output, because the JSON documents hold them, too.
//
// Strings that come from a cluster are in parameters and messages as they are: escape
// them before they reach a terminal.
//
// The package knows object and nothing else. docs/reasons.md is generated from the
// comments of the variables and types, which say what a reason means, and from the
// sentences of those that need no comment.
package reason
