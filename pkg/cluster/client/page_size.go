package client

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxLongLists are how many lists of more than one page are read at a time. Each costs
	// the server the memory of its page, and more of them than it has processors to
	// spare make all of them slower.
	maxLongLists = 2
	// pageTime is how long a page may take. One that is quicker is followed by a larger
	// one, since a server looks through all that is still to come for each; but none is
	// to come near the time that one request has.
	pageTime = time.Second
	// maxPageGrowth is how much larger a page may be than the one before.
	maxPageGrowth = 4
)

// listLimits is how lists are asked for that do not fit on a page.
type listLimits struct {
	requests  *semaphore.Weighted // requests
	longLists *semaphore.Weighted // lists
}

func newListLimits(flights int) *listLimits {
	return &listLimits{semaphore.NewWeighted(int64(flights)), semaphore.NewWeighted(maxLongLists)}
}

// acquireLongList takes a place among the long lists, for the rest of the list; wait says whether
// to wait for one. A list that asks for no page ahead needs none.
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

// nextPageSize is how many objects to ask for behind a page of so many, which took so long.
func nextPageSize(size, most int64, took time.Duration) int64 {
	if took >= pageTime {
		return max(1, size*int64(pageTime)/int64(took))
	}
	return min(most, size*min(maxPageGrowth, int64(pageTime/max(took, 1))))
}
