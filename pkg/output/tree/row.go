package tree

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Row is one line of a tree.
type Row struct {
	Prefix    string // the branches that lead here
	Namespace string
	Name      string     // Kind/name
	Node      graph.Node // graph.None for an owner that is only claimed
	Again     bool       // refers to an object that stands in full elsewhere
	Edge      graph.Edge // the reference by which the row hangs under the one above it; its Node is graph.None at the top
	Target    bool
	Claim     *object.Reference // of an owner that is only claimed
	Notes     []Note
}

// Note is one remark on a row.
type Note struct {
	Text string
	Tone Tone
}

// Tone says how grave a note is; colour only underlines it.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Waits      // it waits, changes, or nobody knows
	Bad        // it is no owner, or it goes
)

// Family is what a tree shows.
type Family struct {
	Members graph.Set
	Targets graph.Set
}
