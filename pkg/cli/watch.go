package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/structured"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	// watchInterval is the least time between two answers. Changes in between make one answer.
	watchInterval = time.Second
	// watchDelay is how long to wait after a change for others that belong to it: the events of
	// different types arrive in any order.
	watchDelay = 200 * time.Millisecond
	// WatchRefresh is how often an answer that depends on the time is computed again without a
	// change.
	WatchRefresh = 10 * time.Second
)

// Watch is --watch: a command gives its answer again whenever it changes, until it is interrupted.
type Watch struct {
	On bool // --watch

	scan   *ScanOptions
	output *OutputFlags
	given  *pflag.FlagSet
	lines  bool // JSON lines, not a screen
}

// NewWatch returns the flag --watch of a command with these options.
func NewWatch(scan *ScanOptions, output *OutputFlags) *Watch {
	return &Watch{scan: scan, output: output}
}

// AddFlag adds the flag.
func (w *Watch) AddFlag(cmd *cobra.Command) {
	w.given = cmd.Flags()
	w.given.BoolVarP(&w.On, "watch", "w", false, "Keep showing the answer as it changes; without a terminal, as lines of JSON.")
}

// Complete chooses the format, if --watch is given: lines of JSON with -o json and where no screen
// can be drawn. It returns an error if a flag does not work with --watch: one of these, or those
// of a single scan.
func (w *Watch) Complete(others ...string) error {
	if !w.On {
		return nil
	}
	if err := cmp.Or(
		UsageIf(w.scan.From != "", "--watch needs a cluster: the %s does not change", w.scan.Source()),
		RefuseFlags(w.given.Changed, "--watch cannot be combined with --%s", append([]string{"strict", "template"}, others...)...),
	); err != nil {
		return err
	}
	const lines = "json"
	person := w.output.own[0]
	terminal := w.scan.OutTerm && w.scan.Getenv("TERM") != "dumb"
	switch w.output.Format {
	case lines:
	case "":
		if !terminal {
			w.output.Format = lines
		}
	case person, wide:
		if !terminal {
			return Usagef("--watch with -o %s needs a terminal: elsewhere it writes lines of JSON, which are the default there", w.output.Format)
		}
	default:
		return Usagef("--watch cannot be combined with -o %s: choose one of %s, %s, %s", Quote(w.output.Format), person, wide, lines)
	}
	w.lines = w.output.Format == lines
	w.scan.NeedsCluster, w.scan.quiet = true, true
	return nil
}

// Lines reports whether the answers are lines of JSON.
func (w *Watch) Lines() bool { return w.lines }

// Sight is one state of the watched cluster, and where to write the answer about it. Missed is why
// the states before it could not be read; nil if they could.
type Sight struct {
	*ScanOptions // its Out and Err are the answer
	Taken        *snapshot.Snapshot
	Client       *client.Client
	Missed       error // why the states before this one could not be read; nil if they could
}

// Shown is what a command has to say about its answer.
type Shown struct {
	// Compared becomes other JSON if the answer is another than before, and not only its times. Nil if the
	// command compares by itself, and writes its own lines.
	Compared any
	// Line is the answer for a program, a document of this kind.
	Kind string
	Line any

	Changed bool // the answer is another; set if Compared is
	Aging   bool // it may change with time alone
	Ended   bool // it is the last one
	// Status tells whether the objects of a resource are part of it, so that every event counts.
	Status bool
}

// errorLine is a line of JSON about a state that could not be read.
type errorLine struct {
	Type    string    `json:"type"`
	Time    time.Time `json:"time"`
	Message string    `json:"message"`
}

// watching is one run of Watch.
type watching struct {
	*Watch
	show    func(context.Context, *Sight) (Shown, error)
	header  string
	client  *client.Client
	monitor *monitor.Monitor
	screen  *screen

	answer  string // the last one
	last    []byte // what is compared of it
	shown   Shown
	changed time.Time
	scanned *snapshot.Snapshot // of the answer
	failed  error              // why there is no newer answer
	events  int64              // that the answer knows
}

// Run calls show with every new state of the scope, until the context or the answer ends. args are
// the arguments of the command. An error of the first state ends it; later ones are shown, until
// the cluster can be read again.
func (w *Watch) Run(ctx context.Context, command string, args []string, scope scan.Scope, show func(context.Context, *Sight) (Shown, error)) error {
	c, err := w.scan.Connect()
	if err != nil {
		return err
	}
	if !w.scan.NamespaceMayBeMissing {
		if err := w.scan.requireScanned(ctx, scope, &snapshot.Snapshot{}, c); err != nil {
			return err
		}
	}
	w.scan.Progress("reading the cluster")
	m, err := monitor.Start(ctx, c, monitor.Options{Scope: scope, Now: w.scan.Now})
	if err != nil {
		return w.scan.withScanHint(err)
	}
	defer m.Stop()
	err = m.WaitForSync(ctx)
	w.scan.Progress("")
	if err != nil {
		return w.scan.withScanHint(err)
	}
	run := &watching{
		Watch: w, show: show, header: commandLine(command, args, w.given, "watch"), client: c, monitor: m,
		screen: &screen{out: w.scan.Out, size: func() (int, int) { return w.scan.OutWidth(), w.scan.Height() }},
	}
	err = run.loop(ctx)
	return cmp.Or(run.screen.close(), err)
}

func (w *watching) loop(ctx context.Context) error {
	for {
		begun := time.Now()
		err := w.next(ctx)
		if err == nil && !w.shown.Ended {
			// a large cluster gets as much time without a scan as a scan takes
			err = w.wait(ctx, max(watchInterval-time.Since(begun), time.Since(begun)))
		}
		switch {
		case ctx.Err() != nil:
			return ExitError(ExitInterrupted)
		case err != nil:
			return w.withWatchHint(err)
		case w.shown.Ended:
			return nil
		}
	}
}

// withWatchHint adds to an error what the user can do about it.
func (w *watching) withWatchHint(err error) error {
	if nothing, ok := errors.AsType[*scan.NothingReadableError](err); ok && nothing.Gaps[0].Reason == snapshot.Forbidden {
		return WithHint(err, "--watch also needs the verb watch; if you have permissions in one namespace only, use -n")
	}
	return w.scan.withScanHint(err)
}

// next reads the state of the cluster and shows the answer. It returns an error that nothing can
// be shown after.
func (w *watching) next(ctx context.Context) error {
	select { // this answer knows what has changed so far
	case <-w.monitor.Changed():
	default:
	}
	w.events = w.monitor.Stats().Events
	taken, err := w.monitor.Snapshot(ctx)
	if err == nil {
		err = w.ask(ctx, taken)
	}
	if _, full := errors.AsType[*client.MemoryError](err); full || err != nil && (w.scanned == nil || ctx.Err() != nil) || errors.As(err, new(*writeError)) {
		return err
	}
	first := w.failed == nil && err != nil
	if w.failed = err; first && w.lines {
		return w.scan.WriteLine(errorLine{"ERROR", w.scan.Now().UTC().Truncate(time.Second), redact.Error(err).Error()})
	}
	if w.lines {
		return nil
	}
	return w.screen.draw(w.frame())
}

// writeError is an error of standard output.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// ask lets the command answer.
func (w *watching) ask(ctx context.Context, taken *snapshot.Snapshot) error {
	var answer bytes.Buffer
	out := *w.scan
	out.Out, out.Err, out.ErrTerm = &answer, wrap.NewWriter(&answer, out.OutWidth), false
	shown, err := w.show(ctx, &Sight{ScanOptions: &out, Taken: taken, Client: w.client, Missed: w.failed})
	if err != nil {
		return err
	}
	if shown.Compared != nil {
		now, err := json.Marshal(shown.Compared)
		if err != nil {
			return err
		}
		shown.Changed, w.last = !bytes.Equal(now, w.last), now
		if w.lines && (shown.Changed || w.failed != nil) {
			if err := out.WriteLine(structured.NewDocument(shown.Kind, shown.Line)); err != nil {
				return err
			}
		}
	}
	if shown.Changed || w.scanned == nil {
		w.changed = taken.Taken
	}
	if w.scanned == nil && w.lines {
		w.scan.WarnOfVersion("", taken.Server)
	}
	w.shown, w.scanned, w.answer = shown, taken, answer.String()
	if w.lines {
		if _, err := answer.WriteTo(w.scan.Out); err != nil {
			return &writeError{err}
		}
	}
	return nil
}

// frame returns what the screen shows.
func (w *watching) frame() string {
	var out bytes.Buffer
	head := wrap.NewWriter(&out, w.scan.OutWidth)
	fmt.Fprintf(head, "%s   changed %s   %s\n", w.header, wording.Time(w.changed), wording.Scan(w.scanned.Complete()))
	if w.failed != nil {
		fmt.Fprintf(head, "Cannot read the cluster: %s\nIts last known state, of %s:\n", escape.Short(redact.Error(w.failed).Error(), 500), wording.Time(w.scanned.Taken))
	}
	return out.String() + "\n" + w.answer
}

// wait waits at least so long, and then until there may be another answer.
func (w *watching) wait(ctx context.Context, least time.Duration) error {
	if err := client.Wait(ctx, least); err != nil {
		return err
	}
	var refresh <-chan time.Time
	if w.failed != nil || w.shown.Aging {
		timer := time.NewTimer(WatchRefresh)
		defer timer.Stop()
		refresh = timer.C
	}
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.monitor.Changed():
			return client.Wait(ctx, watchDelay)
		case <-refresh:
			return nil
		case <-tick.C:
			if w.shown.Status && w.monitor.Stats().Events != w.events {
				return nil
			}
			if w.screen.resized() {
				return nil
			}
		}
	}
}

// GapsWithoutMessages returns gaps for a comparison: the words of the server differ from one
// attempt to the next.
func GapsWithoutMessages(gaps []snapshot.Gap) []snapshot.Gap {
	out := make([]snapshot.Gap, len(gaps))
	for i, g := range gaps {
		g.Message = ""
		out[i] = g
	}
	return out
}
