// Package restore plans how a backup is restored: which objects are recreated and
// in which order, which owner references they get, what is left alone, and what is
// lost.
//
// Its input is what a run backed up and did, what earlier restorations of the same
// backup created, and one scan of the cluster; its output is a plan.Plan. The
// request body that creates an object is built here too: see Restoration.Body.
//
// No object gets a reference that makes the garbage collector delete it, unless
// Options.Exact asks for that. The collector package decides this: it
// judges every reference in the cluster as predicted after the restoration.
//
// Pure: no client, clock, disk or terminal.
package restore
