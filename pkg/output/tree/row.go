package tree

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Row is one line of a tree.
type Row struct {
	Prefix    string // the branches before the name
	Namespace string
	Name      string     // Kind/name
	Node      graph.Node // graph.None for an owner that is only claimed
	Repeated  bool       // refers to the full row of the object
	Edge      graph.Edge // the reference to the row above it; its Node is graph.None for a root
	Target    bool
	Claim     *object.Reference // of an owner that is only claimed
	Notes     []Note
}

// Note is a remark on a row.
type Note struct {
	Text string
	Tone Tone
}

// Tone is how serious a note is. It decides the colour.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Waits      // waits, changes or is unknown
	Bad        // is not an owner, or is terminating
)

// Family is what a tree shows.
type Family struct {
	Members graph.Set
	Targets graph.Set
}
