package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Group is findings of one rule with one cause, such as the same absent owner or the same finalizer, and one
// result.
type Group struct {
	Findings   []*Finding        // the most severe first; never empty
	Objects    []object.Identity // of the findings, each once
	Namespaces []NamespaceCount  // of the objects; the one with the most objects first
}

// NamespaceCount is how many objects are in a namespace; its name is empty for cluster-scoped ones.
type NamespaceCount struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
}

// Groups groups findings by their causes. The most severe group comes first, then the one with the most
// objects. Groups of several clusters are apart.
func Groups(findings []Finding) []Group {
	index := map[shared]int{}
	var out []Group
	for _, f := range MostSevereFirst(findings) {
		key := sharedBy(f)
		at, known := index[key]
		if !known {
			at = len(out)
			index[key] = at
			out = append(out, Group{})
		}
		out[at].Findings = append(out[at].Findings, f)
	}
	for i := range out {
		out[i].count()
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(compareSeverity(a.Findings[0], b.Findings[0]), len(b.Objects)-len(a.Objects))
	})
	return out
}

// count sets the objects and namespaces.
func (g *Group) count() {
	seen := map[object.Identity]bool{}
	for _, f := range g.Findings {
		if !seen[f.Object] {
			seen[f.Object] = true
			g.Objects = append(g.Objects, f.Object)
		}
	}
	g.Namespaces = CountNamespaces(g.Objects)
}

// CountNamespaces returns how many objects are in each namespace; the one with the most comes first.
func CountNamespaces(objects []object.Identity) (out []NamespaceCount) {
	in := map[string]int{}
	for _, o := range objects {
		at, known := in[o.Namespace]
		if !known {
			at = len(out)
			in[o.Namespace] = at
			out = append(out, NamespaceCount{Name: o.Namespace})
		}
		out[at].Objects++
	}
	slices.SortStableFunc(out, func(a, b NamespaceCount) int { return b.Objects - a.Objects })
	return out
}

// SharedCause is what one repair, or one controller, would change for all findings that have it. One field is set.
type SharedCause struct {
	Namespace  string          // of owners that are in another namespace than their dependents
	Gap        string          // what could not be read, so that owners are not verified
	Finalizers string          // of other controllers, that hold what is being deleted
	Object     object.Identity // at the end of what deletions wait for
	Discovery  bool            // API groups that cannot be discovered keep every Namespace
}

func causeOf(j *collector.Judgement) *SharedCause {
	switch {
	case j.Gap != nil && j.Gap.Reason != snapshot.NotInFile: // one object may be added to a file
		return &SharedCause{Gap: j.Gap.String() + " " + string(j.Gap.Reason)}
	case j.Cause == collector.CauseCrossNamespace && j.UIDHolder != nil:
		return &SharedCause{Namespace: j.UIDHolder.Namespace}
	}
	return nil
}

func heldBy(finalizers []string) *SharedCause {
	return &SharedCause{Finalizers: strings.Join(finalizers, ",")}
}

// shared is what the findings of a group share. Fields that do not matter are empty.
type shared struct {
	cluster, rule string
	severity      Severity
	effect        reason.Code
	cause         SharedCause
	owner         object.Identity // without its namespace
	object        object.Identity // the only one of the group
}

func sharedBy(f *Finding) shared {
	key := shared{cluster: f.Cluster, rule: f.Rule, severity: f.Severity, effect: f.Effect.Code}
	switch {
	case f.Cause != nil:
		key.cause = *f.Cause
	case f.Rule == selfOwner.ID: // each such object names another owner, and the cause is one
	case f.Reference == nil:
		key.object = f.Object
	default:
		key.owner = f.Reference.OwnerIn("")
	}
	return key
}

// consequences is the order of findings of one severity: what will be deleted comes first.
var consequences = []collector.Consequence{
	collector.ConsequenceDelete, collector.ConsequenceStuck, collector.ConsequenceUnlink, collector.ConsequenceUnknown, collector.ConsequenceNone,
}

// compareSeverity orders findings by severity, then by consequence.
func compareSeverity(a, b *Finding) int {
	return cmp.Or(b.Severity.rank()-a.Severity.rank(), slices.Index(consequences, a.Consequence)-slices.Index(consequences, b.Consequence))
}

// MostSevereFirst returns the findings by severity, then by consequence, else in the given order.
func MostSevereFirst(findings []Finding) []*Finding {
	out := make([]*Finding, len(findings))
	for i := range findings {
		out[i] = &findings[i]
	}
	slices.SortStableFunc(out, compareSeverity)
	return out
}
