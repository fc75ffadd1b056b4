package client

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxLongLists limits how many lists of more than one page are read at a time. Each costs the
	// server the memory of a page, and more lists than free processors slow all of them down.
	maxLongLists = 2
	// pageTime is how long a page should take. Pages grow while they are quicker, since for each
	// page the server goes through everything that follows; but no page should come near the
	// timeout.
	pageTime = time.Second
	// maxPageGrowth limits how much larger a page may be than the one before.
	maxPageGrowth = 4
)

// listLimits bounds the requests and long lists in flight of one scan.
type listLimits struct {
	requests  *semaphore.Weighted
	longLists *semaphore.Weighted
}

func newListLimits(flights int) *listLimits {
	return &listLimits{semaphore.NewWeighted(int64(flights)), semaphore.NewWeighted(maxLongLists)}
}

// acquireLongList reserves a slot for a long list until the pager is closed. Without wait, it
// returns false if none is free. A pager without limits needs no slot.
func (p *pager) acquireLongList(ctx context.Context, wait bool) (bool, error) {
	switch {
	case p.holdsLongList:
	case p.limits == nil:
		return true, nil
	case wait:
		if err := p.limits.longLists.Acquire(ctx, 1); err != nil {
			return false, err
		}
		p.holdsLongList = true
	default:
		p.holdsLongList = p.limits.longLists.TryAcquire(1)
	}
	return p.holdsLongList, nil
}

// nextPageSize returns the limit for the page after one of that size and duration.
func nextPageSize(size, most int64, took time.Duration) int64 {
	if took >= pageTime {
		return max(1, size*int64(pageTime)/int64(took))
	}
	return min(most, size*min(maxPageGrowth, int64(pageTime/max(took, 1))))
}
