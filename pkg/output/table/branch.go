package table

import "fmt"

// maxBranches is how many levels have branches. Without a limit, the size of a long chain
// would grow with its square.
const maxBranches = 40

// Branch returns the branches before the name of a child in a tree, and the indent of its
// own children. indent is that of the parent's children, depth is 1 below a root, last is
// set for the last child.
func Branch(indent string, depth int, last bool) (prefix, childIndent string) {
	switch {
	case depth > maxBranches:
		return fmt.Sprintf("⋯ %d levels down: ", depth), ""
	case last:
		return indent + "└─ ", indent + "   "
	default:
		return indent + "├─ ", indent + "│  "
	}
}
