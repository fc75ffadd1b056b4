// Package diagram draws owner graphs: as DOT, attribute for attribute what the garbage
// collector's own debug endpoint serves (docs/gc-semantics.md#debug-graph), and as a
// Mermaid flowchart to paste into a report.
//
// Both draw the nodes they are given: those that own or are owned, the absent
// owners of drawn objects, and the references between them, each once. A
// reference to an existing object outside the set is not drawn. Nothing that
// came from a cluster can break out of its string. The output is the same for
// the same graph, whatever order its objects have.
package diagram
