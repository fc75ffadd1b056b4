package garbagecollector

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/scenario"
)

// An order is at rest when nothing is left to do, or when nothing was written for so many
// steps: the collector polls some absent owners forever, under one of their names after the
// other.
const idleSteps = 3_000

// Explore runs a scenario in random orders and returns where they end.
func Explore(r scenario.Request) (out scenario.Reply) {
	defer func() {
		if p := recover(); p != nil {
			out.Error = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ends := map[string]*scenario.End{}
	m := newMapper(r.Scenario.Types)
	before, err := canonical(newCluster(r.Scenario, m, rand.New(rand.NewPCG(r.Seed, 0))).objects())
	if err != nil {
		return scenario.Reply{Error: err.Error()}
	}
	for order := range r.Orders {
		c := newCluster(r.Scenario, m, rand.New(rand.NewPCG(r.Seed, uint64(order))))
		end, err := c.run(before)
		if err != nil {
			return scenario.Reply{Error: fmt.Sprintf("order %d: %v", order, err)}
		}
		key, err := canonical(end)
		if err != nil {
			return scenario.Reply{Error: err.Error()}
		}
		if ends[key] == nil {
			ends[key] = end
		}
		ends[key].Orders++
	}
	for _, e := range ends {
		out.Ends = append(out.Ends, *e)
	}
	slices.SortFunc(out.Ends, func(a, b scenario.End) int {
		x, _ := canonical(a.Objects)
		y, _ := canonical(b.Objects)
		return cmp.Or(b.Orders-a.Orders, cmp.Compare(x, y))
	})
	return out
}

// run runs one order: first until nothing is left to do, then with the user's requests.
func (c *cluster) run(before string) (*scenario.End, error) {
	c.sync()
	for _, gr := range c.scenario.Faults.Unserved {
		c.server.Unserve(schema.ParseGroupResource(gr))
	}
	c.settle(false)
	end := &scenario.End{}
	settled := c.objects()
	if now, err := canonical(settled); err != nil {
		return nil, err
	} else if now != before {
		end.Settled = settled
	}
	c.settle(true)
	end.Objects = c.objects()
	if c.release(settled, end.Objects); c.earlier != nil {
		c.settle(false)
		end.Released = c.objects()
	}
	return end, nil
}

// sync delivers the initial lists and processes them: the collector's workers start only once
// all monitors have synced. Nothing else happens meanwhile.
func (c *cluster) sync() {
	for c.stepOf(c.graphSteps()) {
	}
}

func (c *cluster) settle(withUser bool) {
	for idle, writes := 0, 0; idle < idleSteps || withUser && len(c.deletes) > 0; idle++ {
		if !c.step(withUser) {
			return
		}
		if now := c.server.Revision(); now != writes {
			idle, writes = 0, now
		}
	}
}

// canonical returns a text that is equal for equal states.
func canonical(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}
