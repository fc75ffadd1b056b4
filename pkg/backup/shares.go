package backup

import (
	"errors"
	"sync"
)

// ErrShareUsed reports that the backups of a namespace may not use more space.
var ErrShareUsed = errors.New("the backups of its namespace would use more space than they leave to others")

// Shares counts how much of the space for backups each namespace uses. One may use at most as much as is free
// then. So however many namespaces somebody fills, some space stays free for others, and nothing of theirs has
// to be removed for it. It is safe for concurrent use. Nil counts nothing.
type Shares struct {
	mu    sync.Mutex
	space int64
	free  int64
	used  map[string]int64
	full  map[string]bool
}

// NewShares returns the shares of a space.
func NewShares(limits Limits) *Shares {
	return &Shares{space: limits.MaxBytes, free: limits.MaxBytes, used: map[string]int64{}, full: map[string]bool{}}
}

// perObject is about what a backup stores of an object in addition to its manifest, if it has no other: the files
// use whole blocks.
const perObject = 2 * block

// Take counts a manifest of that many bytes. ErrShareUsed means that the namespace would use more than is free
// afterwards. It is full from then on. Nil refuses nothing.
func (s *Shares) Take(namespace string, bytes int) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	needed := int64(bytes) + perObject
	if s.used[namespace]+needed > s.free-needed {
		s.full[namespace] = true
		return ErrShareUsed
	}
	s.used[namespace] += needed
	s.free -= needed
	return nil
}

// Set replaces the counts with those that Prune returned. A full namespace stays full until it uses less than
// three quarters of what is free, because every attempt to delete its objects reads them first.
func (s *Shares) Set(used map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used, s.free = used, s.space
	for _, bytes := range used {
		s.free -= bytes
	}
	for namespace := range s.full {
		if used[namespace] <= s.free/4*3 {
			delete(s.full, namespace)
		}
	}
	for namespace, bytes := range used {
		if bytes >= s.free {
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

// AnyFull reports whether Full holds for any namespace.
func (s *Shares) AnyFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.full) > 0
}
