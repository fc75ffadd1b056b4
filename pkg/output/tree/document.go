package tree

import (
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// FamilyData is the family as data: every object once, with its references and their
// verdicts. Objects are sorted by Identity.Compare, owners are in the order of the
// metadata.
type FamilyData struct {
	Complete bool              `json:"complete"`
	Gaps     []snapshot.Gap    `json:"gaps"`
	Targets  []object.Identity `json:"targets"`
	Objects  []Member          `json:"objects"`
}

// Member is a member of a family.
type Member struct {
	object.Identity `json:",inline"`
	Created         *time.Time        `json:"created,omitempty"`
	Deleted         *time.Time        `json:"deleted,omitempty"` // deletionTimestamp
	Finalizers      []string          `json:"finalizers,omitempty"`
	Owners          []JudgedReference `json:"owners"`
	UsedBy          []*reason.Reason  `json:"usedBy,omitempty"` // of a target, on request
}

// JudgedReference is a reference with its verdict and the audit rule that reports it, if any.
type JudgedReference struct {
	object.Reference
	Verdict collector.Verdict `json:"verdict"`
	Rule    string            `json:"rule,omitempty"`
}

// NewDocument returns the family as a document, with these users of its targets.
func NewDocument(g *graph.Graph, judge *collector.Judge, family Family, users []reason.UsedByOthers) *FamilyData {
	s := g.Snapshot()
	d := &FamilyData{
		Complete: s.Complete(), Gaps: append([]snapshot.Gap{}, s.Gaps...),
		Targets: []object.Identity{}, Objects: []Member{},
	}
	for _, n := range family.Members.Nodes() {
		if o := g.Object(n); o != nil {
			member := documented(o, judge.Object(n))
			for _, used := range users {
				if used.Object == o.Identity {
					member.UsedBy = append(member.UsedBy, reason.Of(used))
				}
			}
			d.Objects = append(d.Objects, member)
			if family.Targets.Has(n) {
				d.Targets = append(d.Targets, o.Identity)
			}
		}
	}
	slices.SortFunc(d.Targets, object.Identity.Compare)
	slices.SortFunc(d.Objects, func(a, b Member) int { return a.Compare(b.Identity) })
	return d
}

// Identities returns the objects in their order.
func (d *FamilyData) Identities() []object.Identity {
	out := make([]object.Identity, len(d.Objects))
	for i, o := range d.Objects {
		out[i] = o.Identity
	}
	return out
}

func documented(o *object.Object, judgements []collector.Judgement) Member {
	out := Member{Identity: o.Identity, Deleted: o.Deleted, Finalizers: o.Finalizers, Owners: []JudgedReference{}}
	if !o.Created.IsZero() {
		out.Created = &o.Created
	}
	for i, r := range o.Owners {
		out.Owners = append(out.Owners, JudgedReference{r, judgements[i].Verdict, string(judgements[i].Cause)})
	}
	return out
}
