// Package graph links the objects of a snapshot by UID, in both directions, as the
// collector does (docs/gc-semantics.md#graph): it has an edge per owner reference, whatever
// kind and name the reference has, and a node for every UID that is referenced but does not
// exist in the snapshot.
//
// It finds owners, dependents and cycles. Package collector decides whether a reference is
// valid. A Graph is immutable and safe for concurrent use. Building and walking take time
// and memory linear in objects and references, without recursion.
package graph
