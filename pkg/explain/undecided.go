package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// undecidable explains an object that the garbage collector skips because of one
// reference.
func (b *builder) undecidable(index int) {
	b.answer.say(collector.ConsequenceStuck, "%s stays as it is: the garbage collector cannot resolve its reference to %s.", b.object, b.object.Owners[index])
	b.answer.next("One reference that it cannot resolve makes the garbage collector skip the whole object.")
	if b.judgements[index].Verdict == collector.VerdictUnresolvable {
		b.answer.next("It retries forever, and reports this nowhere.")
	}
	b.whenServed(index)
	b.onceResolved()
	for i, j := range b.judgements {
		if j.Verdict == collector.VerdictUnresolvable || j.Verdict == collector.VerdictScopeError {
			b.suggestRepair(i, j, "repair it by ")
		}
	}
	b.suggestDelete()
}

// whenServed explains what happens if the type that a reference names is served later.
func (b *builder) whenServed(index int) {
	r, once, then := b.object.Owners[index], "", "deletes this object"
	switch b.judgements[index].Cause {
	case collector.CauseUnknownKind:
		once = ", for example because its CustomResourceDefinition is installed"
	case collector.CauseUnservedVersion:
	default:
		b.answer.next("Nothing happens until someone repairs that reference.")
		return
	}
	if b.assessment.ReferencesLeft > 0 {
		then = "removes the reference"
	}
	b.answer.nextf("Take care: once kind %s is served in %s%s, the garbage collector %s, often within seconds, unless %s exists then with the UID that the reference names.", r.Kind, r.APIVersion, once, then, r)
}

// onceResolved explains what the garbage collector would do if it could resolve all
// references.
func (b *builder) onceResolved() {
	lost := 0
	for _, j := range b.judgements {
		if j.Verdict.IsDanglingOrWaiting() {
			lost++
		}
	}
	switch {
	case lost == 0:
	case b.assessment.ConsequenceIfDecidable() == collector.ConsequenceUnlink:
		b.answer.nextf("Once that can be resolved, it may lose %s that %s to no owner.", plural(lost, "another reference", fmt.Sprintf("%d other references", lost)), plural(lost, "leads", "lead"))
	default:
		b.answer.nextf("Take care: %s, so once that can be resolved, the garbage collector may delete it.", plural(lost, "its other owner does not exist", fmt.Sprintf("%d other owners do not exist", lost)))
	}
}

// unknown explains an object for which an owner could not be verified.
func (b *builder) unknown(index int) {
	r, j := b.object.Owners[index], b.judgements[index]
	b.answer.say(collector.ConsequenceUnknown, "It is unknown what happens to %s, because it is unknown %s.", b.object, j.Unverified(r).Question())
	b.onceResolved()
	b.answer.next("The cluster's garbage collector may be able to read more than you, and act on it. If its request also fails, it keeps the object and tries again.")
	switch {
	case j.Gap != nil && j.Gap.Reason == snapshot.Forbidden:
		b.suggestRight("list", j)
	case j.Lookup != nil && j.Lookup.Reason == snapshot.Forbidden:
		b.suggestRight("get", j)
	case j.Gap != nil && j.Gap.Reason == snapshot.NotInFile:
		b.answer.suggest("scan the whole cluster into a file, and ask that", plugin.Line("snapshot", "-o", "cluster.json.gz")...)
	default:
		b.answer.suggest("try again when the API server can answer", b.command("why", b.object.Identity)...)
	}
}

func (b *builder) suggestRight(verb string, j collector.Judgement) {
	words := []string{"kubectl", "auth", "can-i", verb, resource(j)}
	if j.Mapping.Type.Namespaced {
		words = append(words, "-n", b.object.Namespace)
	}
	b.answer.suggest(fmt.Sprintf("try again with the right to %s %s", verb, resource(j)), words...)
}

func resource(j collector.Judgement) string {
	if j.Mapping.Type.Resource != "" {
		return j.Mapping.Type.String()
	}
	return j.Gap.String()
}

// onlyListKinds reports whether only references with list kinds keep this tool from
// deciding. The garbage collector does decide then.
func (b *builder) onlyListKinds() bool {
	return b.assessment.UndecidableReference < 0 && slices.ContainsFunc(b.judgements, collector.Judgement.NamesListKind) &&
		!slices.ContainsFunc(b.judgements, func(j collector.Judgement) bool { return j.Verdict == collector.VerdictUnknown })
}

// listKind explains an object with a reference whose kind is that of a list.
func (b *builder) listKind() {
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
	what := "deletes it"
	if assessment.ConsequenceIfDecidable() == collector.ConsequenceUnlink {
		what = "removes that reference"
	}
	i := slices.IndexFunc(b.judgements, collector.Judgement.NamesListKind)
	b.answer.say(assessment.ConsequenceIfDecidable(), "%s names %s as its owner, with a list kind, probably by mistake: because of that, the cluster's garbage collector %s.", b.object, b.object.Owners[i], what)
	b.answer.next("A running garbage collector acts within seconds. The command collect does not: it leaves the object alone.")
	b.answer.suggest("remove the reference, or correct its kind", append([]string{"kubectl", "edit"}, b.arguments(b.object.Identity)...)...)
}

// updateRefused explains an object for which the API server refuses every update that the
// garbage collector sends.
func (b *builder) updateRefused() {
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
func (b *builder) suggestRepair(i int, j collector.Judgement, purpose string) bool {
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
	flags := []string{"--rule", audit.RuleForCause(j.Cause)}
	if m.NeedsDecision { // only a person can tell that the owner does not exist
		flags = append(flags, "--fix", string(repair.Unlink))
	}
	b.answer.suggest(purpose+fix, b.command("repair", b.object.Identity, flags...)...)
	return true
}

// suggestUnlink suggests removing valid references.
func (b *builder) suggestUnlink(purpose string, uids ...string) {
	b.answer.suggest(purpose, b.command("repair", b.object.Identity, "--fix", string(repair.Unlink), "--reference", strings.Join(uids, ","))...)
}
