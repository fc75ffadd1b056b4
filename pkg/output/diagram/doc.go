// Package diagram draws owner graphs: as DOT, with the attributes of the garbage
// collector's debug endpoint (docs/gc-semantics.md#debug-graph), and as a Mermaid
// flowchart. It draws the given nodes that have an owner or a dependent, their missing
// owners, and one edge between two nodes. The output depends only on the graph, not on the
// order of its objects. Text from the cluster cannot leave its string.
package diagram
