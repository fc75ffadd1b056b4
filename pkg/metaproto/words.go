package metaproto

import (
	"hash/maphash"
	"strings"
)

const (
	firstChunk   = 1 << 10 // most lists are short
	largestChunk = 1 << 16
	remembered   = 1 << 10
)

// words keeps the strings of a list: many in one piece of memory each, so that an
// object costs none of its own.
type words struct {
	chunk  strings.Builder
	recent []string // by hash; a word stands there until another takes its place
	seed   maphash.Seed
}

// keep copies a word.
func (w *words) keep(word []byte) string {
	if len(word) == 0 {
		return ""
	}
	if w.chunk.Cap()-w.chunk.Len() < len(word) {
		size := min(max(firstChunk, 2*w.chunk.Cap()), largestChunk)
		w.chunk.Reset() // what was kept stays, as the strings' own
		w.chunk.Grow(max(size, len(word)))
	}
	from := w.chunk.Len()
	w.chunk.Write(word)
	return w.chunk.String()[from:]
}

// share is keep for a word that is likely to come again. How much it remembers is
// bounded, so that a list of nothing but new words costs no more.
func (w *words) share(word []byte) string {
	if w.recent == nil {
		w.recent, w.seed = make([]string, remembered), maphash.MakeSeed()
	}
	slot := &w.recent[maphash.Bytes(w.seed, word)%remembered]
	if *slot != string(word) {
		*slot = w.keep(word)
	}
	return *slot
}
