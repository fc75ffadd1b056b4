package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/lease"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// leaseName is the name of the Lease by which only one of several instances acts.
const leaseName = "kubectl-gc-controller"

// service is a run of the command.
type service struct {
	command    *controllerCommand
	client     *client.Client
	metrics    *metrics
	clusterUID types.UID      // empty if unknown or not read yet
	shares     *backup.Shares // nil if nothing is backed up
	pruned     time.Time      // when old backups were looked for
	log        *roundLog
}

// serve collects until the context ends or the service has to stop: the Lease is lost, or the cluster's own
// collector is alive.
func (c *controllerCommand) serve(ctx context.Context) error {
	live, err := c.options.Scan.Connect()
	if err != nil {
		return err
	}
	if err := c.options.Scan.RequireNamespace(ctx, c.options.Scan.Config.Namespace(), &snapshot.Snapshot{}, live); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // the service continues when nobody reads its output any more
	s := &service{command: c, client: live, metrics: newMetrics(), log: &roundLog{options: c.options}}
	if c.metricsAddress != "" {
		stop, err := s.metrics.serve(c.metricsAddress)
		if err != nil {
			return err
		}
		defer stop()
	}
	s.log.note("starting" + c.options.Place() + ": everything that becomes garbage will be deleted")
	run := s.runAsLeader
	if !c.leaderElect {
		run = s.run
	}
	err = run(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		s.log.note("stopped: interrupted")
		return cli.ExitError(cli.ExitInterrupted)
	}
	return err
}

// runAsLeader runs while this instance holds the Lease.
func (s *service) runAsLeader(ctx context.Context) error {
	host, _ := os.Hostname() // only for people
	lock := lease.New(s.client, s.command.leaseNamespace, leaseName, host+"_"+string(uuid.NewUUID()))
	var rights []object.Right
	for _, verb := range []string{"get", "create", "patch"} {
		rights = append(rights, object.Right{Verb: verb, Objects: []object.Identity{lock.Object()}})
	}
	if err := s.command.options.Scan.RequireRights(ctx, s.client, &snapshot.Snapshot{Types: []snapshot.Type{lease.Leases}}, "--leader-elect", rights); err != nil {
		return err
	}
	err := lock.Acquire(ctx, func(holder string, err error) {
		if err != nil {
			s.log.note("warning: " + err.Error())
		} else {
			s.log.note("waiting: the Lease " + s.command.leaseNamespace + "/" + leaseName + " is held by " + holder)
		}
	})
	if err != nil {
		return err
	}
	leading, cancel := context.WithCancelCause(ctx)
	// Renewal ends after the last write of the run, so that no other instance acts meanwhile.
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		cancel(lock.Hold(renewing))
	}()
	err = s.run(leading)
	if lost := context.Cause(leading); errors.Is(lost, lease.ErrLost) {
		err = cli.Refuse(s.command.options.Scan.Streams, cli.ExitFound, lost.Error(), "")
	}
	stop()
	<-renewed
	return err
}

// run collects until the context ends, or until the cluster's own garbage collector is alive. If the cluster does not
// fit into memory, it begins again without the owner references of the namespaces that need the most, which are read
// again after crowdedInterval.
func (s *service) run(ctx context.Context) error {
	if err := s.refuseBesideOwn(ctx); err != nil {
		return err
	}
	for live := *s.client; ; {
		err := s.collect(ctx, &live)
		switch full, ok := errors.AsType[*client.MemoryError](err); {
		case ok && len(full.Largest) > 0:
			live.Crowded = slices.Concat(live.Crowded, full.Largest)
		case errors.Is(err, errReadAgain):
			live.Crowded = nil
		default:
			return err
		}
	}
}

// crowdedInterval is how long the owner references of a namespace are not read that did not fit into memory.
const crowdedInterval = time.Hour

var errReadAgain = errors.New("the namespaces that did not fit into memory are read again")

// collect runs rounds on a live copy.
func (s *service) collect(ctx context.Context, live *client.Client) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if len(live.Crowded) > 0 {
		defer time.AfterFunc(crowdedInterval, func() { cancel(errReadAgain) }).Stop()
	}
	m, err := monitor.Start(running, live, monitor.Settings{Scope: s.command.options.Scan.Everything(scan.Scope{Running: true}), Now: s.command.options.Scan.Now})
	if err != nil {
		return err
	}
	defer m.Stop()
	s.metrics.observe(m)
	defer s.metrics.observe(nil) // the next one needs its memory
	s.log.note("collecting garbage until interrupted")
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel(nil) // ends what is waited for
	looking.Go(func() {
		for running.Err() == nil {
			if client.Wait(running, ownCollectorInterval) != nil {
				return
			}
			// If the check itself fails, carry on: the API server may be restarting.
			if err := s.refuseBesideOwn(running); errors.As(err, new(cli.ExitError)) {
				cancel(err)
			}
		}
	})
	err = controller.Run(running, s.options(m, live))
	if cause := context.Cause(running); ctx.Err() == nil && cause != nil {
		return cause
	}
	return err
}

// ownCollectorInterval is how often the service looks whether kube-controller-manager has come
// to life.
const ownCollectorInterval = 30 * time.Second

// refuseBesideOwn returns an error if the cluster's own garbage collector may be alive.
func (s *service) refuseBesideOwn(ctx context.Context) error {
	if s.command.besideOwn {
		return nil
	}
	leader, err := health.WatchLeader(ctx, s.client)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		_, message := client.Classify(err)
		return cli.WithHint(fmt.Errorf("find out whether kube-controller-manager runs: %s", message),
			"if it does not run, or its garbage collector is disabled, use --allow-running-collector")
	case leader.Renews:
		return cli.Refuse(s.command.options.Scan.Streams, cli.ExitFound,
			fmt.Sprintf("kube-controller-manager runs (%s renews its lease), and its garbage collector deletes the same objects", cli.Quote(leader.Holder)),
			"if its garbage collector is disabled, use --allow-running-collector; to find out: "+s.command.options.Scan.Suggest("doctor"))
	}
	return nil
}

func (s *service) options(m *monitor.Monitor, live *client.Client) controller.Setup {
	c := s.command
	o := controller.Setup{
		Client: live, Monitor: m, Accepted: c.options.AcceptedGaps, MaxDeletes: c.options.MaxDeletes,
		Execute: c.options.ExecuteOptions(), Within: func(g *graph.Graph) func(graph.Node) bool { return c.options.Scan.InScope(g) },
		OnStep: func(step *plan.Step, e event.Event) {
			s.metrics.observeStep(step, e)
			s.log.step(step, e)
		},
		OnRound: func(r controller.Round) {
			s.metrics.observeRound(&r)
			s.log.round(&r)
		},
	}
	if !c.options.NoBackup {
		o.Backup = s.openBackup
		if s.shares == nil {
			s.shares = backup.NewShares(s.limits())
		}
		s.prune()
		o.Full = func(namespace string) bool {
			if s.shares.Full(namespace) {
				s.prune()
			}
			return s.shares.Full(namespace)
		}
	}
	return o
}

// pruneInterval is how often old backups are looked for at most.
const pruneInterval = time.Minute

func (s *service) limits() backup.Limits {
	return backup.Limits{MaxAge: s.command.backupMaxAge, MaxBytes: s.command.backupMaxSize.Value()}
}

// prune removes old backups, at most once in an interval, and finds out how much each namespace uses.
func (s *service) prune() {
	now := s.command.options.Scan.Now()
	if now.Sub(s.pruned) < pruneInterval {
		return
	}
	s.pruned = now
	root, err := s.command.options.BackupRoot()
	if err == nil {
		var used map[string]int64
		if used, err = backup.Prune(root, cli.RoundPrefix, s.limits(), now, s.command.options.Scan.Disk); err == nil {
			s.shares.Set(used)
		}
	}
	if err != nil {
		s.log.note("warning: " + err.Error())
	}
}

// openBackup opens the backup of a round. At most once a minute, it first removes old backups.
func (s *service) openBackup(ctx context.Context, seen *snapshot.Snapshot, p *plan.Plan) (controller.RoundBackup, error) {
	o := s.command.options
	s.prune()
	if s.clusterUID == "" {
		s.clusterUID = cli.IdentifyCluster(ctx, s.client, seen)
	}
	b, err := cli.NewRunBackup(o, cli.BackupPlace{Prefix: cli.RoundPrefix, ClusterUID: s.clusterUID, Shares: s.shares}, s.client, seen, p)
	if err != nil {
		return nil, err // not a nil *RunBackup in an interface
	}
	return b, nil
}
