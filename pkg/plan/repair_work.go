package plan

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// repairWork is all that is done to the references of one object.
type repairWork struct {
	relink, updateVersion []object.Rewrite
	drop                  []int
}

func (p *repairWork) add(fix repair.Fix, i int, m repair.Repair) {
	switch fix {
	case repair.Relink:
		p.relink = append(p.relink, object.Rewrite{Index: i, Reference: m.Becomes})
	case repair.UpdateVersion:
		p.updateVersion = append(p.updateVersion, object.Rewrite{Index: i, Reference: m.Becomes})
	case repair.Unlink:
		p.drop = append(p.drop, i)
	case repair.None:
	}
}

func (p *repairWork) empty() bool { return len(p.relink)+len(p.updateVersion)+len(p.drop) == 0 }

// changes are the changes of an operation by their action: first those that give the
// object an owner that holds, since a collector that is at work may come in between.
// None of them moves a reference that one after it names.
func (p *repairWork) changes() []part {
	var out []part
	for _, of := range []part{
		{Relink, object.Change{Rewrite: p.relink}}, {UpdateVersion, object.Change{Rewrite: p.updateVersion}}, {collector.ActionUnlink, object.Change{Drop: p.drop}},
	} {
		if !of.change.Empty() {
			out = append(out, of)
		}
	}
	return out
}

type part struct {
	action collector.Action
	change object.Change
}
