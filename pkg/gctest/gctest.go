// Package gctest collects garbage on an API server that has no garbage collector, for tests.
//
// An API server without kube-controller-manager, like that of controller-runtime's envtest, stores
// owner references and ignores them: nothing is deleted with its owner, and a foreground deletion
// never completes. A test starts a Collector on it, and then sees what a cluster does:
//
//	gc, err := gctest.Start(ctx, config)
//	if err != nil { … }
//	defer gc.Stop()
//
//	// … create objects, delete an owner …
//	if err := gc.WaitForIdle(ctx); err != nil { … }
//	// its dependents are gone
//
// The rules are those of the garbage collector of Kubernetes, including those about blocking
// references, the propagation policies Background, Foreground and Orphan, and owners in other
// namespaces. It deletes without asking and backs up nothing, so it refuses servers that are not
// on this machine. There, use the command collect.
package gctest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// ErrHasCollector reports that kube-controller-manager runs on the cluster. Its garbage collector
// deletes the same objects.
var ErrHasCollector = errors.New("kube-controller-manager runs on this cluster, which has a garbage collector of its own")

// ErrNotLocal reports that the server is not on this machine.
var ErrNotLocal = errors.New("the API server is not at a loopback address, so it may be one that somebody needs")

const (
	concurrency = 8
	poll        = 50 * time.Millisecond
)

// Collector collects garbage until it is stopped. It is safe for concurrent use.
type Collector struct {
	client  *client.Client
	monitor *monitor.Monitor
	cancel  context.CancelFunc
	ended   chan struct{} // closed when Run has returned
	err     error         // of Run; read after ended
	rounds  chan struct{} // receives a value after a round; capacity 1
}

// Start starts a Collector on the server of a config. It returns when the Collector has listed
// everything, and runs until the context ends or Stop is called. The error is ErrNotLocal if the server is
// not at a loopback address, and ErrHasCollector if kube-controller-manager renews its lease there: if
// there is such a lease, Start watches it for up to 23 seconds.
func Start(ctx context.Context, config *rest.Config) (*Collector, error) {
	if !isLocal(config) {
		return nil, ErrNotLocal
	}
	c, err := client.New(config, client.Options{Concurrency: concurrency, ChooseChunkSize: true, ChunkSize: client.DefaultChunkSize, Timeout: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	leader, err := health.WatchLeader(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("find out whether the cluster has a garbage collector: %w", err)
	}
	if leader.Renews {
		return nil, ErrHasCollector
	}
	ctx, cancel := context.WithCancel(ctx)
	m, err := monitor.Start(ctx, c, monitor.Options{Scope: scope, Parts: true})
	if err != nil {
		cancel()
		return nil, err
	}
	out := &Collector{client: c, monitor: m, cancel: cancel, ended: make(chan struct{}), rounds: make(chan struct{}, 1)}
	if err := m.WaitForSync(ctx); err != nil {
		cancel()
		m.Stop()
		return nil, err
	}
	go func() {
		defer close(out.ended)
		out.err = controller.Run(ctx, controller.Options{
			Client: c, Monitor: m, Execute: execute.Options{Concurrency: concurrency}, MaxDeletes: math.MaxInt, OnRound: out.onRound,
		})
		m.Stop()
	}()
	return out, nil
}

func isLocal(config *rest.Config) bool {
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return false
	}
	if at.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(at.Hostname())
	return err == nil && ip.IsLoopback()
}

var scope = scan.Scope{Running: true}

func (c *Collector) onRound(controller.Round) {
	select {
	case c.rounds <- struct{}{}:
	default:
	}
}

// WaitForIdle waits until a complete scan, which begins after the call, finds nothing for the
// garbage collector to do. What waits for others, such as an object with a finalizer of another
// controller, is not waited for. The error is that of the context, or of a Collector that has ended.
func (c *Collector) WaitForIdle(ctx context.Context) error {
	var busy error
	for {
		select {
		case <-c.ended:
			return fmt.Errorf("the collector has ended: %w", c.err)
		default:
		}
		err := c.checkIdle(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() == nil:
			busy = err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), busy)
		case <-c.ended:
		case <-c.rounds:
		case <-time.After(poll):
		}
	}
}

// checkIdle returns an error that says what there is to do, or why that is unknown.
func (c *Collector) checkIdle(ctx context.Context) error {
	s, err := scan.Cluster(ctx, c.client, scan.Always(scope), time.Now)
	if err != nil {
		return err
	}
	p := plan.New(collector.NewJudge(graph.New(s)), plan.Options{Mode: plan.Collect})
	switch {
	case !s.Complete():
		return fmt.Errorf("not everything could be read: %s: %s", s.Gaps[0], s.Gaps[0].Message)
	case len(p.Steps) > 0:
		first := &p.Steps[0]
		return fmt.Errorf("the collector has %d steps to do, the first is to %s %s in namespace %q: %s",
			len(p.Steps), first.Action, first.Object.Identity, first.Object.Namespace, reason.Message(first.Reason))
	}
	return nil
}

// Stop stops the Collector and waits until it has ended. A write in flight is completed.
func (c *Collector) Stop() {
	c.cancel()
	<-c.ended
}
