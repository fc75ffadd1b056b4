package oracle

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// fakeVariable makes the test binary the program that answers requests.
const fakeVariable = "KUBECTL_GC_FAKE_ORACLE"

func TestMain(m *testing.M) {
	if os.Getenv(fakeVariable) != "" {
		fakeOracle()
		return
	}
	os.Exit(m.Run())
}

// fakeOracle replies that nothing ever happens. It ends at a request with seed 13, never
// answers one with seed 14, and reports an error for seed 15.
func fakeOracle() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r scenario.Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		reply := scenario.Reply{Ends: []scenario.End{{Orders: r.Orders, Objects: r.Scenario.Objects}}}
		switch r.Seed {
		case 13:
			os.Exit(3)
		case 14:
			time.Sleep(time.Hour) // without cgo, Go ends a process that can never go on
		case 15:
			reply = scenario.Reply{Error: "no such type"}
		}
		if err := json.NewEncoder(os.Stdout).Encode(reply); err != nil {
			os.Exit(2)
		}
	}
}

// fakePool returns a pool of processes that reply as fakeOracle does.
func fakePool(t *testing.T, timeout time.Duration) *Pool {
	t.Helper()
	pool := NewPool(Command{Args: []string{os.Args[0]}, Env: append(os.Environ(), fakeVariable+"=1"), Stderr: os.Stderr, Timeout: timeout}, 2)
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

func TestPoolAnswersManyRequestsAtOnce(t *testing.T) {
	pool := fakePool(t, time.Minute)
	var all sync.WaitGroup
	for seed := range uint64(10) {
		all.Go(func() {
			s := Draw(Kinds[0], seed)
			reply, err := pool.Ask(t.Context(), scenario.Request{Scenario: s, Seed: seed, Orders: 7})
			if err != nil || len(reply.Ends) != 1 || reply.Ends[0].Orders != 7 || len(reply.Ends[0].Objects) != len(s.Objects) {
				t.Errorf("seed %d: got %+v, %v", seed, reply, err)
			}
		})
	}
	all.Wait()
}

func TestPoolReplacesAProcessThatFails(t *testing.T) {
	for _, c := range []struct {
		name    string
		seed    uint64
		timeout time.Duration
		want    string
	}{
		{"ends", 13, time.Minute, "no reply"},
		{"does not answer", 14, 300 * time.Millisecond, "deadline exceeded"},
		{"reports an error", 15, time.Minute, "no such type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := fakePool(t, c.timeout)
			request := scenario.Request{Scenario: Draw(Kinds[0], 1), Seed: c.seed, Orders: 1}
			if _, err := pool.Ask(t.Context(), request); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			pool.command.Timeout = time.Minute
			request.Seed = 1
			for range 3 {
				if _, err := pool.Ask(t.Context(), request); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
