package doctor

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// checkManager returns a usage error if --controller-manager is not the URL of a server.
func (c *doctorCommand) checkManager() error {
	if c.manager == "" {
		return nil
	}
	err := health.CheckManagerURL(c.manager)
	return cli.UsageIf(err != nil, "--controller-manager %v", err)
}

// findManager finds the server of the kube-controller-manager: that of --controller-manager, or the one
// that holds the lease.
func (c *doctorCommand) findManager(ctx context.Context, live *client.Client, leader func() doctor.Observed[reason.Leader]) (*health.Manager, error) {
	config, err := c.scan.Config.Config()
	if err != nil {
		return nil, err
	}
	if c.manager != "" {
		return health.NewManager(config, c.manager)
	}
	return health.ManagerBehindAPIServer(ctx, config, live, leader().Value.Holder)
}

// maxReread is how many objects that the collector does not know are read again.
const maxReread = 200

// collectorGraph returns what the collector knows, and what was deleted since the scan.
func collectorGraph(ctx context.Context, m *health.Manager, live *client.Client, g *graph.Graph) (map[types.UID]bool, error) {
	seen := g.Snapshot()
	known, err := m.Graph(ctx, func(uid types.UID) bool { return g.Find(uid) != graph.None })
	if err != nil {
		return nil, err
	}
	unknown, _ := doctor.UnknownToCollector(g, known)
	reader := scan.NewObjectReader(live, seen)
	for _, o := range unknown[:min(len(unknown), maxReread)] {
		if now, err := reader.ReadState(ctx, g.View(), o); err == nil && now == nil {
			known[o.UID] = true
		}
	}
	return known, ctx.Err()
}
