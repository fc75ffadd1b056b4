package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBranch(t *testing.T) {
	for name, c := range map[string]struct {
		indent     string
		depth      int
		last       bool
		own, below string
	}{
		"a child with further siblings":               {"", 1, false, "├─ ", "│  "},
		"the last one closes the branch":              {"", 1, true, "└─ ", "   "},
		"a child of an indented parent":               {"│  ", 2, true, "│  └─ ", "│     "},
		"the deepest level with branches":             {"   ", 40, false, "   ├─ ", "   │  "},
		"deeper levels are numbered and not indented": {"   ", 41, false, "⋯ 41 levels down: ", ""},
		"a last child at any depth":                   {"", 200_000, true, "⋯ 200000 levels down: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			own, below := branch(c.indent, c.depth, c.last)
			if diff := cmp.Diff([]string{c.own, c.below}, []string{own, below}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
