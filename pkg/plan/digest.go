package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
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
type (
	confirmedHead struct {
		Mode         Mode
		Complete     bool
		Gaps         []snapshot.Gap // without messages
		AcceptedGaps snapshot.AcceptedGaps
		Lengths      [5]int // of the lists that follow
	}
	confirmedReason struct {
		Code       reason.Code
		Parameters reason.Reason
	}
	confirmedStep struct {
		stepFields
		Object object.Identity `json:"object"` // in place of the step's
		Why    confirmedReason
	}
	confirmedOutcome struct {
		*Outcome
		Nondeterministic confirmedReason `json:"nondeterministic"` // in place of the outcome's
	}
	confirmedRest struct { // one of these
		*Retained
		*Kept
		*Lost
		Why confirmedReason
	}
)

func confirmedOf(r reason.Reason) confirmedReason { return confirmedReason{reason.CodeOf(r), r} }

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
	add(confirmedHead{p.Mode, p.Complete, gaps, p.AcceptedGaps, [...]int{len(p.Steps), len(p.Outcomes), len(p.Retained), len(p.Kept), len(p.Lost)}})
	for i := range p.Steps {
		s := &p.Steps[i]
		add(confirmedStep{s.fields(), s.Object.Identity, confirmedOf(s.Reason)})
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		add(confirmedOutcome{o, confirmedOf(o.Nondeterministic.Reason)})
	}
	for i := range p.Retained {
		add(confirmedRest{Retained: &p.Retained[i], Why: confirmedOf(p.Retained[i].Reason)})
	}
	for i := range p.Kept {
		add(confirmedRest{Kept: &p.Kept[i], Why: confirmedOf(p.Kept[i].Reason)})
	}
	for i := range p.Lost {
		add(confirmedRest{Lost: &p.Lost[i], Why: confirmedOf(p.Lost[i].Reason)})
	}
	for _, b := range p.LostBackends {
		add(confirmedOf(b))
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
