package metaproto

import (
	"hash/maphash"
	"strings"
)

const (
	minChunk  = 1 << 10 // most lists are short
	maxChunk  = 1 << 16
	cacheSize = 1 << 10
)

// interner allocates the strings of a list in chunks, and repeated strings once.
type interner struct {
	chunk strings.Builder
	cache []string // by hash; a string stays until another replaces it
	seed  maphash.Seed
}

func (n *interner) copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if n.chunk.Cap()-n.chunk.Len() < len(b) {
		size := min(max(minChunk, 2*n.chunk.Cap()), maxChunk)
		n.chunk.Reset() // earlier strings keep the old chunk alive
		n.chunk.Grow(max(size, len(b)))
	}
	from := n.chunk.Len()
	n.chunk.Write(b)
	return n.chunk.String()[from:]
}

// intern is copy for a string that is likely to repeat.
func (n *interner) intern(b []byte) string {
	if n.cache == nil {
		n.cache, n.seed = make([]string, cacheSize), maphash.MakeSeed()
	}
	slot := &n.cache[maphash.Bytes(n.seed, b)%cacheSize]
	if *slot != string(b) {
		*slot = n.copy(b)
	}
	return *slot
}
