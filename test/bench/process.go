package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// program is a process to measure.
type program struct {
	name string // as a reader would type it
	path string
	args []string
	env  []string
	in   string
	// found allows exit code 1.
	found bool
}

// cost is the cost of one run of a program, or the medians of several.
type cost struct {
	Wall   time.Duration
	CPU    time.Duration // user and system; 0 if unknown
	Memory int64         // peak resident memory in bytes; 0 if unknown
	// Servers is the CPU time of kube-apiserver and etcd during the run; 0 if it was not
	// measured.
	Servers time.Duration
}

// run measures one run with launch; out is the program's stdout.
func (w *harness) run(ctx context.Context, p program) (c cost, out []byte, err error) {
	file := filepath.Join(w.dir, "figures")
	cmd := exec.CommandContext(ctx, w.launch, append([]string{file, p.path}, p.args...)...)
	cmd.Env = p.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	stdout := &head{most: 1 << 16}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	if p.in != "" {
		cmd.Stdin = strings.NewReader(p.in)
	}
	err = cmd.Run()
	if p.found && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return c, nil, fmt.Errorf("%s: %w\n%s", p.name, err, &stderr)
	}
	figures, err := os.ReadFile(file)
	if err == nil {
		_, err = fmt.Sscan(string(figures), &c.Wall, &c.CPU, &c.Memory)
	}
	if err != nil {
		return c, nil, fmt.Errorf("read what %s cost: %w", p.name, err)
	}
	return c, stdout.kept, nil
}

// head keeps the beginning of what is written and discards the rest.
type head struct {
	kept []byte
	most int
}

var _ io.Writer = (*head)(nil)

func (h *head) Write(b []byte) (int, error) {
	h.kept = append(h.kept, b[:min(len(b), h.most-len(h.kept))]...)
	return len(b), nil
}

// sample has the costs of all runs of one program.
type sample []cost

// Median returns the median of each figure.
func (s sample) Median() cost {
	return cost{
		Wall:   medianOf(s, func(c cost) time.Duration { return c.Wall }),
		CPU:    medianOf(s, func(c cost) time.Duration { return c.CPU }),
		Memory: medianOf(s, func(c cost) int64 { return c.Memory }),

		Servers: medianOf(s, func(c cost) time.Duration { return c.Servers }),
	}
}

// fastest and slowest are wall times.
func (s sample) fastest() time.Duration { return slices.Min(s.walls()) }
func (s sample) slowest() time.Duration { return slices.Max(s.walls()) }

// Spread returns the range from the fastest to the slowest.
func (s sample) Spread() string { return seconds(s.fastest()) + " to " + seconds(s.slowest()) }

func (s sample) walls() []time.Duration {
	out := make([]time.Duration, len(s))
	for i, c := range s {
		out[i] = c.Wall
	}
	return out
}

func medianOf[E any, T int64 | float64 | time.Duration](s []E, figure func(E) T) T {
	all := make([]T, len(s))
	for i, c := range s {
		all[i] = figure(c)
	}
	return median(all)
}

func median[T int | int64 | float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	all := slices.Sorted(slices.Values(values))
	half := len(all) / 2
	if len(all)%2 == 1 {
		return all[half]
	}
	return (all[half-1] + all[half]) / 2
}
