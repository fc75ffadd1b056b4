// Package simulation runs kubectl gc controller for days of virtual time in which everything goes wrong
// that can: two instances of the command, an API server in memory, users, and faults of the network, the
// disk, the Lease and the processes. What happens, and in which order, follows from a seed.
//
// The judge sees every request that the server handles, and requires that the rules of the collector were
// kept, whatever happened; in the end, upstream's own collector must find nothing to do.
//
// A day that fails is reduced to the steps that the failure needs, and printed as a test.
package simulation
