package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/plane"
)

// Before every run the bench rests, until no more than a part of the machine is busy with
// other things, or until it has waited long enough.
const (
	pause   = 300 * time.Millisecond
	quiet   = 0.1
	longest = 10 * time.Second
)

// harder is how much oftener things are compared than ways are tried.
const harder = 3

// workshop is what the measurements work with.
type workshop struct {
	options
	progress   io.Writer
	dir        string // for programs and what they leave
	plane      *plane.Plane
	self       string // this program
	plugin     string // kubectl-gc, as released
	launch     string // the program that runs others
	kubernetes string // the version
	paths      []string
	busy       []float64 // which part of the machine others kept busy at every start
}

func bench(ctx context.Context, o options, stdout, progress io.Writer) error {
	return inWorkshop(ctx, o, progress, plane.Options{Collector: plane.Absent}, func(w *workshop) error {
		seeded, err := w.fill(ctx)
		if err != nil {
			return err
		}
		r, err := w.measure(ctx)
		if err != nil {
			return err
		}
		r.Seeded = seeded
		return w.publish(r, stdout)
	})
}

// inWorkshop has the work done with what is built and started for it, and clears up.
func inWorkshop(ctx context.Context, o options, progress io.Writer, p plane.Options, work func(*workshop) error) (err error) {
	w := &workshop{options: o, progress: progress}
	if w.dir, err = os.MkdirTemp("", "kubectl-gc-bench-"); err != nil {
		return fmt.Errorf("make folder for programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	if err := w.build(ctx); err != nil {
		return err
	}
	fmt.Fprintln(progress, "starting a control plane")
	p.Stderr = progress
	if w.plane, err = plane.Start(ctx, p); err != nil {
		return err
	}
	defer func() {
		if stopped := w.plane.Stop(); stopped != nil && ctx.Err() == nil {
			err = errors.Join(err, stopped)
		}
	}()
	return work(w)
}

// publish prints a report and, where that is asked for, writes its page.
func (w *workshop) publish(r interface {
	print(out io.Writer) error
	write(path string) error
}, stdout io.Writer,
) error {
	if err := r.print(stdout); err != nil || w.write == "" {
		return err
	}
	if err := r.write(w.write); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nwritten to %s\n", w.write)
	return nil
}

func (w *workshop) build(ctx context.Context) (err error) {
	if w.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	w.plugin, w.launch = filepath.Join(w.dir, "kubectl-gc"), filepath.Join(w.dir, "launch")
	fmt.Fprintln(w.progress, "building kubectl-gc")
	for path, of := range map[string]string{w.plugin: "cmd/kubectl-gc", w.launch: "test/bench/launch"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "github.com/kubectl-gc/kubectl-gc/"+of)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", of, err, out)
		}
	}
	return nil
}

// fill seeds the control plane, finds out what there is to list, and says how long it took.
func (w *workshop) fill(ctx context.Context) (time.Duration, error) {
	fmt.Fprintf(w.progress, "creating %d objects\n", w.objects)
	begun := time.Now()
	cmd := exec.CommandContext(ctx, w.self, seedCommand, "-objects", strconv.Itoa(w.objects), "-kubeconfig", w.plane.Kubeconfig)
	cmd.Env = w.plane.Env()
	cmd.Stderr = w.progress
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("create objects: %w", err)
	}
	return time.Since(begun), w.discover(ctx)
}

// discover asks the server its version and what there is to list.
func (w *workshop) discover(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", w.plane.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	c, err := cluster.New(config, cluster.Options{})
	if err != nil {
		return err
	}
	world, err := c.Discover(ctx)
	if err != nil {
		return err
	}
	w.kubernetes = world.Server
	for _, t := range world.Types {
		if t.Monitored() {
			root := "/apis/" + t.APIVersion()
			if t.Group == "" {
				root = "/api/" + t.Version
			}
			w.paths = append(w.paths, root+"/"+t.Resource)
		}
	}
	return nil
}

func (w *workshop) floor(by way) program {
	return program{
		name: "the floor (" + by.String() + ")", path: w.self, env: w.plane.Env(),
		args: append([]string{floorCommand, "-kubeconfig", w.plane.Kubeconfig}, by.args()...),
		in:   strings.Join(w.paths, "\n"),
	}
}

func (w *workshop) command(found bool, args ...string) program {
	return program{name: "kubectl gc " + strings.Join(args, " "), path: w.plugin, args: args, env: w.plane.Env(), found: found}
}

// programs are those that run beside the floor.
func (w *workshop) programs() []program {
	out := []program{
		w.command(true, "audit"),
		w.command(false, "tree", "deployment/"+firstApplication, "-n", firstNamespace),
		w.command(false, "version"),
	}
	if words := strings.Fields(w.peer); len(words) > 0 {
		out = append(out, program{name: filepath.Base(words[0]), path: words[0], args: words[1:], env: w.plane.Env(), found: true})
	}
	return out
}

// measure finds the floor, and then compares.
func (w *workshop) measure(ctx context.Context) (*report, error) {
	r := &report{Line: w.line(), Runs: harder * w.runs, Tries: w.runs, Machine: thisMachine(), Kubernetes: w.kubernetes, Types: len(w.paths), Date: time.Now().UTC()}
	for _, p := range w.programs() { // nothing is measured the first time
		if _, _, err := w.run(ctx, p); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(w.progress, "looking for the floor: %d ways, %d runs each\n", len(ways(w.objects)), r.Tries)
	var attempts []program
	for _, by := range ways(w.objects) {
		attempts = append(attempts, w.floor(by))
	}
	tried, _, err := w.turns(ctx, attempts, r.Tries)
	if err != nil {
		return nil, err
	}
	for i, by := range ways(w.objects) {
		r.Ways = append(r.Ways, entry{Name: by.String(), Runs: tried[i]})
	}
	slices.SortStableFunc(r.Ways, func(a, b entry) int { return int(a.Median().Wall - b.Median().Wall) })
	best := slices.IndexFunc(ways(w.objects), func(by way) bool { return by.String() == r.Ways[0].Name })

	fmt.Fprintf(w.progress, "comparing, %d runs each; the floor is: %s\n", r.Runs, ways(w.objects)[best])
	contest := append([]program{w.floor(ways(w.objects)[best])}, w.programs()...)
	samples, outputs, err := w.turns(ctx, contest, r.Runs)
	if err != nil {
		return nil, err
	}
	slices.Sort(w.busy)
	r.Busy, r.Busiest = w.busy[len(w.busy)/2], w.busy[len(w.busy)*9/10]
	if err := json.Unmarshal(outputs[0], &r.Moved); err != nil {
		return nil, fmt.Errorf("read what the floor says: %w", err)
	}
	for i, p := range contest {
		lists, err := w.listsOf(ctx, p)
		if err != nil {
			return nil, err
		}
		name := p.name
		if i == 0 {
			name = "the transfer floor"
		}
		r.Entries = append(r.Entries, entry{Name: name, Runs: samples[i], Lists: lists})
	}
	r.Objects, err = w.counted(ctx)
	return r, err
}

// turns runs every program in turn, each round beginning with another one. outputs are of
// the last round.
func (w *workshop) turns(ctx context.Context, programs []program, rounds int) (samples []sample, outputs [][]byte, err error) {
	samples, outputs = make([]sample, len(programs)), make([][]byte, len(programs))
	for round := range rounds {
		for i := range programs {
			at := (i + round) % len(programs)
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			w.busy = append(w.busy, settle(ctx))
			c, out, err := w.run(ctx, programs[at])
			if err != nil {
				return nil, nil, err
			}
			samples[at], outputs[at] = append(samples[at], c), out
		}
	}
	return samples, outputs, nil
}

// settle rests until the machine is quiet, and tells how quiet it became.
func settle(ctx context.Context) (busy float64) {
	for begun := time.Now(); ; {
		if busy = breathe(pause); busy <= quiet || time.Since(begun) > longest || ctx.Err() != nil {
			return busy
		}
	}
}

// listsOf counts the lists of one more run, which is not measured.
func (w *workshop) listsOf(ctx context.Context, p program) (int, error) {
	c, err := newCounter(w.plane.Kubeconfig)
	if err != nil {
		return 0, err
	}
	before, err := c.requests(ctx)
	if err != nil {
		return 0, err
	}
	if _, _, err := w.run(ctx, p); err != nil {
		return 0, err
	}
	after, err := c.requests(ctx)
	return after["LIST"] - before["LIST"], err
}

// counted is how many objects audit says it judged.
func (w *workshop) counted(ctx context.Context) (int, error) {
	_, out, err := w.run(ctx, w.command(true, "audit", "-o", "json"))
	if err != nil {
		return 0, err
	}
	var said struct {
		Complete bool `json:"complete"`
		Summary  struct {
			Objects int `json:"objects"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return 0, fmt.Errorf("read what audit says: %w", err)
	}
	if !said.Complete || said.Summary.Objects < w.objects {
		return 0, fmt.Errorf("audit saw %d of %d objects (complete: %t)", said.Summary.Objects, w.objects, said.Complete)
	}
	return said.Summary.Objects, nil
}
