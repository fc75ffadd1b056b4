package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

type options struct {
	seeds    uint64
	from     uint64
	versions string // minor versions, separated by commas; empty means all
	write    string
}

func main() {
	var o options
	flag.Uint64Var(&o.seeds, "seeds", 10, "the `number` of random graphs for each version")
	flag.Uint64Var(&o.from, "from", 1, "the `seed` of the first graph")
	flag.StringVar(&o.versions, "versions", "", "the minor `versions` of Kubernetes, separated by commas (default all)")
	flag.StringVar(&o.write, "write", "", "write the results of all versions to this `file`, as Markdown")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	if o.seeds == 0 {
		return errors.New("-seeds must not be 0")
	}
	offered, err := controlPlane(ctx, "versions")
	if err != nil {
		return err
	}
	all := strings.Fields(offered)
	versions, err := choose(all, o.versions)
	if err != nil {
		return err
	}
	r := report{Seeds: o.seeds, From: o.from}
	for _, version := range versions {
		results, err := test(ctx, out, version, o)
		if err != nil {
			return fmt.Errorf("test with Kubernetes %s: %w", version, err)
		}
		r.Versions = append(r.Versions, versionReport{Version: version, Suites: results})
	}
	if err := r.print(out); err != nil {
		return err
	}
	if o.write != "" && len(versions) == len(all) {
		if err := r.write(o.write); err != nil {
			return err
		}
	}
	return r.err()
}

// choose returns the versions, such as v1.33.13, whose minor versions are named; all if none is.
func choose(all []string, minors string) ([]string, error) {
	if minors == "" {
		return all, nil
	}
	var chosen []string
	for minor := range strings.SplitSeq(minors, ",") {
		i := slices.IndexFunc(all, func(version string) bool { return minorOf(version) == strings.TrimSpace(minor) })
		if i < 0 {
			return nil, fmt.Errorf("there is no version %s: there are %s", minor, strings.Join(all, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// minorOf returns 1.33 of v1.33.13.
func minorOf(version string) string {
	minor := strings.TrimPrefix(version, "v")
	return minor[:max(strings.LastIndex(minor, "."), 0)]
}

// controlPlane runs the command that builds control planes.
func controlPlane(ctx context.Context, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "-C", "test/controlplane", "."}, args...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("controlplane %s: %w", args[0], err)
	}
	return string(text), nil
}

// test runs all suites on one version, and prints the mismatches as they come.
func test(ctx context.Context, out io.Writer, version string, o options) ([]suiteResult, error) {
	begun := time.Now()
	if _, err := controlPlane(ctx, "build", "--version="+minorOf(version)); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "Kubernetes %s: %d seeds from %d on\n", version, o.seeds, o.from)
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-timeout=3h", "-run", allTests(), "./test/e2e")
	cmd.Env = append(os.Environ(),
		testcluster.BuildVariable+"=1", testcluster.VersionVariable+"="+minorOf(version),
		"SEEDS="+strconv.FormatUint(o.seeds, 10), "KUBECTL_GC_SEED="+strconv.FormatUint(o.from, 10))
	cmd.Stderr = os.Stderr
	interruptGroup(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	results, parseErr := parse(stdout, out)
	testErr := cmd.Wait()
	fmt.Fprintf(out, "%s: done in %s\n\n", version, time.Since(begun).Round(time.Second))
	var failed *exec.ExitError
	if errors.As(testErr, &failed) && slices.ContainsFunc(results, suiteResult.hasMismatch) {
		testErr = nil // these are the reason
	}
	return results, errors.Join(parseErr, testErr, ctx.Err())
}
