package read

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MarkPodsOf returns a copy of the snapshot with the Node of each Pod on the given Nodes. Metadata does
// not name it, so the server selects the Pods. c is nil for a snapshot from a file, which may name
// the Nodes. Where that is unknown, the Pods become a gap. The error is the context's.
func MarkPodsOf(ctx context.Context, c *client.Client, s *snapshot.Snapshot, nodes []string) (*snapshot.Snapshot, error) {
	on := map[types.UID]string{}
	marked := *s
	pods := client.Query{Type: snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}
	for i := 0; c != nil && i < len(nodes); i++ {
		pods.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodes[i]).String()
		found := c.List(ctx, pods, false)
		if found.Err != nil {
			gap := client.GapOf(pods, found.Err)
			if !slices.ContainsFunc(marked.Gaps[len(s.Gaps):], func(g snapshot.Gap) bool { return g.Reason == gap.Reason }) {
				marked.Gaps = append(slices.Clip(marked.Gaps), gap)
			}
		}
		for _, o := range found.Objects {
			on[o.UID] = nodes[i]
		}
	}
	marked.Objects = slices.Clone(s.Objects)
	for i, o := range s.Objects {
		if node := on[o.UID]; node != "" && o.Node == nil {
			marked.Objects[i] = new(*o)
			marked.Objects[i].Node = &object.PodNode{Name: node, State: object.NodeUnknown}
		}
		if c == nil && o.Kind == "Pod" && o.Node == nil && o.Claims == nil { // the file has metadata only
			marked.Gaps = append(slices.Clip(s.Gaps), snapshot.Gap{Resource: "pods", Reason: snapshot.NotInFile, Message: "the file does not name the Nodes of Pods"})
		}
	}
	if c == nil {
		return &marked, nil
	}
	return &marked, ctx.Err()
}
