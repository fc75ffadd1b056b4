package scan

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxOverduePods limits how many Pods past their grace period are requested whole: those that
// should have stopped first.
const maxOverduePods = 100

var pods = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}

// readPodNodes reads the Nodes of the Pods whose grace period is over. Metadata does not name a Pod's
// Node, so each is requested whole. The error is the context's.
func (sc *scanner) readPodNodes(ctx context.Context) error {
	now := sc.now()
	overdue := sc.selectObjects(func(o *object.Object) bool { return o.IsPod() && o.Overdue(now) })
	slices.SortFunc(overdue, func(a, b **object.Object) int {
		return cmp.Or((*a).Deleted.Compare(*(*b).Deleted), (*a).Identity.Compare((*b).Identity))
	})
	overdue = overdue[:min(len(overdue), maxOverduePods)]
	nodes, err := readWhole(ctx, sc, pods, overdue, func(spec, _ json.RawMessage) *object.PodNode { return object.PodNodeOf(spec) })
	if err != nil {
		return err
	}
	var names []string
	for _, n := range nodes {
		if n != nil {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	found, err := sc.readNodes(ctx, slices.Compact(names))
	for i, o := range overdue {
		if nodes[i] != nil {
			sc.own(o).Node = found[nodes[i].Name]
		}
	}
	return err
}

// readNodes returns the Nodes with these names, all of them.
func (sc *scanner) readNodes(ctx context.Context, names []string) (map[string]*object.PodNode, error) {
	if len(names) == 0 {
		return nil, nil
	}
	view, states := sc.view(), map[string]objectState{}
	for _, o := range sc.objects.Objects() {
		if o.Kind == "Node" && o.APIVersion == "v1" {
			states[o.Name] = stateOf(o)
		}
	}
	nodes, err := client.InParallel(ctx, sc.client.Config.SmallConcurrency, names, func(name string) *object.PodNode {
		at, listed := states[name]
		if !listed {
			at = objectState{unlisted: name}
		}
		return remember(sc, at, func() (*object.PodNode, bool) { return sc.readNode(ctx, view, name) })
	})
	out := map[string]*object.PodNode{}
	for i, n := range nodes {
		out[names[i]] = n
	}
	return out, err
}

// readNode returns the Node with that name. The result is lasting if a list shows every change of
// it.
func (sc *scanner) readNode(ctx context.Context, view *snapshot.View, name string) (node *object.PodNode, lasting bool) {
	node = &object.PodNode{Name: name, State: object.NodeUnknown}
	q, err := client.QueryOf(view, object.Identity{APIVersion: "v1", Kind: "Node", Name: name})
	if err != nil {
		return node, false
	}
	var whole struct{ Status json.RawMessage }
	err = client.GetWhole(ctx, sc.client, q, &whole)
	switch {
	case err == nil:
		node.State, node.Since = object.NodeStateOf(whole.Status)
	case sc.reader.IsAbsent(ctx, view, q, err):
		node.State = object.NodeAbsent
	default:
		return node, false
	}
	return node, view.Listed(q.Type.GroupResource(), "")
}
