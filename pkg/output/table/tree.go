package table

import (
	"fmt"
	"strings"
)

// Tree calls row for each child and, depth first, for everything below it. depth is 1 for
// these children, and branches belong before the name of a row. row returns the children of
// its node. Tree does not recurse.
func Tree[Node any](children []Node, row func(n Node, depth int, branches string) []Node) {
	type level struct {
		rest   []Node // still to draw
		indent string
	}
	path := []level{{rest: children}}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if len(at.rest) == 0 {
			path = path[:len(path)-1]
			continue
		}
		child := at.rest[0]
		at.rest = at.rest[1:]
		branches, indent := branch(at.indent, len(path), len(at.rest) == 0)
		path = append(path, level{row(child, len(path), branches), indent})
	}
}

// maxBranches is how many levels have branches. Without a limit, the size of a long chain
// would grow with its square.
const maxBranches = 40

// branch returns the branches before the name of a child in a tree, and the indent of its
// own children. indent is that of the parent's children, depth is 1 below a root, last is
// set for the last child.
func branch(indent string, depth int, last bool) (branches, childIndent string) {
	switch {
	case depth > maxBranches:
		return fmt.Sprintf("⋯ %d levels down: ", depth), ""
	case last:
		return indent + "└─ ", indent + "   "
	default:
		return indent + "├─ ", indent + "│  "
	}
}

// branchesOf returns the branches that a cell begins with.
func branchesOf(cell string) string {
	name := strings.TrimLeft(cell, " │├└─")
	if branches := strings.TrimSuffix(cell, name); strings.ContainsAny(branches, "├└") {
		return branches
	}
	return ""
}

// trunks returns what a tree draws on a line above that cell.
func trunks(cell string) string { return trunk.Replace(branchesOf(cell)) }

var trunk = strings.NewReplacer("├─", "│ ", "└─", "│ ")
