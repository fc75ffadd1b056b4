// Package planview shows a plan to a person: what it will do, how far a run of it has come,
// and what the run did.
//
// A preview is a tree: each object of the plan has one line, with everything that the plan
// does to it, below the object whose change causes it. What stays, what is blocked and what
// is left alone comes last. Layout is linear in the steps and does not recurse, as a chain of
// owners may be very long. A long preview has its first lines, and the objects that a person has
// to see by name.
//
// The package uses no client, clock or terminal. Text from the cluster is escaped and
// shortened here.
package planview
