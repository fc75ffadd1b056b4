package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// reference returns the i-th reference with its verdict and the evidence for it.
func (b *answerBuilder) reference(i int) ExplainedReference {
	r, j := b.object.Owners[i], b.judgements[i]
	out := ExplainedReference{
		Reference: r, Verdict: j.Verdict, Consequence: b.assessment.ConsequenceFor(r.UID, j.Verdict), Rule: string(j.Cause),
		Evidence: append(b.evidence(r, j), b.remarks(r, j)...), WrittenBy: []object.Write{},
	}
	if j.UIDHolder != nil {
		out.UIDHolder = &j.UIDHolder.Identity
	}
	if j.NameHolder != nil {
		out.NameHolder = &j.NameHolder.Identity
	}
	return out
}

// evidence returns what was found of the owner that a reference names.
func (b *answerBuilder) evidence(r object.Reference, j collector.Judgement) []string {
	here := inNamespace(j.Mapping, b.object.Identity)
	switch j.Cause {
	case collector.CauseNone:
		return b.solid(r, j)
	case collector.CauseTerminating:
		return []string{fmt.Sprintf("%s is being deleted in the foreground: it waits for its dependents", r)}
	case collector.CauseUnverified:
		return []string{j.Unverified(r).Message()}
	case collector.CauseClusterToNamespaced:
		return append(b.uidHolder(j), fmt.Sprintf("%s is cluster-scoped, and %s is a namespaced kind: the garbage collector never finds such an owner", b.object.Identity, r.Kind))
	case collector.CauseUnservedVersion:
		return append(b.uidHolder(j), fmt.Sprintf("the reference names it as %s, a version that this server does not serve (served: %s)", r.APIVersion, strings.Join(j.Served, ", ")),
			"the garbage collector looks for an owner only in the version that the reference names")
	case collector.CauseUnknownKind:
		return append(b.uidHolder(j), fmt.Sprintf("this server does not serve kind %s in %s, so the garbage collector cannot look for the owner", r.Kind, r.APIVersion))
	case collector.CauseCrossNamespace:
		return append(append([]string{b.notFound(r, j, here)}, b.uidHolder(j)...), "an owner must be in the namespace of its dependent, or be cluster-scoped")
	case collector.CauseMismatched:
		return append(append([]string{b.notFound(r, j, here)}, b.uidHolder(j)...), "the garbage collector looks for an owner by kind and name, so a correct UID alone does not help")
	case collector.CauseReplaced:
		return []string{
			fmt.Sprintf("another %s exists%s, created %s ago, with a different UID", r, here, b.since(j.NameHolder.Created)),
			"a reference identifies its owner by UID: a recreated object is not the same owner",
		}
	case collector.CauseMissing:
		return []string{b.notFound(r, j, here), b.uidNotFound()}
	}
	return nil
}

// solid returns why an owner counts as existing.
func (b *answerBuilder) solid(r object.Reference, j collector.Judgement) []string {
	out := []string{fmt.Sprintf("%s exists, with this UID", r)}
	if j.UIDHolder.Namespace == "" && b.object.Namespace != "" {
		out[0] += "; it is cluster-scoped, so it may own objects in any namespace"
	}
	if r.UID == b.object.UID {
		out[0] = "it names itself as its owner, and exists"
	}
	o := j.UIDHolder
	switch {
	case !o.Terminating():
	case o.Orphaning():
		out = append(out, "it is being deleted and orphans its dependents: the garbage collector removes this reference and keeps the object")
	default:
		why := b.holds.Of(b.graph.Find(o.UID)).Reason.Message()
		out = append(out, "it is being deleted, and counts as an owner until it is gone: it "+why)
	}
	return out
}

// notFound returns that the owner is not where its reference leads.
func (b *answerBuilder) notFound(r object.Reference, j collector.Judgement, here string) string {
	if !j.Mapping.Served {
		return fmt.Sprintf("%q is a list kind: the API server never finds an object of that kind", r.Kind)
	}
	if j.NameHolder != nil {
		return fmt.Sprintf("%s%s has a different UID than the reference names", r, here)
	}
	_, at, _ := b.graph.View().CoordinatesOf(b.object.Namespace, r)
	switch {
	case b.graph.View().Lookup(at) != nil:
		return fmt.Sprintf("not found%s (this tool asked for it by name)", here)
	case !b.graph.View().Listed(j.Mapping.Type.GroupResource(), at.Namespace):
		return fmt.Sprintf("not found%s (the namespace and name of an object never change)", here)
	}
	return fmt.Sprintf("not found%s (not in the list of %s)", here, j.Mapping.Type)
}

// uidHolder returns which object has the UID of the reference, if that is known.
func (b *answerBuilder) uidHolder(j collector.Judgement) []string {
	if j.UIDHolder == nil {
		return nil
	}
	i := j.UIDHolder.Identity
	if i.Namespace == "" {
		return []string{fmt.Sprintf("its UID belongs to %s", i)}
	}
	return []string{fmt.Sprintf("its UID belongs to %s in namespace %s", i, i.Namespace)}
}

// uidNotFound returns that no object has the UID. It claims no more than an incomplete
// scan allows.
func (b *answerBuilder) uidNotFound() string {
	if b.graph.Snapshot().Complete() {
		return "no object has its UID"
	}
	return "nothing that this tool could read has its UID"
}

// remarks returns what is unusual about a reference besides its verdict.
func (b *answerBuilder) remarks(r object.Reference, j collector.Judgement) []string {
	var out []string
	switch j.Mapping.Spelling {
	case reason.ExactSpelling:
	case reason.LowerCaseKind:
		out = append(out, fmt.Sprintf("the kind is %s; %q in lower case works by accident", j.Mapping.Type.Kind, r.Kind))
	case reason.KindOfList:
		out = append(out, fmt.Sprintf("%q is probably a mistake for %q", r.Kind, strings.TrimSuffix(r.Kind, "List")))
	case reason.NoVersionInGroup:
		out = append(out, fmt.Sprintf("the apiVersion %q names no version; the garbage collector reads it as %s", r.APIVersion, j.Mapping.Type.APIVersion()))
	}
	if j.Verdict.OwnerExists() && j.Unmonitored() {
		out = append(out, fmt.Sprintf("the garbage collector does not watch %s, so it notices late when this owner is deleted", j.Mapping.Type))
	}
	return out
}
