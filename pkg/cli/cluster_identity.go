package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// A cluster is identified by the UID of its Namespace kube-system, because two clusters may
// share a server URL or the name of a context. An unknown UID equals no other, not even
// another unknown one.

// IdentifyCluster sets the UID of the scanned cluster, unless that was a file. If the scan does not
// have it and it cannot be read, it warns of the consequence, and the operation continues.
func (op *Operation) IdentifyCluster(ctx context.Context, consequence string) {
	if op.Current.Cluster == nil || op.ClusterUID != "" {
		return
	}
	if op.ClusterUID = read.UIDInScan(op.Current.Snapshot); op.ClusterUID != "" {
		return
	}
	uid, err := read.UID(ctx, op.Current.Cluster)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(op.Options.Scan.Err, "warning: cannot identify this cluster, so %s: %s\n", consequence, escape.Short(err.Error(), 2000))
	}
	op.ClusterUID = uid
}
