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
	// watchRefresh is how often an answer that depends on the time is computed again without a
	// change.
	watchRefresh = 10 * time.Second
)

// Watch is --watch: a command gives its whole answer again whenever it changes, until it is interrupted.
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

// Answer is what a command says about one state of the cluster.
type Answer struct {
	// Document is the answer for a program, of this kind.
	Kind     string
	Document any
	// Draw writes the answer for a person to Out and Err of these options.
	Draw func(*ScanOptions) error
	// Compared becomes other JSON, not only other times, if the answer is another than before.
	Compared any
	Aging    bool // the answer may change with time alone
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
	ask     func(*snapshot.Snapshot) (Answer, error)
	header  string
	monitor *monitor.Monitor
	screen  *screen

	answer  Answer // the last one
	drawn   string // what it shows a person
	last    []byte // what is compared of it
	changed time.Time
	scanned *snapshot.Snapshot // of the answer
	failed  error              // why there is no newer answer
}

// Run asks the command about every new state of the scope, and shows its answers until the context ends. An
// error of the first state ends it; later ones are shown, until the cluster can be read again.
func (w *Watch) Run(ctx context.Context, command string, scope scan.Scope, ask func(*snapshot.Snapshot) (Answer, error)) error {
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
		Watch: w, ask: ask, header: commandLine(command, nil, w.given, "watch"), monitor: m,
		screen: &screen{out: w.scan.Out, size: func() (int, int) { return w.scan.OutWidth(), w.scan.Height() }},
	}
	err = run.loop(ctx)
	return cmp.Or(run.screen.close(), err)
}

func (w *watching) loop(ctx context.Context) error {
	for {
		begun := time.Now()
		err := w.next(ctx)
		if err == nil {
			// a large cluster gets as much time without a scan as a scan takes
			err = w.wait(ctx, max(watchInterval-time.Since(begun), time.Since(begun)))
		}
		switch {
		case ctx.Err() != nil:
			return ExitError(ExitInterrupted)
		case err != nil:
			return w.withWatchHint(err)
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

// next reads the state of the cluster and adopts it.
func (w *watching) next(ctx context.Context) error {
	select { // this answer knows what has changed so far
	case <-w.monitor.Changed():
	default:
	}
	taken, err := w.monitor.Snapshot(ctx)
	return w.adopt(ctx, taken, err)
}

// adopt shows the answer about a state of the cluster, or why it could not be read. It returns an error that
// nothing can be shown after.
func (w *watching) adopt(ctx context.Context, taken *snapshot.Snapshot, err error) error {
	if err == nil {
		err = w.show(taken)
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

// show asks the command. It writes a line for another answer, and for the first one after a failure. For a
// screen it prepares every answer.
func (w *watching) show(taken *snapshot.Snapshot) error {
	answer, err := w.ask(taken)
	if err != nil {
		return err
	}
	now := withoutTimes(answer.Compared)
	changed := !bytes.Equal(now, w.last)
	if !w.lines {
		var drawn bytes.Buffer
		out := *w.scan
		out.Out, out.Err, out.ErrTerm = &drawn, wrap.NewWriter(&drawn, out.OutWidth), false
		if err := answer.Draw(&out); err != nil {
			return err
		}
		w.drawn = drawn.String()
	} else if changed || w.failed != nil {
		if w.scanned == nil {
			w.scan.WarnOfVersion("", taken.Server)
		}
		line := structured.NewDocument(answer.Kind, answer.Document)
		line.Time = taken.Taken
		if err := w.scan.WriteLine(line); err != nil {
			return &writeError{err}
		}
	}
	if changed {
		w.changed = taken.Taken
	}
	w.answer, w.scanned, w.last = answer, taken, now
	return nil
}

// withoutTimes returns a value in JSON without what differs between scans of the same state: the times of
// the scan, and sentences, which have ages, or what the server says of another attempt.
func withoutTimes(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it has no values that JSON lacks
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		panic(err)
	}
	dropTimes(document)
	text, _ = json.Marshal(document) // it was JSON
	return text
}

func dropTimes(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "message")
		delete(v, "scanned")
		for _, field := range v {
			dropTimes(field)
		}
	case []any:
		for _, element := range v {
			dropTimes(element)
		}
	}
}

// frame returns what the screen shows.
func (w *watching) frame() string {
	var out bytes.Buffer
	head := wrap.NewWriter(&out, w.scan.OutWidth)
	fmt.Fprintf(head, "%s   changed %s   %s\n", w.header, wording.Time(w.changed), wording.Scan(w.scanned.Complete()))
	if w.failed != nil {
		fmt.Fprintf(head, "Cannot read the cluster: %s\nIts last known state, of %s:\n", escape.Short(redact.Error(w.failed).Error(), 500), wording.Time(w.scanned.Taken))
	}
	return out.String() + "\n" + w.drawn
}

// wait waits at least so long, and then until there may be another answer.
func (w *watching) wait(ctx context.Context, least time.Duration) error {
	if err := client.Wait(ctx, least); err != nil {
		return err
	}
	var refresh <-chan time.Time
	if w.failed != nil || w.answer.Aging {
		timer := time.NewTimer(watchRefresh)
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
			if w.screen.resized() {
				return nil
			}
		}
	}
}
