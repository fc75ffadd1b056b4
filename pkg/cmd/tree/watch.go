package tree

import (
	"bytes"
	"context"
	"encoding/json"
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
	last     []byte // the last answer, for a comparison
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
	if missing != nil && (w.last == nil || !cli.IsNotFound(missing)) {
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
	if w.watch.Lines() {
		changed, err := w.differs(document)
		if err == nil && (changed || sight.After != nil) {
			err = sight.WriteDocument("Tree", timedDocument{sight.Taken.Taken, document})
		}
		return cli.Shown{Changed: changed}, err
	}
	if err := w.printCells(ctx, &c, c.shown(family)); err != nil {
		return cli.Shown{}, err
	}
	changed, err := w.differs(document)
	switch {
	case err != nil:
	case missing != nil:
		fmt.Fprintln(sight.Out, missing)
	default:
		err = c.printRows(family, isolated, w.cells)
	}
	sight.WarnOfGaps(sight.Taken)
	return cli.Shown{Changed: changed, Aging: true, Status: true}, err
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

// differs reports whether an answer is another than the one before.
func (w *watched) differs(document *tree.Document) (bool, error) {
	compared := *document
	compared.Gaps = cli.GapsWithoutMessages(document.Gaps)
	now, err := json.Marshal(struct {
		*tree.Document
		Cells map[types.UID]tree.Cells
	}{&compared, w.cells})
	changed := !bytes.Equal(now, w.last)
	w.last = now
	return changed, err
}
