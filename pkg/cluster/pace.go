package cluster

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// longLists are how many lists of more than one page are read at a time. Each costs
	// the server the memory of its page, and more of them than it has processors to
	// spare make all of them slower.
	longLists = 2
	// enoughTime is how long a page may take. One that is quicker is followed by a larger
	// one, since a server looks through all that is still to come for each; but none is
	// to come near the time that one request has.
	enoughTime = time.Second
	// steeper is how much larger a page may be than the one before.
	steeper = 4
)

// pageSize is how lists are asked for that do not fit on a page.
type pageSize struct {
	flights *semaphore.Weighted // requests
	long    *semaphore.Weighted // lists
}

func newPace(flights int) *pageSize {
	return &pageSize{semaphore.NewWeighted(int64(flights)), semaphore.NewWeighted(longLists)}
}

// claim takes a place among the long lists, for the rest of the list; wait says whether
// to wait for one. A list that asks for no page ahead needs none.
func (p *pager) claim(ctx context.Context, wait bool) (bool, error) {
	switch {
	case p.claimed:
	case p.pageSize == nil:
		return true, nil
	case wait:
		if err := p.long.Acquire(ctx, 1); err != nil {
			return false, err
		}
		p.claimed = true
	default:
		p.claimed = p.long.TryAcquire(1)
	}
	return p.claimed, nil
}

// larger is how many objects to ask for behind a page of so many, which took so long.
func larger(size, most int64, took time.Duration) int64 {
	if took >= enoughTime {
		return max(1, size*int64(enoughTime)/int64(took))
	}
	return min(most, size*min(steeper, int64(enoughTime/max(took, 1))))
}
