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
)

// managerObserver observes the kube-controller-manager itself.
type managerObserver struct {
	manager *health.Manager
	unknown string // why there is none
}

// checkManager returns a usage error if --controller-manager is not the URL of a server.
func (c *doctorCommand) checkManager() error {
	if c.manager == "" {
		return nil
	}
	err := health.CheckManagerURL(c.manager)
	return cli.UsageIf(err != nil, "--controller-manager %v", err)
}

// observeManager finds the server of the kube-controller-manager: that of --controller-manager, or
// the one that holds the lease.
func (c *doctorCommand) observeManager(ctx context.Context, live *client.Client, leader func() doctor.Observed[doctor.Leader]) managerObserver {
	found := observe(func() (*health.Manager, error) {
		config, err := c.scan.Config.Config()
		if err != nil {
			return nil, err
		}
		if c.manager != "" {
			return health.NewManager(config, c.manager)
		}
		return health.ManagerBehindAPIServer(ctx, config, live, leader().Value.Holder)
	})
	return managerObserver{found.Value, found.Unknown}
}

// queues returns the queues as they are now.
func (m managerObserver) queues(ctx context.Context) doctor.Observed[[]doctor.Queue] {
	if m.manager == nil {
		return doctor.Observed[[]doctor.Queue]{Unknown: m.unknown}
	}
	return observe(func() (out []doctor.Queue, err error) {
		found, err := m.manager.Queues(ctx)
		for _, q := range found {
			out = append(out, doctor.Queue(q))
		}
		return out, err
	})
}

// maxReread is how many objects that the collector does not know are read again.
const maxReread = 200

// graph returns what the collector knows, and what was deleted since the scan.
func (m managerObserver) graph(ctx context.Context, live *client.Client, g *graph.Graph) doctor.Observed[map[types.UID]bool] {
	if m.manager == nil {
		return doctor.Observed[map[types.UID]bool]{Unknown: m.unknown}
	}
	return observe(func() (map[types.UID]bool, error) {
		seen := g.Snapshot()
		known, err := m.manager.Graph(ctx, func(uid types.UID) bool { return g.Find(uid) != graph.None })
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
	})
}
