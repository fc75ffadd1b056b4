package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// digestLength is that of a digest, in hexadecimal digits. 64 bits prevent a stranger who
// can choose names and UIDs from building another plan with the same digest.
const digestLength = 16

// The digest covers what a person confirms: completeness, gaps, steps with their reasons and
// order, outcomes, and what stays. It leaves out prose, which may be reworded;
// resourceVersions, which change for reasons that do not matter here (a write is bound to
// the one that its decision rests on); and Blocked, which follows from the rest and tells
// how long something has been waiting.
type confirmed struct {
	Mode         Mode
	Complete     bool
	Gaps         []snapshot.Gap // without messages
	AcceptedGaps snapshot.AcceptedGaps
	Lengths      [5]int // of the lists that follow
}

// withoutProse returns a reason without its sentence.
func withoutProse(r *reason.Reason) *reason.Reason {
	if r == nil {
		return nil
	}
	return &reason.Reason{Code: r.Code, Parameters: r.Parameters}
}

// Digest returns the digest of what a person confirms. The first call computes it, so nothing may
// change the plan afterwards. It is not safe for concurrent use.
func (p *Plan) Digest() string {
	if p.digest == "" {
		p.digest = p.hash()
	}
	return p.digest
}

// hash hashes one entry at a time, because the JSON of a plan is several times larger than the
// plan.
func (p *Plan) hash() string {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	add := func(value any) {
		if err := encoder.Encode(value); err != nil {
			panic(fmt.Sprintf("encode a plan: %v", err)) // it holds only strings and numbers
		}
	}
	gaps := slices.Clone(p.Gaps)
	for i := range gaps {
		gaps[i].Message = ""
	}
	add(confirmed{p.Mode, p.Complete, gaps, p.AcceptedGaps, [...]int{len(p.Steps), len(p.Outcomes), len(p.Retained), len(p.Kept), len(p.Lost)}})
	for i := range p.Steps {
		s := p.Steps[i].Document()
		s.Object.ResourceVersion, s.Reason, s.ManagedBy = "", withoutProse(s.Reason), nil
		add(s)
	}
	for _, o := range p.Outcomes {
		o.Nondeterministic, o.DeletedBy = withoutProse(o.Nondeterministic), withoutProse(o.DeletedBy)
		if in := o.Inventory; in != nil {
			o.Inventory = &Inventory{withoutProse(in.Reason), in.MayDeleteMore}
		}
		add(o)
	}
	for _, r := range p.Retained {
		r.Reason = withoutProse(r.Reason)
		add(r)
	}
	for _, k := range p.Kept {
		k.Reason = withoutProse(k.Reason)
		add(k)
	}
	for _, l := range p.Lost {
		l.Reason = withoutProse(l.Reason)
		add(l)
	}
	for _, b := range p.LostBackends {
		add(b)
	}
	return hex.EncodeToString(hash.Sum(nil))[:digestLength]
}

// distinct returns gaps sorted and without duplicates. Messages are not compared: a server
// words the same failure differently each time.
func distinct(gaps []snapshot.Gap) []snapshot.Gap {
	out := append([]snapshot.Gap{}, gaps...)
	slices.SortFunc(out, snapshot.Gap.Compare)
	return slices.CompactFunc(out, func(a, b snapshot.Gap) bool {
		a.Message, b.Message = "", ""
		return a.Equal(b)
	})
}
