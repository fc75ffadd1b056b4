package audit

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Report is the result of an audit.
type Report struct {
	Complete bool           `json:"complete"`
	Gaps     []snapshot.Gap `json:"gaps"`
	Summary  Totals         `json:"summary"`
	// Clusters are those of a report about several clusters, sorted by name; else nil.
	Clusters []Counts `json:"clusters,omitempty"`
	// Settled is nil unless Settle was called.
	Settled *Settlement `json:"settled,omitempty"`
	// Known are the findings of a baseline that are left out; nil unless Subtract was called.
	Known *SeverityCounts `json:"known,omitempty"`
	// Findings are sorted by object, then by rule, then by reference; never nil.
	Findings []Finding `json:"findings"`
}

// NewReport returns the report of a scan under no rule.
func NewReport(s *snapshot.Snapshot) *Report {
	return &Report{Complete: s.Complete(), Gaps: append([]snapshot.Gap{}, s.Gaps...), Findings: []Finding{}}
}

// Totals counts objects, references and findings.
type Totals struct {
	Objects    int `json:"objects"`
	References int `json:"references"`
	SeverityCounts
}

// Finding is what one rule found on one object or cycle.
type Finding struct {
	Cluster     string // set in a report about several clusters
	Rule        string // its id
	Severity    Severity
	Object      object.Identity   // of a cycle, its first member
	Reference   *object.Reference // nil if the finding is not about one
	Edge        graph.Edge        // of Reference, in the graph that was audited
	Verdict     collector.Verdict // of Reference; empty without one
	Consequence collector.Consequence
	Reason      *reason.Reason // what was found
	Effect      *reason.Reason // what the collector does about it
	// Nondeterministic is why the order of events decides whether the consequence comes about;
	// nil if it does not.
	Nondeterministic *reason.Reason
	// Evidence is what a later read of the object showed; nil if there was none.
	Evidence *reason.Reason
	Fix      repair.Fix
	Members  []object.Identity // of a cycle; sorted
	// Cause is what other findings may share; nil if that is the owner that Reference names, or nothing.
	Cause *SharedCause
	// Blocker is why the deletion of the object has not ended, said of the object; nil if the
	// finding is not about a deletion.
	Blocker *reason.Reason
	Idle    bool // nothing blocks that deletion, and only the garbage collector has to complete it
	// RepeatsBad reports that Reference is solid and has the UID of a bad one, and that it stays: once
	// an owner has orphaned the object, the garbage collector may remove both.
	RepeatsBad bool
}

// Message returns what was found and what the garbage collector does about it, as one
// sentence without a full stop. It is not escaped.
func (f *Finding) Message() string {
	return reason.Join(f.Reason, f.Effect, f.Nondeterministic, f.Evidence)
}

// MarshalJSON implements json.Marshaler.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Cluster     string                `json:"cluster,omitempty"`
		Rule        string                `json:"rule"`
		Severity    Severity              `json:"severity"`
		Object      object.Identity       `json:"object"`
		Reference   *object.Reference     `json:"reference"`
		Verdict     collector.Verdict     `json:"verdict"`
		Consequence collector.Consequence `json:"consequence"`
		*reason.Reason
		Message          string            `json:"message"` // in place of the reason's
		Effect           *reason.Reason    `json:"effect"`
		Nondeterministic *reason.Reason    `json:"nondeterministic,omitzero"`
		Evidence         *reason.Reason    `json:"evidence,omitzero"`
		Fix              repair.Fix        `json:"fix"`
		Members          []object.Identity `json:"members"`
	}{
		f.Cluster, f.Rule, f.Severity, f.Object, f.Reference, f.Verdict, f.Consequence, f.Reason, f.Message(),
		f.Effect, f.Nondeterministic, f.Evidence, f.Fix, f.Members,
	})
}

// Severity grades a finding by its consequence.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the garbage collector will delete the object, or is stuck for good
	Warning Severity = "warning" // it removes a reference, waits, or the outcome is unknown
	Info    Severity = "info"    // harmless
)

// AtLeast reports whether s is floor or worse.
func (s Severity) AtLeast(floor Severity) bool { return s.rank() >= floor.rank() }

func (s Severity) rank() int {
	return slices.Index([]Severity{Info, Warning, Error}, s)
}

// severityOf grades the consequence of a reference. A waiting owner that takes a dependent
// along is no error, because somebody requested its deletion.
func severityOf(v collector.Verdict, c collector.Consequence) Severity {
	switch c {
	case collector.ConsequenceDelete:
		if v == collector.VerdictWaiting {
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

// What repairs a finding.
const (
	Unlink        = repair.Unlink
	Relink        = repair.Relink
	UpdateVersion = repair.UpdateVersion
	NoFix         = repair.None
)

// Worst returns the worst severity found, and false if there are no findings.
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

// add adds the findings of a rule.
func (r *Report) add(rule Rule, found []Finding) {
	for _, f := range found {
		f.Rule = rule.ID
		if f.Members == nil {
			f.Members = []object.Identity{}
		}
		r.Findings = append(r.Findings, f)
	}
}

// count counts the findings by severity.
func (r *Report) count() {
	r.Summary.SeverityCounts = SeverityCounts{}
	for i := range r.Findings {
		r.Summary.count(r.Findings[i].Severity)
	}
}

// sort is stable: findings of one object and rule keep the order of its references.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return compareFindings(&a, &b) })
}

// compareFindings orders findings by object, then by rule.
func compareFindings(a, b *Finding) int {
	return cmp.Or(a.Object.Compare(b.Object), rank(a.Rule)-rank(b.Rule))
}

// rank returns the position of a rule.
func rank(id string) int {
	return slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })
}
