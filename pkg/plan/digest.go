package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Finalize counts what the plan does, and gives it the digest of that.
func (p *Plan) Finalize() {
	p.Summary = Summary{Blocked: len(p.Blocked), Kept: len(p.Kept)}
	for _, s := range p.Steps {
		p.Summary.add(s.Action)
	}
	p.Digest = digest(p.store().encoded())
}

// Finalized returns the plan with the digest of its own steps, as Load demands it: one
// that was renewed has the digest of the plan that it was saved as.
func (p *Plan) Finalized() *Plan {
	sealed := *p
	sealed.Digest = digest(p.store().encoded())
	return &sealed
}

// digest returns the digest of what a plan shows, by its stored form: whether the scan
// was complete and what it could not read, each step's action on which object, with
// what, why, in which order, and what becomes of everything. It leaves out prose, which
// may be reworded, and resourceVersions, which change all the time with things that
// matter to nobody; a step is bound to its own all the same. 64 bits keep a stranger who
// may choose names and UIDs from making another plan with the same digest.
func digest(stored []byte) string {
	return sum(stored, func(depth int, key string) bool {
		return key == "message" || key == "resourceVersion" || depth == 1 && slices.Contains(notShown, key)
	})[:16]
}

// notShown are the fields of a stored plan that the digest leaves out: those about the
// document, and those that follow from others.
var notShown = []string{"apiVersion", "kind", "digest", "checksum", "clusterUID", "summary", "blocked"}

// checksum returns the checksum of a stored plan: of all that is in the file, but itself
// and the apiVersion and kind, which Load compares.
func checksum(stored []byte) string {
	return sum(stored, func(depth int, key string) bool {
		return depth == 1 && (key == "checksum" || key == "apiVersion" || key == "kind")
	})
}

func sum(stored []byte, drop func(depth int, key string) bool) string {
	hash := sha256.Sum256(canonical(stored, drop))
	return hex.EncodeToString(hash[:])
}

// distinct returns gaps sorted and once each, whatever their messages: a server words
// the same failure differently each time.
func distinct(gaps []snapshot.Gap) []snapshot.Gap {
	out := append([]snapshot.Gap{}, gaps...)
	slices.SortFunc(out, snapshot.Gap.Compare)
	return slices.CompactFunc(out, func(a, b snapshot.Gap) bool {
		a.Message, b.Message = "", ""
		return a == b
	})
}
