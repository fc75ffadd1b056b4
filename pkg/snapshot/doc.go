// Package snapshot holds everything one run saw of a cluster, and what it could
// not see.
//
// A snapshot is data: the types that discovery served, which of them were
// listed and where, the objects, the gaps, and the lookups of owners that no
// list showed. Every later step works on it alone, so an answer read from a
// file is the answer the live run would have given.
//
// The package also reads and writes snapshots, and reads what
// `kubectl get -o json|yaml` wrote. It judges nothing; it never talks to a
// server. A Snapshot is not safe for concurrent writing, and must not change
// once a graph was built on it.
package snapshot
