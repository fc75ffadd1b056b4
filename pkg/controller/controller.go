// Package controller runs the garbage collector continuously. Whenever a live copy of the cluster
// changes, it plans one pass over it, as kubectl gc collect does over a scan, and carries it out with
// the same precautions. The rules are those of package collector.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Bounds of the pause before a step that was not done is tried again, and before a failed round is
// repeated.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// wholeInterval is how long rounds may look only at what changed before one looks at everything.
const wholeInterval = time.Minute

// Setup configures Run.
type Setup struct {
	Client  *client.Client
	Monitor *monitor.Monitor // stopped by the caller, after Run has returned
	// Within returns a function that reports whether the collector may act on an object, or nil
	// if it may act on all of them. It may be nil itself.
	Within   func(*graph.Graph) func(graph.Node) bool
	Accepted snapshot.AcceptedGaps
	// MaxDeletes limits what one round deletes: the objects of any one namespace, and the objects that
	// lost owners of any one kind, not counting the five namespaces with the most of those. What
	// exceeds a limit is left out entirely, until a round over everything finds it within the limit.
	// With 0, nothing is deleted.
	MaxDeletes int
	// Full reports whether the backups of a namespace are full for now: a round leaves that namespace
	// out. Nil means never.
	Full    func(namespace string) bool
	Execute execute.Tuning
	// Backup opens the backup of a round, which Run closes. Nil means that nothing is backed up.
	Backup func(context.Context, *snapshot.Snapshot, *plan.Plan) (RoundBackup, error)
	// OnStep is called when a step has ended, one at a time. It may be nil.
	OnStep func(*plan.Step, event.Event)
	// OnRound is called after every round, one at a time. It may be nil.
	OnRound func(Round)
}

// RoundBackup stores what one round is about to delete, and the result of each step.
type RoundBackup interface {
	planrun.BackupWriter
	// Record records the result of a step. After an error, the round starts no further step.
	Record(event.Event) error
	Close() error
}

// Round is what one round found and did.
type Round struct {
	Snapshot *snapshot.Snapshot // of what changed, or of everything; nil if it could not be read
	Plan     *plan.Plan         // nil if the snapshot could not be read
	Report   *execute.RunResult // nil if there was nothing to do, or if the round failed
	Held     int                // objects that are left alone until a write shows, or a step is tried again
	LeftOut  []LeftOut          // sorted
	Took     time.Duration
	Err      error // why the round failed; it will be tried again
}

// Run collects garbage until the context ends and returns the context's error, or the Monitor's if the
// Monitor ends first.
func Run(ctx context.Context, o Setup) error {
	if err := o.Monitor.WaitForSync(ctx); err != nil {
		return err
	}
	c := &controller{
		options: o, held: map[types.UID]hold{}, left: newLeftOut(),
	}
	for {
		pause, err := c.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := c.wait(ctx, pause); err != nil {
			return err
		}
	}
}

type controller struct {
	options  Setup
	held     map[types.UID]hold
	left     leftOut
	failures int       // rounds in a row that failed
	whole    time.Time // when the latest round over everything began
	parts    bool      // there was a round over a part since
}

// hold keeps rounds from acting on an object.
type hold struct {
	until time.Time
	// written is the resourceVersion at which a round wrote to the object; empty if it did not. The
	// hold ends as soon as the live copy shows another version, and so the effect of the write.
	written  string
	failures int // attempts in a row that were not done
}

// backoff returns the pause after that many failures in a row.
func backoff(failures int) time.Duration { return min(firstPause<<min(failures, 16), longestPause) }

// wait waits until the cluster changes or the pause is over. If the pause is 0, only a change ends it.
func (c *controller) wait(ctx context.Context, pause time.Duration) error {
	var over <-chan time.Time
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.options.Monitor.Changed():
	case <-over:
	}
	return nil
}

// round plans and carries out one pass. It returns how long to wait for a change before the next one;
// 0: without limit.
func (c *controller) round(ctx context.Context) (pause time.Duration, err error) {
	begun := time.Now()
	if (c.parts || c.left.full()) && begun.Sub(c.whole) >= wholeInterval {
		c.options.Monitor.ForceEverything()
	}
	due := c.due(begun)
	changes, err := c.options.Monitor.SnapshotOfChanges(ctx, due...)
	r := Round{Snapshot: changes.Snapshot}
	if c.parts = changes.Decidable != nil; !c.parts {
		c.whole = begun
	}
	switch {
	case ctx.Err() != nil:
		return 0, nil
	case isFinal(err):
		return 0, err
	case err == nil:
		if err = c.collect(ctx, &r, changes); err == nil {
			c.release(due, begun)
		}
	}
	r.Took, r.Held, r.LeftOut = time.Since(begun), len(c.held), c.left.sorted()
	if r.Err = err; err != nil {
		c.options.Monitor.ForceEverything() // the changes that it read would not be read again
		pause = backoff(c.failures)
		c.failures++
	} else {
		c.failures = 0
		pause = c.nextRound()
	}
	if c.options.OnRound != nil {
		c.options.OnRound(r)
	}
	return pause, nil
}

// isFinal reports whether no further snapshot can be had from the Monitor.
func isFinal(err error) bool {
	var full *client.MemoryError
	return errors.Is(err, monitor.ErrStopped) || errors.As(err, &full)
}

// collect plans a pass over the round's snapshot and carries it out.
func (c *controller) collect(ctx context.Context, r *Round, changes monitor.Changes) error {
	judge := collector.NewJudge(graph.NewWithMapper(r.Snapshot, changes.Mapper))
	if changes.Decidable == nil {
		c.left = newLeftOut()
	}
	options := plan.CollectPurpose(c.options.Accepted)
	options.Bounds.Within = c.within(judge.Graph(), changes.Decidable)
	planned, err := c.planWithin(judge, options)
	if err != nil {
		return err
	}
	r.Plan = planned
	if len(r.Plan.Steps) == 0 {
		return nil
	}
	o := planrun.RunOptions{Common: c.options.Execute, NoWait: true}
	o.Common.OnEvent = c.onEvent(r.Plan)
	var writer planrun.BackupWriter
	closeBackup := func() error { return nil }
	if c.options.Backup != nil && len(r.Plan.ObjectsToBackUp()) > 0 {
		b, err := c.options.Backup(ctx, r.Snapshot, r.Plan)
		if err != nil {
			return fmt.Errorf("open a backup: %w", err)
		}
		writer, closeBackup, o.Common.Record = b, b.Close, b.Record
	}
	r.Report = planrun.Run(ctx, r.Plan, judge, write.NewWithMapper(c.options.Client, r.Snapshot, changes.Mapper, false), writer, o)
	c.holdAfter(judge.Graph(), r)
	if err := closeBackup(); err != nil {
		return fmt.Errorf("close the backup: %w", err)
	}
	return nil
}

// onEvent returns a function that passes the end of every step on.
func (c *controller) onEvent(p *plan.Plan) func(event.Event) {
	steps := make(map[string]*plan.Step, len(p.Steps))
	for i := range p.Steps {
		steps[p.Steps[i].ID] = &p.Steps[i]
	}
	return func(e event.Event) {
		if e.Event == event.Ended && c.options.OnStep != nil {
			c.options.OnStep(steps[e.Step], e)
		}
	}
}

// due returns the objects whose holds end by time. They have to be decided on again even if nothing
// changes.
func (c *controller) due(now time.Time) []types.UID {
	var out []types.UID
	for uid, h := range c.held {
		if !now.Before(h.until) {
			out = append(out, uid)
		}
	}
	return out
}

// release forgets the holds that were due, unless the round has set new ones.
func (c *controller) release(due []types.UID, begun time.Time) {
	for _, uid := range due {
		if h := c.held[uid]; !h.until.After(begun) {
			delete(c.held, uid)
		}
	}
}

// within returns a function that reports whether a round may act on an object. It ends the holds
// of objects that are gone, and of those whose writes the round shows.
func (c *controller) within(g *graph.Graph, whole func(types.UID) bool) func(graph.Node) bool {
	var allowed func(graph.Node) bool
	if c.options.Within != nil {
		allowed = c.options.Within(g)
	}
	for uid, h := range c.held {
		switch o := g.Object(g.Find(uid)); {
		case o == nil && (whole == nil || whole(uid)), o != nil && h.written != "" && o.ResourceVersion != h.written:
			delete(c.held, uid)
		}
	}
	now := time.Now()
	return func(n graph.Node) bool {
		if allowed != nil && !allowed(n) {
			return false
		}
		uid := g.UID(n)
		return !now.Before(c.held[uid].until) && (whole == nil || whole(uid))
	}
}

// holdAfter holds the objects that were written to, and those that have to be tried again.
func (c *controller) holdAfter(g *graph.Graph, r *Round) {
	for i, result := range r.Report.Results {
		uid := r.Plan.Steps[i].Object.UID
		switch o := g.Object(g.Find(uid)); {
		case o == nil:
		case result.Status == event.Done:
			c.held[uid] = hold{until: time.Now().Add(longestPause), written: o.ResourceVersion}
		default:
			failures := c.held[uid].failures
			c.held[uid] = hold{until: time.Now().Add(backoff(failures)), failures: failures + 1}
		}
	}
}

// nextRound returns the time until the next round is due even if nothing changes: because a hold
// ends, because a round over a part has to be followed by one over everything, or because a full
// namespace may have space again. 0 means that none is due.
func (c *controller) nextRound() time.Duration {
	var first time.Time
	if c.parts || c.left.full() {
		first = c.whole.Add(wholeInterval)
	}
	for _, h := range c.held {
		if first.IsZero() || h.until.Before(first) {
			first = h.until
		}
	}
	if first.IsZero() {
		return 0
	}
	return max(time.Until(first), time.Millisecond)
}
