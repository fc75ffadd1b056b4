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

// target is one function of one package.
type target struct{ Package, Name string }

// Folder is where it is, in the repository.
func (t target) Folder() string { return strings.TrimPrefix(t.Package, module) }

// list asks go test for all targets, so that none has to be entered anywhere.
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

// fuzz runs a target. It has one worker, so that an input which hangs leaves no other
// to go on counting, and takes no long time to make an input smaller that reached
// something new, in which none would be counted either.
func (t target) fuzz(ctx context.Context, long time.Duration) course {
	return lengthen(long, func(long time.Duration) course {
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.Name+"$",
			"-fuzztime", long.String(), "-fuzzminimizetime", "1s", "-parallel", "1", t.Package)
		said, err := cmd.CombinedOutput()
		return read(t, said, err)
	})
}

// lengthened is how often a target is given twice the time.
const lengthened = 4

// lengthen runs a target again, for twice as long, where its time was over before
// anything new was executed: go test counts the time that the kept inputs take, and
// they become more with every run.
func lengthen(long time.Duration, run func(time.Duration) course) course {
	c := run(long)
	for n := 0; n < lengthened && c.Verdict == idle; n++ {
		long *= 2
		c = run(long)
	}
	return c
}
