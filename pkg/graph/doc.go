// Package graph links the objects of a snapshot by UID, in both directions, as the
// collector does (docs/gc-semantics.md#graph): an edge per owner reference, whatever
// the reference's other coordinates say, and a node for every UID that is referenced
// but was not seen.
//
// It answers who owns and who depends, which objects hang together and which
// go in circles. It does not say whether a reference is good: that is
// collector's. A Graph is immutable and safe for concurrent use; building and
// walking cost time and memory linear in objects and references, and no walk
// recurses.
package graph
