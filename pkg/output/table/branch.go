package table

import "fmt"

// deepest is how many levels are drawn with branches. A chain can be as long as
// the cluster is large, and branches would grow with its square.
const deepest = 40

// Branch draws what leads to a child in a cell that holds a tree: own stands
// before its name, below is the indent for its own children. indent is that of
// the parent's children, depth counts from 1 below a root, last says that no
// sibling follows.
func Branch(indent string, depth int, last bool) (own, below string) {
	switch {
	case depth > deepest:
		return fmt.Sprintf("⋯ %d levels down: ", depth), ""
	case last:
		return indent + "└─ ", indent + "   "
	default:
		return indent + "├─ ", indent + "│  "
	}
}
