package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

// slowLinkResult has the measurements over a slow link.
type slowLinkResult struct {
	Link    string
	Objects int
	Runs    int
	Ways    []attempt // compressed ones, the best one first
	Entries []entry
	Moved   transferred
}

// Names of the rows over a slow link.
const (
	packedFloor = "the floor, gzip"
	plainFloor  = "the floor, not compressed"
)

// measureSlowLink finds the floor over a slow link and compares audit with it. There is one
// uncompressed method, as it takes by far the longest, and it is not part of the search.
func (w *harness) measureSlowLink(ctx context.Context, over link) (*slowLinkResult, error) {
	server, err := url.Parse(w.plane.Server)
	if err != nil {
		return nil, fmt.Errorf("read the server's address: %w", err)
	}
	p, err := newProxy(server.Host, over)
	if err != nil {
		return nil, err
	}
	defer p.close()
	address := "https://" + p.Address
	floor := func(method listMethod) program { return w.floor(method, w.all, "-server", address) }

	c := &slowLinkResult{Link: over.String(), Objects: w.stages[0], Runs: w.runs}
	ways := slowLinkListMethods()
	plain := ways[len(ways)-1]
	fmt.Fprintf(w.progress, "looking for the floor over a link of %s\n", over)
	if c.Ways, err = w.search(ctx, ways[:len(ways)-1], floor); err != nil {
		return nil, err
	}
	best := c.Ways[0].listMethod
	fmt.Fprintf(w.progress, "comparing, %d runs each; the floor is: %s\n", c.Runs, best)
	samples, outputs, err := w.turns(ctx, []program{floor(best), w.command(true, "audit", "--server", address), floor(plain)}, c.Runs, change)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(outputs[0], &c.Moved); err != nil {
		return nil, fmt.Errorf("read what the floor says: %w", err)
	}
	c.Entries = []entry{{Name: packedFloor, Runs: samples[0], Floor: true}, {Name: auditRow, Runs: samples[1]}, {Name: plainFloor, Runs: samples[2], Floor: true}}
	for i := range c.Entries {
		c.Entries[i].Against = c.Entries[0].Median()
	}
	return c, nil
}

// Audit returns the row of audit.
func (c *slowLinkResult) Audit() entry { return c.Entries[1] }
