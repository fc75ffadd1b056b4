package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const module = "github.com/kubectl-gc/kubectl-gc/"

// target is a fuzz target of a package.
type target struct{ Package, Name string }

// Folder returns the folder of the package in the repository.
func (t target) Folder() string { return strings.TrimPrefix(t.Package, module) }

// list returns all targets, as go test lists them.
func list(ctx context.Context, packages []string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-list", "^Fuzz"}, packages...)...)
	cmd.Stderr = os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the fuzz targets: %w\n%s", err, listed)
	}
	var out []target
	for d := json.NewDecoder(bytes.NewReader(listed)); ; {
		var line struct{ Package, Output string }
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("list the fuzz targets: %w", err)
		}
		if strings.HasPrefix(line.Output, "Fuzz") {
			out = append(out, target{line.Package, strings.TrimSpace(line.Output)})
		}
	}
}

// fuzz runs a target. It uses one worker: with several, the others would go on counting while one
// hangs. It also limits the time for minimizing a new input, during which nothing is counted.
func (t target) fuzz(ctx context.Context, long time.Duration) result {
	return repeatLonger(long, func(long time.Duration) result {
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.Name+"$",
			"-fuzztime", long.String(), "-fuzzminimizetime", "1s", "-parallel", "1", t.Package)
		output, err := cmd.CombinedOutput()
		return parseResult(t, output, err)
	})
}

// maxDoublings is how often the time of a target may be doubled.
const maxDoublings = 4

// repeatLonger runs a target again, for twice as long, if its time was over before it executed
// anything new: cached inputs count toward the time, and there are more of them after every run.
func repeatLonger(long time.Duration, run func(time.Duration) result) result {
	c := run(long)
	for n := 0; n < maxDoublings && c.Outcome == idle; n++ {
		long *= 2
		c = run(long)
	}
	return c
}
