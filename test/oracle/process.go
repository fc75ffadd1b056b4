package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	// ProgramVariable names the program that runs upstream's collector. Without it, one is built.
	ProgramVariable = "KUBECTL_GC_ORACLE"
	// requestTimeout limits one request: a collector that never comes to rest must not hang a test.
	requestTimeout = time.Minute
)

// Program returns the program that runs upstream's collector. It skips the test where
// nothing may be built.
func Program(t testing.TB) string {
	t.Helper()
	if program := os.Getenv(ProgramVariable); program != "" {
		return program
	}
	if os.Getenv(testcluster.BuildVariable) == "" {
		t.Skipf("upstream's collector is run only with %s=1", testcluster.BuildVariable)
	}
	program := filepath.Join(t.TempDir(), "oracle")
	build := exec.CommandContext(t.Context(), "go", "run", "./oracle", "-o", program)
	build.Dir = filepath.Join("..", "controlplane")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program that runs upstream's collector: %v\n%s", err, out)
	}
	return program
}

// Start starts n processes that run upstream's collector, for the duration of a test. It skips the test
// where nothing may be built. The returned function may be called from several goroutines, but not from a
// bubble of package synctest.
func Start(t testing.TB, n int) Ask {
	t.Helper()
	program := Program(t)
	idle := make(chan *process, n)
	for range n {
		p, err := startProcess(program)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.kill)
		idle <- p
	}
	return func(ctx context.Context, r scenario.Request) (scenario.Reply, error) {
		p := <-idle
		defer func() { idle <- p }()
		return p.ask(ctx, r)
	}
}

// process reads requests on standard input and writes the replies to standard output, one JSON
// document a line.
type process struct {
	cmd      *exec.Cmd
	requests *json.Encoder
	replies  *json.Decoder
}

func startProcess(program string) (*process, error) {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, json.NewEncoder(stdin), json.NewDecoder(stdout)}, cmd.Start()
}

func (p *process) ask(ctx context.Context, r scenario.Request) (reply scenario.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	if err = p.requests.Encode(r); err == nil {
		err = p.replies.Decode(&reply)
	}
	switch {
	case err != nil:
		return reply, fmt.Errorf("ask upstream's collector: %w", errors.Join(err, ctx.Err()))
	case reply.Error != "":
		return reply, fmt.Errorf("ask upstream's collector: %s", reply.Error)
	}
	return reply, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// NumberFromEnvironment returns the number in a variable of the environment, or another one if that is not set.
func NumberFromEnvironment(t testing.TB, name string, otherwise int) int {
	t.Helper()
	given := os.Getenv(name)
	if given == "" {
		return otherwise
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 0 {
		t.Fatalf("%s: %q is not a number", name, given)
	}
	return n
}
