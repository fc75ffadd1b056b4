package backup

import (
	"errors"
	"maps"
	"sync"
)

// ErrShareUsed reports that the backups of a namespace use up its share.
var ErrShareUsed = errors.New("the backups of its namespace use up a namespace's share of the space for backups")

// Shares counts how much of the space for backups each namespace uses, so that one cannot displace
// the backups of others. It is safe for concurrent use. Nil counts nothing.
type Shares struct {
	mu    sync.Mutex
	limit int64
	used  map[string]int64
	full  map[string]bool
}

// NewShares returns the shares of a space.
func NewShares(limits Limits) *Shares {
	return &Shares{limit: limits.MaxBytes / share, used: map[string]int64{}, full: map[string]bool{}}
}

// perObject is about what a backup stores of an object in addition to its manifest.
const perObject = 2 << 10

// Take counts a manifest of that many bytes. ErrShareUsed means that it exceeds the share of the
// namespace, which is full from then on. The first one never does, so that a manifest that is larger than a share
// is not refused for ever. Nil refuses nothing.
func (s *Shares) Take(namespace string, bytes int) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	needed := int64(bytes) + perObject
	if used := s.used[namespace]; used > 0 && used+needed > s.limit {
		s.full[namespace] = true
		return ErrShareUsed
	}
	s.used[namespace] += needed
	return nil
}

// Set replaces the counts with those that Prune returned. A full namespace stays full until a quarter of
// its share is free, because every attempt to delete its objects reads them first.
func (s *Shares) Set(used map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = used
	maps.DeleteFunc(s.full, func(namespace string, _ bool) bool { return used[namespace] <= s.limit/4*3 })
	for namespace, bytes := range used {
		if bytes >= s.limit {
			s.full[namespace] = true
		}
	}
}

// Full reports whether Take refused a manifest of the namespace, and no space has become free since.
func (s *Shares) Full(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full[namespace]
}
