//go:debug randseednop=0

package simulation

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand" // package wait and client-go's reflector draw their pauses from it
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/oracle"
)

// Variables of the environment. Each part of the days is simulated by a process of its own: what client-go draws
// by chance then depends on the seed.
const (
	seedVariable  = "SEED"            // of the first day
	seedsVariable = "SEEDS"           // how many days
	partVariable  = "SIMULATION_PART" // set for such a process: where it writes its counts
)

// TestCollectorInService simulates days, and requires that every rule was kept in each. SEEDS is how many (100), and
// SEED the first one's (1).
func TestCollectorInService(t *testing.T) {
	first, seeds := oracle.NumberFromEnvironment(t, seedVariable, 1), oracle.NumberFromEnvironment(t, seedsVariable, 100)
	if path := os.Getenv(partVariable); path != "" {
		simulatePart(t, path, first, seeds)
		return
	}
	program := oracle.Program(t)
	type part struct{ first, seeds int }
	parts := make(chan part)
	total := counts{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	processes := runtime.GOMAXPROCS(0)
	for range processes {
		workers.Go(func() {
			for p := range parts {
				path := filepath.Join(t.TempDir(), "counts")
				run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCollectorInService$", "-test.timeout=0")
				run.Env = append(os.Environ(), "GOMAXPROCS=1", "KUBECONFIG="+filepath.Join(t.TempDir(), "none"), oracle.ProgramVariable+"="+program,
					partVariable+"="+path, fmt.Sprintf("%s=%d", seedVariable, p.first), fmt.Sprintf("%s=%d", seedsVariable, p.seeds))
				out, err := run.CombinedOutput()
				var counted counts
				if raw, readErr := os.ReadFile(path); readErr == nil {
					err = errors.Join(err, json.Unmarshal(raw, &counted))
				}
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				mu.Lock()
				total.add(counted)
				if days := total["day"]; days%1000 == 0 {
					t.Logf("%d days", days)
				}
				mu.Unlock()
			}
		})
	}
	size := min(maxPart, (seeds+processes-1)/processes)
	for at := first; at < first+seeds && !t.Failed(); at += size {
		parts <- part{at, min(size, first+seeds-at)}
	}
	close(parts)
	workers.Wait()
	t.Logf("%s=%d %s=%d:\n%s", seedVariable, first, seedsVariable, seeds, total)
}

// maxPart is how many days one process simulates: cobra keeps every command that a process has run.
const maxPart = 100

// simulatePart simulates days one after the other, and writes their counts to a file. It stops at the first that fails.
func simulatePart(t *testing.T, path string, first, seeds int) {
	debug.SetGCPercent(800)
	ask := oracle.Start(t, 1)
	total := counts{}
	for seed := first; seed < first+seeds; seed++ {
		s := draw(uint64(seed))
		out := simulate(t, ask, uint64(seed), s)
		total.add(out.counts)
		total["day"]++
		if len(out.failures) > 0 {
			t.Errorf("seed %d fails:\n%s", seed, reduced(t, ask, uint64(seed), s, out))
			break
		}
	}
	raw, err := json.Marshal(total)
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// simulate simulates a day and has upstream's collector judge its end.
func simulate(t *testing.T, ask oracle.Ask, seed uint64, s script) outcome {
	//lint:ignore SA1019 nothing else seeds what libraries draw
	rand.Seed(int64(seed))
	out := run(t, seed, s)
	left, err := fixpoint(t.Context(), ask, out.left)
	if err != nil {
		out.failures = append(out.failures, err.Error())
	}
	out.failures = append(out.failures, left...)
	return out
}

// TestAnInstanceIsKilledBetweenADeletionAndItsRecord has the other one go on.
func TestAnInstanceIsKilledBetweenADeletionAndItsRecord(t *testing.T) {
	requireDay(t, 1, `
1s start a
2s start b
10s kill a after-write 2
11s create 0
12s create 1 0
13s create 2 1
14s delete 0 Background
`)
}

// TestAnInstanceLearnsTooLateThatItHasTheLease has a network on which the answers about the Lease take half a
// minute, and somebody who deletes that meanwhile.
func TestAnInstanceLearnsTooLateThatItHasTheLease(t *testing.T) {
	requireDay(t, 2702, `
1.599763s start a
13.46829s start b
1m55.557315s crash b
1m58.256134s crash a
3h38m24.067507s start b
3h38m26.169075s start a
3h40m8.712737s crash b
3h40m15.11794s stop a
6h21m4.604197s start a
6h22m54.057565s create 7
6h24m47.845345s crash b
6h24m49.147859s crash a
7h47m43.672737s delete 7 Foreground
7h47m47.167756s start b
7h47m54.989482s late-answer both lease 30.504s 27.942s
7h47m55.54007s start a
7h48m5.617886s stop a
7h48m20.997104s start a
7h48m32.074522s lease delete
`)
}

func TestAScriptIsReadAsItIsPrinted(t *testing.T) {
	for seed := range uint64(20) {
		s := draw(seed)
		if read, err := parse(s.String()); err != nil || read.String() != s.String() {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// requireDay simulates the day of a script.
func requireDay(t *testing.T, seed uint64, text string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	s, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	out := simulate(t, oracle.Start(t, 1), seed, s)
	for _, failure := range out.failures {
		t.Error(failure)
	}
	if t.Failed() {
		t.Log(out.said())
	}
}

// maxTries is how many shorter scripts are tried at most.
const maxTries = 150

// reduced leaves out steps as long as the day still fails, and returns the failures and the day as a test.
func reduced(t *testing.T, ask oracle.Ask, seed uint64, s script, out outcome) string {
	size := len(s)
	for tries := 0; tries < maxTries && size > 0; size /= 2 {
		for at := 0; at < len(s) && tries < maxTries; tries++ {
			without := append(s[:at:at], slices.DeleteFunc(slices.Clone(s[at:min(at+size, len(s))]), step.mayGo)...)
			without = append(without, s[min(at+size, len(s)):]...)
			if len(without) < len(s) {
				if again := simulate(t, ask, seed, without); len(again.failures) > 0 {
					s, out = without, again
					continue
				}
			}
			at += size
		}
	}
	return fmt.Sprintf("%s\n%s\nfunc TestDay%d(t *testing.T) {\n\trequireDay(t, %d, `\n%s`)\n}\n", strings.Join(out.failures, "\n"), out.said(), seed, seed, s)
}
