package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// dialect is how a plan is put to a person. Of a pass one wants to know what it
// does, of a deletion what becomes of things.
type dialect struct {
	words   map[collector.Action]string // where they are not the verbs
	members bool                        // what goes along with a namespace or definition is named one by one
}

func dialectOf(mode plan.Mode) dialect {
	if mode == plan.Delete {
		return dialect{
			words:   map[collector.Action]string{collector.ActionUnlink: "keep", collector.ActionRemoveFinalizer: "delete"},
			members: true,
		}
	}
	return dialect{}
}

func (d dialect) word(act collector.Action) string {
	if w, ok := d.words[act]; ok {
		return w
	}
	return word(act)
}
