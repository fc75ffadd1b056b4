package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// digest returns the digest of what the plan shows: whether the scan was complete
// and what it could not read, each step's action on which object, with what, in
// which order, and what becomes of everything. It leaves resourceVersions out, as
// they change all the time with things that matter to nobody; a step is bound to
// its own all the same. 64 bits keep a stranger who may choose names and UIDs from
// making another plan with the same digest.
func digest(p *Plan) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	write := func(v any) {
		if err := e.Encode(v); err != nil {
			panic("a plan cannot be encoded: " + err.Error()) // only strings and numbers
		}
	}
	write(p.Mode)
	write(p.Complete)
	for _, g := range gapsShown(p.Gaps) {
		write(g)
	}
	if len(p.AcceptedGaps) > 0 {
		write(p.AcceptedGaps)
	}
	for _, s := range p.Steps {
		s.Object.ResourceVersion = ""
		write(s)
	}
	for _, o := range p.Outcomes {
		write(o)
	}
	for _, s := range p.Stays {
		write(s)
	}
	for _, l := range p.Later {
		write(l)
	}
	for _, k := range p.Kept {
		write(k)
	}
	for _, l := range p.Lost {
		write(l)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// gapsShown returns gaps sorted and once each, without their messages: a server
// words the same failure differently each time.
func gapsShown(gaps []snapshot.Gap) []snapshot.Gap {
	out := slices.Clone(gaps)
	for i := range out {
		out[i].Message = ""
	}
	slices.SortFunc(out, snapshot.Gap.Compare)
	return slices.Compact(out)
}

// Sealed is the plan with the digest of its own steps, as Load demands it: one
// that was renewed has the digest of the plan that it was saved as.
func (p *Plan) Sealed() *Plan {
	sealed := *p
	sealed.Digest = digest(p)
	return &sealed
}
