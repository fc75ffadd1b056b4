package audit

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// Report is the answer of one audit.
type Report struct {
	Complete bool    `json:"complete"`
	Gaps     []Gap   `json:"gaps"`
	Summary  Summary `json:"summary"`
	// Clusters are those that a report is joined from, by name; nil where it is of one.
	Clusters []Counts `json:"clusters,omitempty"`
	// Findings are in the order of their object, then of Rules, then of the
	// reference. Empty, not nil, when there are none.
	Findings []Finding `json:"findings"`
}

// Summary counts what was judged and what was found.
type Summary struct {
	Objects    int `json:"objects"`
	References int `json:"references"`
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Infos      int `json:"infos"`
}

// Finding is one thing that one rule has to say of one object or cycle.
type Finding struct {
	Cluster     string                // where the report is joined from several
	Rule        string                // its id
	Severity    Severity              //
	Object      object.Identity       // of a cycle, its first member
	Reference   *Reference            // nil where the finding is not about one
	Verdict     collector.Verdict     // of Reference, empty without one
	Consequence collector.Consequence //
	Reason      reason.Brief          // what was found
	Effect      reason.Brief          // what the collector does about it
	Fix         Fix                   //
	Members     []object.Identity     // of a cycle, sorted; else empty
}

// Message returns what was found and what the collector does about it, as one sentence
// without a full stop. It is not escaped.
func (f *Finding) Message() string { return reason.Join(f.Reason, f.Effect) }

// MarshalJSON implements json.Marshaler.
func (f Finding) MarshalJSON() ([]byte, error) {
	found := reason.Store(f.Reason)
	found.Message = f.Message()
	return json.Marshal(struct {
		Cluster     string                `json:"cluster,omitempty"`
		Rule        string                `json:"rule"`
		Severity    Severity              `json:"severity"`
		Object      object.Identity       `json:"object"`
		Reference   *Reference            `json:"reference"`
		Verdict     collector.Verdict     `json:"verdict"`
		Consequence collector.Consequence `json:"consequence"`
		reason.Stored
		Effect  reason.Nested     `json:"effect"`
		Fix     Fix               `json:"fix"`
		Members []object.Identity `json:"members"`
	}{f.Cluster, f.Rule, f.Severity, f.Object, f.Reference, f.Verdict, f.Consequence, found, reason.Nested{Reason: f.Effect}, f.Fix, f.Members})
}

// Reference is an owner reference with its flags resolved: unset is false.
type Reference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         bool   `json:"controller"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion"`
}

// ReferenceOf resolves a reference's flags.
func ReferenceOf(r object.Reference) *Reference {
	return &Reference{
		APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
		Controller: r.Controls(), BlockOwnerDeletion: r.Blocks(),
	}
}

// Severity grades a finding by what comes of it.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the collector will delete the object, or is stuck for ever
	Warning Severity = "warning" // it drops a reference, waits, or nobody can tell
	Info    Severity = "info"    // odd, but harmless
)

// AtLeast says whether s is as grave as floor or graver.
func (s Severity) AtLeast(floor Severity) bool { return s.rank() >= floor.rank() }

func (s Severity) rank() int {
	return slices.Index([]Severity{Info, Warning, Error}, s)
}

// severityOf grades what comes of a reference; what has no consequence is odd
// at most. That an owner which waits for its dependents takes them along is no
// error: somebody asked for its deletion, which is under way and no surprise.
func severityOf(v collector.Verdict, c collector.Consequence) Severity {
	switch c {
	case collector.ConsequenceDelete:
		if v == collector.Waiting {
			return Warning
		}
		return Error
	case collector.ConsequenceStuck:
		return Error
	case collector.ConsequenceUnlink, collector.ConsequenceUnknown:
		return Warning
	case collector.ConsequenceNone:
	}
	return Info
}

// Fix is what would mend a finding: for a reference that leads to no owner, what
// package mend says.
type Fix = repair.Fix

// The fixes.
const (
	Unlink        = repair.Unlink
	Relink        = repair.Relink
	UpdateVersion = repair.UpdateVersion
	NoFix         = repair.None
)

// Worst is the gravest severity found, false when nothing was.
func (r *Report) Worst() (Severity, bool) {
	switch {
	case r.Summary.Errors > 0:
		return Error, true
	case r.Summary.Warnings > 0:
		return Warning, true
	case r.Summary.Infos > 0:
		return Info, true
	}
	return "", false
}

// keep takes in what a rule found.
func (r *Report) keep(rule Rule, found []Finding) {
	for _, f := range found {
		f.Rule = rule.ID
		r.add(f)
	}
}

// join takes in the findings and counts of a part.
func (r *Report) join(part Report) {
	r.Findings = append(r.Findings, part.Findings...)
	r.Summary.add(part.Summary)
}

func (r *Report) add(f Finding) {
	if f.Members == nil {
		f.Members = []object.Identity{}
	}
	switch f.Severity {
	case Error:
		r.Summary.Errors++
	case Warning:
		r.Summary.Warnings++
	case Info:
		r.Summary.Infos++
	}
	r.Findings = append(r.Findings, f)
}

// sort is stable: findings of one object and rule stay in the order of its references.
func (r *Report) sort() {
	order := map[string]int{}
	for i, rule := range Rules {
		order[rule.ID] = i
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(a.Object.Compare(b.Object), cmp.Compare(order[a.Rule], order[b.Rule]))
	})
}
