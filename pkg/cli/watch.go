package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// watchInterval is the least time between two answers. A large cluster gets watchShare times as long without a scan
// as a scan takes.
const (
	watchInterval = 5 * time.Second
	watchShare    = 10
)

// Watch is --watch: a command answers again and again, until it is interrupted.
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
	w.scan.NeedsCluster = true
	return nil
}

// watching is one run of Watch.
type watching struct {
	*Watch
	own    Streams // of the process; once has others
	screen *screen
	header string
	once   func(context.Context) error
	answer *bytes.Buffer // what once writes

	last     string    // answer
	compared []byte    // of the last answer, if it is JSON
	at       time.Time // of the last answer; zero before the first one
	failed   error     // why there is no newer answer
}

// Run shows the answers of a command until the context ends. once writes one to the streams of the command's options. An
// error of the first one ends Run; later ones are shown, until the cluster can be read again.
func (w *Watch) Run(ctx context.Context, command string, once func(context.Context) error) error {
	own := w.scan.Streams
	defer func() { w.scan.Streams = own }()
	run := &watching{
		Watch: w, own: own, header: commandLine(command, nil, w.given, "watch"), once: once, answer: &bytes.Buffer{},
		screen: &screen{out: own.Out, height: own.Height},
	}
	w.scan.Out, w.scan.ErrTerm = run.answer, false
	if w.lines {
		w.output.clock = run.now
	} else {
		w.scan.Err = wrap.NewWriter(run.answer, own.OutWidth)
	}
	own.Progress("reading the cluster")
	for {
		begun := time.Now()
		err := run.next(ctx)
		if err == nil {
			err = client.Wait(ctx, max(watchInterval, watchShare*time.Since(begun)))
		}
		switch {
		case ctx.Err() != nil:
			return cmp.Or(run.screen.close(), error(ExitError(ExitInterrupted)))
		case err != nil:
			return cmp.Or(run.screen.close(), err)
		}
	}
}

// next asks the command, and shows its answer or why there is none. It returns an error that nothing can be
// shown after.
func (w *watching) next(ctx context.Context) error {
	w.answer.Reset()
	err := w.once(ctx)
	if w.at.IsZero() {
		w.own.Progress("") // before the screen opens
	}
	if errors.As(err, new(ExitError)) { // an answer, such as one with findings
		err = nil
	}
	if err != nil && (w.at.IsZero() || ctx.Err() != nil) {
		return err
	}
	before := w.failed
	w.failed = err
	switch {
	case !w.lines && err != nil:
		return w.screen.draw(w.frame())
	case !w.lines:
		w.last, w.at = w.answer.String(), w.now()
		return w.screen.draw(w.frame())
	case err != nil && before == nil:
		return w.own.WriteLine(struct {
			Type    string    `json:"type"`
			Time    time.Time `json:"time"`
			Message string    `json:"message"`
		}{"ERROR", w.now(), redact.Error(err).Error()})
	case err != nil:
		return nil
	}
	now := withoutTimes(w.answer.Bytes())
	if before == nil && bytes.Equal(now, w.compared) {
		return nil
	}
	w.compared, w.at = now, w.now()
	w.scan.Err = io.Discard // it has warned
	return w.own.WriteLine(json.RawMessage(w.answer.Bytes()))
}

func (w *watching) now() time.Time { return w.own.Now().UTC().Truncate(time.Second) }

// withoutTimes returns a document without what differs between scans of the same state: their times, how many
// objects they have seen, and sentences, which have ages, or what the server says of another attempt.
func withoutTimes(text []byte) []byte {
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return text
	}
	dropTimes(document)
	text, _ = json.Marshal(document) // it was JSON
	return text
}

func dropTimes(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, field := range []string{"message", "says", "scanned", "summary", "time"} {
			delete(v, field)
		}
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
	fmt.Fprintf(head, "%s   %s\n", w.header, wording.Time(w.at))
	if w.failed != nil {
		fmt.Fprintf(head, "Cannot read the cluster: %s\nThis is what was there at the time above.\n", escape.Short(redact.Error(w.failed).Error(), 500))
	}
	return out.String() + "\n" + w.last
}
