package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// shards returns how many processes share the tests. Each has two control planes, which need CPU even
// while they wait.
func shards() int { return max(runtime.NumCPU(), 2) }

// mayShard reports whether the tests may be shared by several processes: nobody has selected some
// of them, as runShards itself does for each process, and nothing but the output of the tests is
// wanted.
func mayShard() bool {
	alone := true
	flag.Visit(func(f *flag.Flag) {
		alone = alone && !slices.Contains([]string{
			"test.run", "test.skip", "test.bench", "test.fuzz", "test.coverprofile", "test.cpuprofile", "test.memprofile", "test.trace", "test.failfast",
		}, f.Name)
	})
	return alone
}

// runShards runs every test in one of several processes, each with control planes of its own, and
// prints the output of one after the other. A test reads the whole cluster, so that two cannot
// share one at the same time.
func runShards() (code int) {
	names, err := testNames()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n := shards()
	outputs, errs := make([]bytes.Buffer, n), make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		var part []string
		for k := i; k < len(names); k += n {
			part = append(part, regexp.QuoteMeta(names[k]))
		}
		cmd := exec.Command(os.Args[0], append(slices.DeleteFunc(slices.Clone(os.Args[1:]), isTestLog), "-test.run=^("+strings.Join(part, "|")+")$")...)
		cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
		running.Go(func() { errs[i] = cmd.Run() })
	}
	running.Wait()
	for i := range n {
		os.Stdout.Write(outputs[i].Bytes()) //nolint:errcheck // go test reads it
		var exit *exec.ExitError
		if errs[i] != nil {
			code = 1
			if !errors.As(errs[i], &exit) {
				fmt.Fprintln(os.Stderr, "run a part of the tests:", errs[i])
			}
		}
	}
	return code
}

// isTestLog reports whether an argument names the file in which go test wants to read what the tests
// depend on.
func isTestLog(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile=") }

// testNames returns the names of the tests of this package.
func testNames() ([]string, error) {
	out, err := exec.Command(os.Args[0], "-test.list=.").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w", err)
	}
	return strings.Fields(string(out)), nil
}
