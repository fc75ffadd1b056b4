// Package planview shows a plan to a person: what it will do as a tree of
// consequences, how far a run of it has come, and what became of it.
//
// Every object of a plan stands on one line, with all that the plan does to it,
// below the object because of which it is touched at all. What was blocked
// before, or stays so, stands at the end. Layout is linear in steps and does not
// recurse.
//
// Values in, text out: no client, no clock, and of the terminal only the width
// that is passed in. Whatever came from the cluster is escaped and shortened
// here.
package planview
