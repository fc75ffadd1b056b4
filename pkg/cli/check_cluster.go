package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// checkCluster returns an error unless the backup is of the cluster in use, or the user
// said that it need not be.
func (f *restoreFlags) checkCluster(ctx context.Context, h backup.Header) error {
	if f.from != "" || f.elsewhere {
		return nil
	}
	const say = "to restore it to this cluster, use --to-another-cluster"
	if h.ClusterUID == "" {
		return withHint(
			usagef("the backup does not record its cluster; its server was %s (context %s)", quoted(h.Server), quoted(h.Context)),
			"the run could not read Namespace kube-system, or an older version wrote the backup; "+say,
		)
	}
	live, err := f.connect()
	if err != nil {
		return err
	}
	uid, err := live.UID(ctx)
	switch {
	case err != nil:
		return withHint(
			fmt.Errorf("cannot verify that the backup is of this cluster: %w", err),
			"ask for permission to read Namespace kube-system, whose UID identifies a cluster; or "+say,
		)
	case string(uid) != h.ClusterUID:
		_, server, err := f.contextAndServer()
		if err != nil {
			return err
		}
		return withHint(
			usagef("the backup is of another cluster: its Namespace kube-system has UID %s (server %s, context %s), here it has UID %s (server %s)",
				quoted(h.ClusterUID), quoted(h.Server), quoted(h.Context), quoted(string(uid)), quoted(server)),
			"select its context with --context; "+say,
		)
	}
	return nil
}
