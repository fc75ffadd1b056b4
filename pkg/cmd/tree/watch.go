package tree

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
)

// watched is what --watch knows from the states before.
type watched struct {
	*treeCommand
	cells    map[types.UID]tree.Cells
	versions map[types.UID]string // the resourceVersions of the objects with these cells
}

// timedDocument is a line of JSON.
type timedDocument struct {
	Time time.Time `json:"time"` // end of the scan
	*tree.Document
}

// runWatch shows the tree of every new state of the cluster.
func (c *treeCommand) runWatch(ctx context.Context, args []string, scope scan.Scope) error {
	c.named = map[types.UID]bool{}
	w := &watched{treeCommand: c}
	return c.watch.Run(ctx, "tree", args, scope, w.show)
}

func (w *watched) show(ctx context.Context, sight *cli.Sight) (cli.Shown, error) {
	c := *w.treeCommand
	c.scan = sight.ScanOptions
	c.setScan(sight.Taken, sight.Client)
	family, isolated, missing := c.family()
	if missing != nil && (len(c.named) == 0 || !cli.IsNotFound(missing)) {
		return cli.Shown{}, missing
	}
	for _, t := range c.selection.Targets {
		if t.Name != "" {
			for _, n := range t.NodesIn(c.graph, c.selection.Namespace) {
				c.named[c.graph.UID(n)] = true
			}
		}
	}
	document := tree.NewDocument(c.graph, c.judge, family)
	compared := *document
	compared.Gaps = cli.GapsWithoutMessages(document.Gaps)
	if w.watch.Lines() {
		return cli.Shown{Compared: compared, Kind: "Tree", Line: timedDocument{sight.Taken.Taken, document}}, nil
	}
	if err := w.printCells(ctx, &c, c.shown(family)); err != nil {
		return cli.Shown{}, err
	}
	var err error
	if missing != nil {
		fmt.Fprintln(sight.Text(), missing)
	} else {
		err = c.printRows(family, isolated, w.cells)
	}
	sight.WarnOfGaps(sight.Taken)
	return cli.Shown{Compared: []any{compared, w.cells}, Aging: true, Status: true}, err
}

// printCells asks the server for READY and STATUS of the objects that have changed. AGE is left
// out, as it would stay the same.
func (w *watched) printCells(ctx context.Context, c *treeCommand, shown []*object.Object) error {
	cells, versions := map[types.UID]tree.Cells{}, map[types.UID]string{}
	var changed []*object.Object
	for _, o := range shown {
		if w.versions[o.UID] == o.ResourceVersion {
			cells[o.UID], versions[o.UID] = w.cells[o.UID], o.ResourceVersion
		} else {
			changed = append(changed, o)
		}
	}
	printed, err := c.cells(ctx, changed)
	if err != nil {
		return err
	}
	for _, o := range changed {
		if p, ok := printed[o.UID]; ok { // else it is asked for again
			cells[o.UID], versions[o.UID] = tree.Cells{Ready: p.Ready, Status: p.Status}, o.ResourceVersion
		}
	}
	w.cells, w.versions = cells, versions
	return nil
}
