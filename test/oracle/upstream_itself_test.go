package oracle

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

const (
	// knownOrders is how many orders of events show what upstream's collector may do. An end
	// that fewer of them reach may be missed; with 300, a run has failed for that.
	knownOrders = 1000
	// otherOrders is how many other orders that is compared with.
	otherOrders = 10
	// otherSeeds is added to the seed of a scenario for its known orders.
	otherSeeds = 1_000_000
)

// TestTheComparisonPassesForUpstreamItself predicts what upstream's collector does from many
// orders of events, and compares that with a few other orders of the same scenario: there must
// be no failure. This proves that the comparison blames nobody for what the collector may do.
func TestTheComparisonPassesForUpstreamItself(t *testing.T) {
	if os.Getenv(mutationVariable) == "" {
		t.Skip(mutationVariable + " is not set: make oracle-mutation sets it")
	}
	kinds := kindsFromEnvironment(t)
	processes := runtime.GOMAXPROCS(0)
	pool := NewPool(Command{Args: upstreamCommand(t), Stderr: os.Stderr, Timeout: time.Minute}, processes)
	defer func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}()
	var mu sync.Mutex
	counts := NewCounts()
	seeds := make(chan int)
	var workers sync.WaitGroup
	for range processes {
		workers.Go(func() {
			for i := range seeds {
				k, seed := kinds[i%len(kinds)], uint64(1+i)
				result, err := compareUpstream(t, pool.Ask, Draw(k, seed), seed)
				if err != nil {
					t.Errorf("KIND=%q SEED=%d: %v", k.Name, seed, err)
					continue
				}
				for _, f := range result.Findings {
					if f.Class.Failure() {
						t.Errorf("KIND=%q SEED=%d: %s", k.Name, seed, f)
					}
				}
				mu.Lock()
				counts.Add(k, result)
				mu.Unlock()
			}
		})
	}
	for i := range numberFromEnvironment(t, "SCENARIOS", 20*len(kinds)) {
		seeds <- i
	}
	close(seeds)
	workers.Wait()
	t.Logf("\n%s", counts.Table())
}

// compareUpstream compares upstream's collector with itself in one scenario.
func compareUpstream(t *testing.T, ask Ask, s scenario.Scenario, seed uint64) (Result, error) {
	var out Result
	known, err := ask(t.Context(), scenario.Request{Scenario: s, Seed: seed + otherSeeds, Orders: knownOrders})
	if err != nil {
		return out, err
	}
	other, err := ask(t.Context(), scenario.Request{Scenario: s, Seed: seed, Orders: otherOrders})
	if err != nil {
		return out, err
	}
	return out, out.compare(s, seed, other, func(s scenario.Scenario) []Prediction { return predictFromEnds(s, Ends(known)) })
}

// predictFromEnds returns what the ends of some orders say about others: what is the same in all
// of them is certain, and everything else is nondeterministic.
func predictFromEnds(s scenario.Scenario, ends []End) []Prediction {
	var out []Prediction
	for i := range s.Objects {
		o := &s.Objects[i]
		orders := map[forecast]int{}
		deleted := false
		for _, e := range ends {
			at := e.Object(o.UID)
			f := forecast{state: stateOf(at)}
			if f.state == alive {
				f.references = ownersOf(at)
			}
			orders[f] += e.Orders
			deleted = deleted || e.Deleted(o.UID)
		}
		var said forecast
		for f, n := range orders {
			if n > orders[said] || n == orders[said] && f.state+f.references < said.state+said.references {
				said = f
			}
		}
		said.backedUp = deleted
		if len(orders) > 1 {
			said.reserve = Nondeterministic
		}
		out = append(out, said.predictions(s, o)...)
	}
	return out
}
