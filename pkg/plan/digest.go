package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Finalize fills in the plan's summary and digest.
func (p *Plan) Finalize() {
	p.Summary = Summary{Blocked: len(p.Blocked), Kept: len(p.Kept)}
	for i := range p.Steps {
		p.Summary.add(p.Steps[i].Action)
	}
	p.Digest = p.sum(notConfirmed)[:digestLength]
}

// Finalized returns the plan with the digest of its own steps, which Load requires. A
// revalidated plan has the digest of the saved plan instead.
func (p *Plan) Finalized() *Plan {
	out := *p
	out.Digest = p.sum(notConfirmed)[:digestLength]
	return &out
}

// digestLength is that of a digest, in hexadecimal digits. 64 bits prevent a stranger who
// can choose names and UIDs from building another plan with the same digest.
const digestLength = 16

// digest returns the digest of a plan, given its stored form.
func digest(stored []byte) string { return sum(stored, notConfirmed)[:digestLength] }

// checksum returns the checksum of a plan, given its stored form.
func checksum(stored []byte) string { return sum(stored, notChecked) }

// notConfirmed reports the fields that the digest does not cover. The digest covers what a
// person confirms: completeness, gaps, steps with their reasons and order, and outcomes. It
// leaves out prose, which may be reworded; resourceVersions, which change for reasons that
// do not matter here (a step is bound to its own anyway); fields about the document; and
// fields that follow from others.
func notConfirmed(depth int, key string) bool {
	return key == "message" || key == "resourceVersion" ||
		depth == 1 && slices.Contains([]string{"apiVersion", "kind", "digest", "checksum", "clusterUID", "summary", "blocked"}, key)
}

// notChecked reports the fields that the checksum does not cover: itself, and those that
// Load compares.
func notChecked(depth int, key string) bool {
	return depth == 1 && (key == "checksum" || key == "apiVersion" || key == "kind")
}

func sum(stored []byte, drop dropFunc) string {
	hash := sha256.Sum256(canonical(stored, drop))
	return hex.EncodeToString(hash[:])
}

// sum returns what the function sum returns for the stored form of the plan.
func (p *Plan) sum(drop dropFunc) string {
	hash := sha256.New()
	p.encode(hash, (&canonicalizer{drop: drop}).rewrite, drop)
	return hex.EncodeToString(hash.Sum(nil))
}

// distinct returns gaps sorted and without duplicates. Messages are not compared: a server
// words the same failure differently each time.
func distinct(gaps []snapshot.Gap) []snapshot.Gap {
	out := append([]snapshot.Gap{}, gaps...)
	slices.SortFunc(out, snapshot.Gap.Compare)
	return slices.CompactFunc(out, func(a, b snapshot.Gap) bool {
		a.Message, b.Message = "", ""
		return a == b
	})
}
