// Command fuzz runs every fuzz target that there is in the packages it is given, one
// after the other, and says how many inputs each has executed. What an input breaks is
// printed, and kept by go test in the testdata of its package.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

const module = "github.com/kubectl-gc/kubectl-gc/"

func main() {
	each := flag.Duration("time", 30*time.Second, "how long to run each target")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *each, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, each time.Duration, packages []string) error {
	all, err := targets(ctx, packages)
	if err != nil {
		return err
	}
	sum, broken := 0, 0
	for _, t := range all {
		inputs, said, err := t.fuzz(ctx, each)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict := "ok"
		if err != nil {
			verdict = "BROKEN"
			broken++
			out.Write(said)
		}
		sum += inputs
		fmt.Fprintf(out, "%-28s %-16s %14s inputs  %s\n", strings.TrimPrefix(t.pkg, module), t.name, phrase.Thousands(inputs), verdict)
	}
	fmt.Fprintf(out, "%s inputs in %s, %d broken\n", phrase.Thousands(sum), phrase.Count(len(all), "target"), broken)
	switch {
	case len(all) == 0:
		return errors.New("there is no fuzz target")
	case broken > 0:
		return fmt.Errorf("%s broken", phrase.Count(broken, "target"))
	}
	return nil
}

// target is one function of one package.
type target struct{ pkg, name string }

// targets asks go test for them, so that none has to be entered anywhere.
func targets(ctx context.Context, packages []string) ([]target, error) {
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

// cut is what go test says, and fails with, where its time is up while a worker still
// runs an input: that nothing broke, but for the clock. A failing input is always named.
var cut = regexp.MustCompile(`(?m)^\s+context deadline exceeded$`)

// executed is how go test counts, every three seconds and at the end.
var executed = regexp.MustCompile(`execs: (\d+) `)

// fuzz runs a target. Said is all that go test wrote.
func (t target) fuzz(ctx context.Context, long time.Duration) (inputs int, said []byte, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", long.String(), t.pkg)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err = cmd.Run()
	said = all.Bytes()
	if cut.Match(said) && !bytes.Contains(said, []byte("ailing input")) {
		err = nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(said)); lines.Scan(); {
		if m := executed.FindStringSubmatch(lines.Text()); m != nil {
			inputs, _ = strconv.Atoi(m[1]) // digits
		}
	}
	return inputs, said, err
}
