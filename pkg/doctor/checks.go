package doctor

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func notChecked(why string) (CheckResult, *reason.Reason) {
	return Unknown, reason.NotChecked(why)
}

// gaps returns the gaps of whole groups, or those of types.
func gaps(o *Observations, ofGroups bool) []snapshot.Gap {
	return slices.DeleteFunc(slices.Clone(o.Graph.Snapshot().Gaps), func(g snapshot.Gap) bool {
		return g.Name != "" || g.Namespace == snapshot.All || (g.Resource == snapshot.All) != ofGroups
	})
}

// backendsOf returns the backends of APIServices, or those of CustomResourceDefinitions.
func (o *Observations) backendsOf(definitions bool) []reason.Backend {
	out := []reason.Backend{}
	for _, b := range o.Backends {
		if b.Object.IsCRD() == definitions {
			out = append(out, b)
		}
	}
	return out
}

// statusOfGaps returns Unknown if the user may not read, and Fail if the server cannot answer.
func statusOfGaps(of []snapshot.Gap) CheckResult {
	if slices.ContainsFunc(of, func(g snapshot.Gap) bool { return g.Reason != snapshot.Forbidden }) {
		return Fail
	}
	return Unknown
}

func apiDiscovery(o *Observations) (CheckResult, *reason.Reason) {
	failed := gaps(o, true)
	if len(failed) == 0 {
		return OK, reason.GroupsAvailable
	}
	return statusOfGaps(failed), reason.GroupsUnavailable(snapshot.Parameters(failed), o.backendsOf(false))
}

func admission(o *Observations) (CheckResult, *reason.Reason) {
	var refusals []*reason.Reason
	status := Warn // if all of them answered, and may answer others differently
	for i, r := range o.Admission.Refused {
		same := func(other reason.WebhookRefuses) bool {
			return other.Configuration == r.Configuration && other.Binding == r.Binding && other.Said == r.Said && r.Said != ""
		}
		if !slices.ContainsFunc(o.Admission.Refused[:i], same) { // else another operation for the same cause
			refusals = append(refusals, reason.Of(r))
		}
		if !r.Decided {
			status = Fail
		}
	}
	switch {
	case len(refusals) > 0:
		return status, reason.Combine(refusals)
	case o.Admission.Unknown != "":
		return notChecked(o.Admission.Unknown)
	case o.Admission.Accepted > 0:
		return OK, reason.DryRunsAccepted(o.Admission.Accepted)
	}
	return OK, reason.WebhooksAnswer
}

func resourceLists(o *Observations) (CheckResult, *reason.Reason) {
	types := o.Graph.Snapshot().MonitoredTypes()
	failed := gaps(o, false)
	if len(failed) == 0 {
		return OK, reason.TypesListed(types)
	}
	return statusOfGaps(failed), reason.Of(reason.TypesNotListed{Types: types, Gaps: snapshot.Parameters(failed), Backends: o.backendsOf(true)})
}

func apiServer(o *Observations) (CheckResult, *reason.Reason) {
	switch {
	case o.ForegroundDeletion.Unknown != "":
		return notChecked(o.ForegroundDeletion.Unknown)
	case o.ForegroundDeletion.Value:
		return OK, reason.ForegroundDeletionSupported
	}
	return Fail, reason.ForegroundDeletionIgnored
}

func leader(o *Observations) (CheckResult, *reason.Reason) {
	l := o.Leader.Value
	switch {
	case o.Leader.Unknown != "":
		return notChecked(o.Leader.Unknown)
	case !l.Exists:
		return Unknown, reason.NoLease
	case l.Renews:
		return OK, reason.LeaderRenewsLease(l.Holder)
	case l.Holder == "":
		return Fail, reason.LeaseNotHeld
	}
	return Fail, reason.Of(reason.LeaderSilent{Holder: l.Holder, Renewed: l.Renewed, Watched: watched(l.Watched)})
}

func garbage(o *Observations) (CheckResult, *reason.Reason) {
	s := o.Report.Settled
	switch {
	case s.Remaining > 0 && s.InProgress > 0:
		return Warn, reason.Of(reason.GarbageProcessedSlowly{Processed: s.InProgress, Left: s.Remaining, After: s.After})
	case s.Remaining > 0:
		return Fail, reason.Of(reason.GarbageLeft{Objects: s.Remaining, First: s.First, After: s.After})
	case s.Unread > 0:
		return notChecked("this tool could not read the objects to collect again")
	case s.InProgress > 0:
		return OK, reason.GarbageProcessed(s.InProgress, s.After)
	}
	return OK, reason.NoGarbage
}

func canary(o *Observations) (CheckResult, *reason.Reason) {
	switch {
	case o.Canary == nil:
		return "", nil
	case o.Canary.Unknown != "":
		return notChecked(o.Canary.Unknown)
	case o.Canary.Value.Collected:
		return OK, reason.CanaryCollected(metav1.Duration{Duration: o.Canary.Value.Took.Round(time.Millisecond)})
	}
	return Fail, reason.CanaryNotCollected(watched(o.Canary.Value.Took))
}

// longDeletions are the rules that report deletions which wait.
var longDeletions = []string{"blocked-deletion", "stuck-finalizer", "stuck-namespace"}

// deletions checks the deletions that take long. The collector has to complete those that nothing
// blocks.
func deletions(o *Observations) (CheckResult, *reason.Reason) {
	var idle, waiting []*audit.Finding
	for i := range o.Report.Findings {
		f := &o.Report.Findings[i]
		sameObject := func(other *audit.Finding) bool { return other.Object == f.Object } // under another rule
		switch {
		case !slices.Contains(longDeletions, f.Rule), slices.ContainsFunc(idle, sameObject), slices.ContainsFunc(waiting, sameObject) && !f.Idle:
		case o.since(f).Age() <= o.StuckAfter:
		case f.Idle:
			idle = append(idle, f)
		default:
			waiting = append(waiting, f)
		}
	}
	switch {
	case len(idle) > 0:
		oldest := o.oldest(idle)
		return Fail, reason.Of(reason.DeletionsIdle{Objects: len(idle), Oldest: oldest.Object, Since: o.since(oldest)})
	case len(waiting) > 0:
		oldest := o.oldest(waiting)
		return Warn, reason.Of(reason.DeletionsWait{Objects: len(waiting), Oldest: oldest.Object, Since: o.since(oldest), Because: oldest.Blocker})
	}
	return OK, reason.NoLongDeletion
}

func (o *Observations) object(f *audit.Finding) *object.Object {
	return o.Graph.Object(o.Graph.Find(f.Object.UID))
}

// oldest returns the finding whose object was deleted first.
func (o *Observations) oldest(of []*audit.Finding) *audit.Finding {
	return slices.MinFunc(of, func(a, b *audit.Finding) int { return o.object(a).Deleted.Compare(*o.object(b).Deleted) })
}

func (o *Observations) since(f *audit.Finding) reason.Since {
	return reason.Since{Deleted: *o.object(f).Deleted, Scanned: o.Graph.Snapshot().Taken}
}

func ownerNamespaces(o *Observations) (CheckResult, *reason.Reason) {
	found := o.InOtherNamespaces
	switch {
	case found.Unknown != "":
		return notChecked(found.Unknown)
	case len(found.Value) == 0:
		return OK, reason.NoOwnersInOtherNamespaces
	}
	return Warn, reason.OwnersInOtherNamespaces(len(found.Value), found.Value[0])
}

func serverVersion(o *Observations) (CheckResult, *reason.Reason) {
	server := o.Graph.Snapshot().Server
	switch behavior := collector.BehaviorOf(server); {
	case behavior.Newer():
		return OK, behavior.Assumption()
	case behavior.Assumption() != nil:
		return Unknown, behavior.Assumption()
	}
	return OK, reason.BehaviorKnown(server)
}
