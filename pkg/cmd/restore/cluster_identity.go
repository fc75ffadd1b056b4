package restore

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// checkCluster returns an error if the backup is not of the current cluster, unless
// --to-another-cluster is given.
func (f *restoreFlags) checkCluster(ctx context.Context, h backup.Header) error {
	if f.options.Scan.From != "" || f.toAnotherCluster {
		return nil
	}
	const useFlag = "to restore it to this cluster, use --to-another-cluster"
	if h.ClusterUID == "" {
		return cli.WithHint(
			cli.Usagef("the backup does not record its cluster; its server was %s (context %s)", cli.Quote(h.Server), cli.Quote(h.Context)),
			"the run could not read Namespace kube-system, or an older version wrote the backup; "+useFlag,
		)
	}
	live, err := f.options.Scan.Connect()
	if err != nil {
		return err
	}
	uid, err := live.UID(ctx)
	switch {
	case err != nil:
		return cli.WithHint(
			fmt.Errorf("cannot verify that the backup is of this cluster: %w", err),
			"ask for permission to read Namespace kube-system, whose UID identifies a cluster; or "+useFlag,
		)
	case string(uid) != h.ClusterUID:
		_, server, err := f.options.Scan.ContextAndServer()
		if err != nil {
			return err
		}
		return cli.WithHint(
			cli.Usagef("the backup is of another cluster: its Namespace kube-system has UID %s (server %s, context %s), here it has UID %s (server %s)",
				cli.Quote(h.ClusterUID), cli.Quote(h.Server), cli.Quote(h.Context), cli.Quote(string(uid)), cli.Quote(server)),
			"select its context with --context; "+useFlag,
		)
	}
	return nil
}
