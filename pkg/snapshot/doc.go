// Package snapshot holds everything that one scan read of a cluster, and what it could not
// read: the types that discovery served, which of them were listed and where, the objects,
// the gaps, and the lookups of owners that no list showed.
//
// Every later step uses only the snapshot, so a run from a saved file gives the same result
// as the live run did. The package also saves and loads snapshots, and loads the output of
// `kubectl get -o json|yaml`. It never talks to a server.
//
// A Snapshot is not safe for concurrent writing, and must not change after a graph was
// built on it.
package snapshot
