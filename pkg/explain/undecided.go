package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// undecidable explains an object that the garbage collector skips because of one
// reference.
func (b *answerBuilder) undecidable(index int) {
	b.answer.say(collector.ConsequenceStuck, "%s stays as it is: the garbage collector cannot resolve its reference to %s.", b.object, b.object.Owners[index])
	b.answer.next("The garbage collector skips an object if it cannot resolve even one of its references.")
	if b.judgements[index].Verdict == collector.VerdictUnresolvable {
		b.answer.next("The garbage collector retries forever, and writes no Event about it.")
	}
	b.whenServed(index)
	b.onceResolved(index)
	for i, j := range b.judgements {
		if j.Verdict == collector.VerdictUnresolvable || j.Verdict == collector.VerdictScopeError {
			b.suggestRepair(i, j, "repair it by ")
		}
	}
	b.suggestDelete()
}

// whenServed explains what happens if the type that a reference names is served later.
func (b *answerBuilder) whenServed(index int) {
	r, keeps, acts := b.object.Owners[index], "object", "deletes this object"
	j := b.judgements[index]
	if j.Cause != collector.CauseUnknownKind && j.Cause != collector.CauseUnservedVersion {
		b.answer.next("Nothing happens until someone repairs the reference.")
		return
	}
	if b.assessment.ReferencesLeft > 0 {
		keeps, acts = "reference", "removes this reference"
	}
	if o := j.UIDHolder; o != nil && o.Kind == r.Kind && o.Name == r.Name && (o.Namespace == "" || o.Namespace == b.object.Namespace) {
		b.answer.nextf("If %s is ever served with kind %s, the garbage collector keeps this %s only as long as %s exists with the UID in the reference.", r.APIVersion, r.Kind, keeps, r)
		return
	}
	b.answer.nextf("Warning: if %s is ever served with kind %s and no %s has the UID in the reference, the garbage collector %s within seconds.", r.APIVersion, r.Kind, r, acts)
}

// onceResolved explains what the garbage collector would do if it could resolve all
// references; index is that of the one that it cannot resolve.
func (b *answerBuilder) onceResolved(index int) {
	var lost []string
	for i, j := range b.judgements {
		if r := b.object.Owners[i]; j.Verdict.IsDanglingOrWaiting() {
			lost = append(lost, fmt.Sprintf("%s, which %s", r, j.Owner(r).Predicate()))
		}
	}
	once := fmt.Sprintf("Once the reference to %s can be resolved, ", b.object.Owners[index])
	switch others := strings.Join(lost, ", and to "); {
	case len(lost) == 0:
	case b.assessment.ConsequenceIfDecidable() == collector.ConsequenceUnlink:
		b.answer.nextf("%s%s may lose its reference to %s.", once, b.object, others)
	default:
		b.answer.nextf("Warning: %s also refers to %s. %sthe garbage collector may delete %[1]s.", b.object, others, once)
	}
}

// unknown explains an object for which an owner could not be verified.
func (b *answerBuilder) unknown(index int) {
	r, j := b.object.Owners[index], b.judgements[index]
	b.answer.say(collector.ConsequenceUnknown, "It is unknown what happens to %s, because it is unknown %s.", b.object, j.Unverified(r).Question())
	b.onceResolved(index)
	b.answer.next("The garbage collector may be able to read more than you, and act on it. If its request also fails, it keeps the object and tries again.")
	switch {
	case j.Gap != nil && j.Gap.Reason == snapshot.Forbidden:
		b.suggestRight("list", j)
	case j.Lookup != nil && j.Lookup.Reason == snapshot.Forbidden:
		b.suggestRight("get", j)
	case j.Gap != nil && j.Gap.Reason == snapshot.NotInFile:
		b.answer.suggest("scan the whole cluster into a file", plugin.Line("snapshot", "-o", "cluster.json.gz")...)
		b.answer.suggest("then explain the object from that scan", b.command("why", b.object.Identity, "--from", "cluster.json.gz")...)
	case j.Gap != nil && j.Gap.Reason == snapshot.StoreRead, j.Lookup != nil && j.Lookup.Reason == snapshot.StoreRead:
		b.answer.suggest("see what cannot be read, and what to do about it", plugin.Line("doctor")...)
	default:
		b.answer.suggest("try again when the API server can answer", b.command("why", b.object.Identity)...)
	}
}

func (b *answerBuilder) suggestRight(verb string, j collector.Judgement) {
	words := []string{"kubectl", "auth", "can-i", verb, resource(j)}
	if j.Mapping.Type.Namespaced {
		words = append(words, "-n", b.object.Namespace)
	}
	b.answer.suggest(fmt.Sprintf("check whether you are allowed to %s %s, and ask for it if not", verb, resource(j)), words...)
}

func resource(j collector.Judgement) string {
	if j.Mapping.Type.Resource != "" {
		return j.Mapping.Type.String()
	}
	return j.Gap.String()
}

// onlyListKinds reports whether only references with list kinds keep this tool from
// deciding. The garbage collector does decide then.
func (b *answerBuilder) onlyListKinds() bool {
	return b.assessment.UndecidableReference < 0 && slices.ContainsFunc(b.judgements, collector.Judgement.NamesListKind) &&
		!slices.ContainsFunc(b.judgements, func(j collector.Judgement) bool { return j.Verdict == collector.VerdictUnknown })
}

// listKind explains an object with a reference whose kind is that of a list.
func (b *answerBuilder) listKind() {
	verdicts := collector.Verdicts(b.judgements)
	for i, j := range b.judgements {
		if j.NamesListKind() {
			verdicts[i] = collector.VerdictDangling
		}
	}
	assessment := collector.Assess(b.object, verdicts)
	if assessment.UnlinkRejected(b.object) {
		b.updateRefused()
		return
	}
	what := "delete"
	if assessment.ConsequenceIfDecidable() == collector.ConsequenceUnlink {
		what = "remove a reference of"
	}
	i := slices.IndexFunc(b.judgements, collector.Judgement.NamesListKind)
	b.answer.say(assessment.ConsequenceIfDecidable(), "The garbage collector will %s %s: its reference to %s has the kind of a list, probably by mistake for %s.",
		what, b.object, b.object.Owners[i], strings.TrimSuffix(b.object.Owners[i].Kind, "List"))
	b.answer.next("A running garbage collector acts within seconds. " + plugin.Command() + " collect does not: it leaves the object alone.")
	b.answer.suggest("remove the reference, or correct its kind", append([]string{"kubectl", "edit"}, b.arguments(b.object.Identity)...)...)
}

// updateRefused explains an object for which the API server refuses every update that the
// garbage collector sends.
func (b *answerBuilder) updateRefused() {
	b.answer.say(collector.ConsequenceStuck, "%s stays as it is: the garbage collector tries to remove one of its references, and the API server refuses that.", b.object)
	rejected := slices.IndexFunc(b.object.Owners, collector.ReferenceRejected)
	switch finalizers := (&object.Object{Finalizers: b.object.Finalizers}); {
	case rejected >= 0:
		b.answer.nextf("The API server accepts no reference to %s, so it refuses every change that keeps that.", b.object.Owners[rejected])
	case collector.UpdateRejected(finalizers):
		b.answer.next("It has both finalizers of the garbage collector, orphan and foregroundDeletion. The API server refuses every change that keeps both.")
	default:
		b.answer.next("Several of its references mark their owner as its controller. An object may have only one, so the API server refuses every change that keeps more than one.")
	}
	b.answer.next("The garbage collector retries forever, without success.")
	first := slices.IndexFunc(b.object.Owners, object.Reference.Controls)
	if first < 0 {
		return
	}
	var more []string
	for _, r := range b.object.Owners[first+1:] {
		if r.Controls() && r.UID != b.object.Owners[first].UID {
			more = append(more, string(r.UID))
		}
	}
	if len(more) > 0 {
		b.suggestUnlink("repair it by keeping only one controller, here the first one", more...)
	}
}

// suggestRepair suggests what repairs the i-th reference, and reports whether anything
// does.
func (b *answerBuilder) suggestRepair(i int, j collector.Judgement, purpose string) bool {
	r, m := b.object.Owners[i], b.repairs[i]
	fix := ""
	switch m.Fix {
	case repair.Relink:
		fix = fmt.Sprintf("pointing the reference at the %s that exists now", r)
	case repair.UpdateVersion:
		fix = "rewriting the reference to a served version"
	case repair.Unlink:
		fix = fmt.Sprintf("removing the reference to %s", r)
	case repair.None:
		return false
	}
	flags := []string{"--rule", string(j.Cause)}
	if m.NeedsDecision { // only a person can tell that the owner does not exist
		flags = append(flags, "--fix", string(repair.Unlink))
	}
	b.answer.suggest(purpose+fix, b.command("repair", b.object.Identity, flags...)...)
	return true
}

// suggestUnlink suggests removing valid references.
func (b *answerBuilder) suggestUnlink(purpose string, uids ...string) {
	b.answer.suggest(purpose, b.command("repair", b.object.Identity, "--fix", string(repair.Unlink), "--reference", strings.Join(uids, ","))...)
}
