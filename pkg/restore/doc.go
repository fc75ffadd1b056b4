// Package restore says what becomes of a backup: which objects are made again
// and in which order, to what their owner references lead from now on, what is
// left alone, and what does not come back.
//
// It takes what a run saved and did, what earlier restorations of the same
// backup made, and one look at the cluster, and puts the answer into a
// plan.Plan. What is made of a manifest is decided here, too: see Body.
//
// No object is given a reference that the collector would delete it for. Whether
// it would is not decided here: the collector judges every reference in the
// cluster as it will be, with all that is made in it.
//
// Pure: no client, clock, disk or terminal.
package restore
