// Package doctor concludes from what was observed of a cluster whether its own garbage collector
// can work, and whether it does. It knows no client: package health observes.
//
// Strings from the cluster are not escaped.
package doctor

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Observations are everything that the checks know of a cluster.
type Observations struct {
	Graph *graph.Graph // of the scan
	// Report is the audit of that scan, after Settle.
	Report *audit.Report
	// StuckAfter is how long a deletion may take.
	StuckAfter time.Duration
	// Backends are those of the groups and types that could not be read, as far as they are known.
	Backends  []reason.Backend
	Admission reason.Admission
	// ForegroundDeletion reports whether the API server honours that policy.
	ForegroundDeletion Observed[bool]
	Leader             Observed[reason.Leader]
	// InOtherNamespaces are the objects about which the collector has sent an event
	// OwnerRefInvalidNamespace.
	InOtherNamespaces Observed[[]object.Identity]
	Canary            *Observed[reason.CanaryTest] // nil if it was not requested
}

// Observed is a value that could be observed, or why it could not.
type Observed[T any] struct {
	Value   T
	Unknown string // empty if the value is known
}

// CheckResult is the result of a check. The values are part of the JSON contract.
type CheckResult string

// The statuses.
const (
	OK      CheckResult = "ok"
	Warn    CheckResult = "warn"
	Fail    CheckResult = "fail"
	Unknown CheckResult = "unknown" // the check could not be made
)

// Check is the result of one check.
type Check struct {
	ID     string // stable
	Title  string
	Status CheckResult
	Detail *reason.Reason
}

// MarshalJSON implements json.Marshaler.
func (c Check) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID     string      `json:"id"`
		Status CheckResult `json:"status"`
		*reason.Reason
	}{c.ID, c.Status, c.Detail})
}

// Diagnosis is the result of all checks.
type Diagnosis struct {
	Complete    bool // whether the scan was complete
	Gaps        []snapshot.Gap
	State       Health
	Conclusion  *reason.Reason
	Checks      []Check
	Suggestions []reason.Suggestion // never nil
}

// MarshalJSON implements json.Marshaler.
func (d *Diagnosis) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Complete bool           `json:"complete"`
		Gaps     []snapshot.Gap `json:"gaps"`
		State    Health         `json:"state"`
		*reason.Reason
		Checks      []Check             `json:"checks"`
		Suggestions []reason.Suggestion `json:"suggestions"`
	}{d.Complete, d.Gaps, d.State, d.Conclusion, d.Checks, d.Suggestions})
}

// Health is what the checks together tell about the collector. The values are part of the JSON
// contract.
type Health string

// The states.
const (
	Working    Health = "working"     // it was seen at work, and no check failed
	Unverified Health = "unverified"  // no check failed, but there was nothing for it to do
	Hindered   Health = "hindered"    // it cannot do everything
	NotWorking Health = "not-working" // it does nothing
)

// Diagnose makes all checks.
func Diagnose(o *Observations) *Diagnosis {
	s := o.Graph.Snapshot()
	d := &Diagnosis{Complete: s.Complete(), Gaps: append([]snapshot.Gap{}, s.Gaps...), Suggestions: []reason.Suggestion{}}
	for _, c := range checks {
		if status, detail := c.check(o); detail != nil {
			d.Checks = append(d.Checks, Check{c.id, c.title, status, detail})
		}
	}
	d.State, d.Conclusion = d.conclude(o)
	d.suggest(o)
	return d
}

// checks are all checks, in the order in which one explains the next. A check that was not
// requested has no detail.
var checks = []struct {
	id, title string
	check     func(*Observations) (CheckResult, *reason.Reason)
}{
	{"api-discovery", "API discovery", apiDiscovery},
	{"webhooks", "Admission", admission},
	{"resource-lists", "Resource lists", resourceLists},
	{"api-server", "API server GC support", apiServer},
	{"leader", "Controller manager leader", leader},
	{"garbage", "Garbage left uncollected", garbage},
	{"canary", "Canary", canary},
	{"deletions", "Long deletions", deletions},
	{"owner-namespaces", "Owners in other namespaces", ownerNamespaces},
	{"version", "Server version", serverVersion},
}

// Failed reports whether a check failed.
func (d *Diagnosis) Failed() bool {
	return slices.ContainsFunc(d.Checks, func(c Check) bool { return c.Status == Fail })
}

func (d *Diagnosis) status(id string) CheckResult {
	for _, c := range d.Checks {
		if c.ID == id {
			return c.Status
		}
	}
	return Unknown
}

func (d *Diagnosis) conclude(o *Observations) (Health, *reason.Reason) {
	warned := slices.ContainsFunc(d.Checks, func(c Check) bool { return c.Status == Warn })
	processed := o.Report.Settled.InProgress > 0 || d.status("canary") == OK
	switch {
	case d.status("api-server") == Fail:
		return NotWorking, reason.CollectorDisabled
	case d.status("leader") == Fail:
		return NotWorking, reason.ManagerDown
	case d.status("canary") == Fail, !processed && (d.status("garbage") == Fail || d.status("deletions") == Fail):
		return NotWorking, reason.CollectorIdle(d.status("leader") == OK)
	case slices.ContainsFunc(d.Checks, func(c Check) bool {
		return c.Status == Fail || c.Status == Warn && !slices.Contains([]string{"deletions", "owner-namespaces", "webhooks"}, c.ID)
	}):
		return Hindered, reason.CollectorHindered(processed)
	case processed:
		return Working, reason.CollectorWorks(warned)
	}
	return Unverified, reason.CollectorUnverified(warned)
}

func watched(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d.Round(time.Second)} }
