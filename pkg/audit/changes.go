package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// ChangeType is what happened to a finding. The values are part of the JSON contract.
type ChangeType string

// The types of changes.
const (
	Added   ChangeType = "ADDED"
	Changed ChangeType = "CHANGED"
	Removed ChangeType = "REMOVED"
)

// RemovalOutcome is why a finding was removed. The values are part of the JSON contract.
type RemovalOutcome string

// The outcomes.
const (
	ObjectDeleted RemovalOutcome = "deleted"    // its object is proven absent
	Resolved      RemovalOutcome = "resolved"   // its object exists, and the rule does not report it any more
	Superseded    RemovalOutcome = "superseded" // another rule reports the same reference instead
	NoLongerRead  RemovalOutcome = "unknown"    // its object was only looked up because others named it, and none does any more
)

// FindingChange is a difference between the findings of two scans.
type FindingChange struct {
	Type    ChangeType     `json:"type"`
	Time    time.Time      `json:"time"`              // end of the scan that showed it
	Outcome RemovalOutcome `json:"outcome,omitempty"` // of a removed finding
	Finding Finding        `json:"finding"`           // of a removed one: as it was last
}

// Tracker follows findings from one scan to the next. The zero value has no findings.
type Tracker struct {
	findings map[trackedKey]trackedFinding
}

// trackedKey is a findingKey, and the position among equal ones: an object may repeat a reference.
type trackedKey struct {
	findingKey
	position int
}

type trackedFinding struct {
	Finding
	since      time.Time // zero: the first scan had it
	unverified bool      // the last scan could not read its object
}

// Update compares a report with the one before, and returns the changes in the order of the
// findings, the removed ones last. A finding whose object could not be read is not removed: it
// stays as it was until its object can be read again.
func (t *Tracker) Update(r *Report, g *graph.Graph) []FindingChange {
	scanned := g.Snapshot().Taken
	first := t.findings == nil
	now := make(map[trackedKey]trackedFinding, len(r.Findings))
	added := map[object.Identity][]*Finding{}
	var out []FindingChange
	for i := range r.Findings {
		f := &r.Findings[i]
		key := trackedKey{findingKey: keyOf(f.Cluster, f.Rule, f.Object, f.Reference)}
		for _, again := now[key]; again; _, again = now[key] {
			key.position++
		}
		old, known := t.findings[key]
		tracked := trackedFinding{Finding: *f, since: old.since}
		switch {
		case !known:
			if !first {
				tracked.since = scanned
			}
			added[f.Object] = append(added[f.Object], f)
			out = append(out, FindingChange{Type: Added, Time: scanned, Finding: *f})
		case !sameFinding(&old.Finding, f):
			out = append(out, FindingChange{Type: Changed, Time: scanned, Finding: *f})
		}
		now[key] = tracked
	}
	var removed []FindingChange
	for key, old := range t.findings {
		if _, still := now[key]; still {
			continue
		}
		if old.unverified = unreadable(g, &old.Finding); old.unverified {
			now[key] = old
			continue
		}
		removed = append(removed, FindingChange{Type: Removed, Time: scanned, Outcome: outcome(g, &old.Finding, added[old.Object]), Finding: old.Finding})
	}
	slices.SortFunc(removed, func(a, b FindingChange) int { return compareFindings(&a.Finding, &b.Finding) })
	t.findings = now
	return append(out, removed...)
}

// Since returns when a finding of the last report was found, and false if the first report had it.
func (t *Tracker) Since(f *Finding) (time.Time, bool) {
	since := t.findings[trackedKey{findingKey: keyOf(f.Cluster, f.Rule, f.Object, f.Reference)}].since
	return since, !since.IsZero()
}

// Unverified returns how many findings the last report lacks because their objects could not be
// read.
func (t *Tracker) Unverified() int {
	n := 0
	for _, f := range t.findings {
		if f.unverified {
			n++
		}
	}
	return n
}

// unreadable reports whether a gap may hide the object of a finding, or a member.
func unreadable(g *graph.Graph, f *Finding) bool {
	hidden := func(i object.Identity) bool {
		if g.Object(g.Find(i.UID)) != nil {
			return false
		}
		m, mapped := g.View().Map(i.APIVersion, i.Kind)
		if !mapped {
			return g.View().GroupGap(i.GroupVersionKind().Group) != nil
		}
		return g.View().GapAt(m.Type.GroupResource(), i.Namespace) != nil
	}
	return hidden(f.Object) || slices.ContainsFunc(f.Members, hidden)
}

// outcome returns why a finding is not reported any more. added are the new findings about its
// object.
func outcome(g *graph.Graph, f *Finding, added []*Finding) RemovalOutcome {
	if g.Object(g.Find(f.Object.UID)) == nil {
		m, mapped := g.View().Map(f.Object.APIVersion, f.Object.Kind)
		if mapped && !g.View().Listed(m.Type.GroupResource(), f.Object.Namespace) {
			return NoLongerRead
		}
		return ObjectDeleted
	}
	if f.Reference != nil && slices.ContainsFunc(added, func(other *Finding) bool { return other.Reference != nil && *other.Reference == *f.Reference }) {
		return Superseded
	}
	return Resolved
}

// sameFinding reports whether two findings differ at most in the time of the scan, and in
// sentences, which have ages.
func sameFinding(a, b *Finding) bool {
	was := *a
	was.Edge = b.Edge
	return reflect.DeepEqual(&was, b) || bytes.Equal(WithoutTimes(a), WithoutTimes(b))
}

// WithoutTimes returns a finding or a report in JSON, without sentences and without the times of the
// scan, to compare it with one of another scan.
func WithoutTimes(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it has no values that JSON lacks
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		panic(err)
	}
	dropTimes(document)
	text, _ = json.Marshal(document) // it was JSON
	return text
}

func dropTimes(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "message")
		delete(v, "scanned")
		for _, field := range v {
			dropTimes(field)
		}
	case []any:
		for _, element := range v {
			dropTimes(element)
		}
	}
}
