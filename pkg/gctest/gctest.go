// Package gctest collects garbage on an API server that has no garbage collector, for tests.
//
// An API server without kube-controller-manager, like that of controller-runtime's envtest, stores
// owner references and ignores them: nothing is deleted with its owner, and a foreground deletion
// never completes. A test starts a Collector on it, and then sees what a cluster does:
//
//	config, err := environment.Start() // an envtest.Environment
//	…
//	gc, err := gctest.Start(ctx, config, gctest.Options{
//		DeletesEverythingOn: environment.ControlPlane.GetAPIServer().SecureServing.HostPort(),
//	})
//	if err != nil { … }
//	defer gc.Stop()
//
//	// … create objects, delete an owner …
//	if err := gc.WaitForIdle(ctx); err != nil { … }
//	// its dependents are gone
//
// The rules are those of the garbage collector of Kubernetes, including those about blocking
// references, the propagation policies Background, Foreground and Orphan, and owners in other
// namespaces. It deletes without asking and backs up nothing, so it acts only on an API server that
// the test has started on this machine, and deletes a limited number of objects. Elsewhere, use the
// command collect.
package gctest

import (
	"cmp"
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
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// ErrHasCollector reports that kube-controller-manager runs on the cluster. Its garbage collector
// deletes the same objects.
var ErrHasCollector = errors.New("kube-controller-manager runs on this cluster, which has a garbage collector of its own")

// ErrNotLocal reports that requests may go to a server that is not on this machine: the address is
// not a loopback IP, or the config has a Proxy, Dial, Transport or WrapTransport.
var ErrNotLocal = errors.New("the API server may not be on this machine: its address must be a loopback IP such as 127.0.0.1, and the config must not change where requests go")

// ErrNotStarted reports that the server is not the one of Options.DeletesEverythingOn.
var ErrNotStarted = errors.New("the API server is not the one that the test has started, so it may be one that somebody needs")

// ErrTooManyDeletes reports that there is more garbage than Options.MaxDeletes.
var ErrTooManyDeletes = errors.New("there is more garbage than MaxDeletes permits to delete")

// Options say on what a Collector acts.
type Options struct {
	// DeletesEverythingOn is host and port of the API server that the test has started. All garbage
	// on it is deleted for good. Take it from what has started the server, not from the config: the
	// config may be that of a cluster that somebody needs, as with USE_EXISTING_CLUSTER=true.
	DeletesEverythingOn string
	// MaxDeletes is how many objects the Collector may delete, 1000 if it is 0. At the start it limits how many would
	// go, with the contents of Namespaces and CustomResourceDefinitions, and then how many DELETEs the Collector sends.
	MaxDeletes int
}

const (
	defaultMaxDeletes = 1000

	concurrency = 8
	poll        = 50 * time.Millisecond
)

// Collector collects garbage until it is stopped. It is safe for concurrent use.
type Collector struct {
	client  *client.Client
	monitor *monitor.Monitor
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when Run has returned
	err     error         // of Run; read after ended
	rounds  chan struct{} // receives a value after a round; capacity 1
}

// Start starts a Collector on the server of a config. It returns when the Collector has listed
// everything, and runs until the context ends or Stop is called. The error is or wraps
//   - ErrNotLocal or ErrNotStarted, before any request;
//   - ErrHasCollector if kube-controller-manager renews its lease there: if there is such a lease,
//     Start watches it for up to 23 seconds;
//   - ErrTooManyDeletes, before anything is deleted.
func Start(ctx context.Context, config *rest.Config, o Options) (*Collector, error) {
	if err := check(config, o); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Config{Concurrency: concurrency, ChooseChunkSize: true, ChunkSize: client.DefaultChunkSize, Timeout: 30 * time.Second})
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
	ctx, cancel := context.WithCancelCause(ctx)
	m, err := monitor.Start(ctx, c, monitor.Settings{Scope: scope})
	if err != nil {
		cancel(nil)
		return nil, err
	}
	out := &Collector{client: c, monitor: m, cancel: cancel, ended: make(chan struct{}), rounds: make(chan struct{}, 1)}
	if err := m.WaitForSync(ctx); err != nil {
		cancel(nil)
		m.Stop()
		return nil, err
	}
	most := cmp.Or(o.MaxDeletes, defaultMaxDeletes)
	p, err := out.plan(ctx)
	if err == nil && len(p.LostObjects) > most {
		err = fmt.Errorf("%w: %d objects, and at most %d", ErrTooManyDeletes, len(p.LostObjects), most)
	}
	if err != nil {
		cancel(nil)
		m.Stop()
		return nil, err
	}
	deleted := 0
	go func() {
		defer close(out.ended)
		out.err = controller.Run(ctx, controller.Setup{
			Client: c, Monitor: m, Execute: execute.Tuning{Concurrency: concurrency}, MaxDeletes: math.MaxInt, OnRound: out.onRound,
			OnStep: func(s *plan.Step, e event.Event) {
				if s.Action != plan.ActionDelete || e.Status != event.Done {
					return
				}
				if deleted++; deleted == most {
					cancel(fmt.Errorf("%w: it has deleted %d objects", ErrTooManyDeletes, deleted))
				}
			},
		})
		if cause := context.Cause(ctx); errors.Is(cause, ErrTooManyDeletes) {
			out.err = cause
		}
		m.Stop()
	}()
	return out, nil
}

// check returns an error unless requests go to the server that the test has started.
func check(config *rest.Config, o Options) error {
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotLocal, err)
	}
	ip, err := netip.ParseAddr(at.Hostname())
	if err != nil || !ip.IsLoopback() || config.Proxy != nil || config.Dial != nil || config.Transport != nil || config.WrapTransport != nil {
		return ErrNotLocal
	}
	if at.Host != o.DeletesEverythingOn {
		return fmt.Errorf("%w: the config has %s, and Options.DeletesEverythingOn is %q", ErrNotStarted, at.Host, o.DeletesEverythingOn)
	}
	return nil
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
	p, err := c.plan(ctx)
	switch {
	case err != nil:
		return err
	case !p.Complete:
		return fmt.Errorf("not everything could be read: %s: %s", p.Gaps[0], p.Gaps[0].Message)
	case len(p.Steps) > 0:
		first := &p.Steps[0]
		return fmt.Errorf("the collector has %d steps to do, the first is to %s %s in namespace %q: %s",
			len(p.Steps), first.Action, first.Object.Identity, first.Object.Namespace, first.Reason.Message())
	}
	return nil
}

// plan returns what there is to do, by a new scan.
func (c *Collector) plan(ctx context.Context) (*plan.Plan, error) {
	s, err := scan.Cluster(ctx, c.client, nil, scope, time.Now)
	if err != nil {
		return nil, err
	}
	return plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(nil)), nil
}

// Stop stops the Collector and waits until it has ended. A write in flight is completed.
func (c *Collector) Stop() {
	c.cancel(nil)
	<-c.ended
}
