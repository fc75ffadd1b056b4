package explainview

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Meaning returns what a verdict means in a few words.
func Meaning(v collector.Verdict) string { return meanings[v] }

var meanings = map[collector.Verdict]string{
	collector.VerdictSolid:        "the owner exists",
	collector.VerdictDangling:     "the owner does not exist",
	collector.VerdictWaiting:      "the owner is being deleted and waits for its dependents",
	collector.VerdictUnresolvable: "the owner's type is not served",
	collector.VerdictScopeError:   "a namespaced object cannot own a cluster-scoped one",
	collector.VerdictUnknown:      "the owner could not be verified",
}

func (w *answerWriter) reference(i int) {
	r := &w.answer.References[i]
	var flags []string
	if r.Controller {
		flags = append(flags, "controller")
	}
	if r.BlockOwnerDeletion {
		flags = append(flags, "blocking")
	}
	shown := escape.Line(r.Kind + "/" + r.Name)
	if len(flags) > 0 {
		shown += " (" + strings.Join(flags, ", ") + ")"
	}
	w.label = ""
	w.line(fmt.Sprintf("owner %d of %d", i+1, len(w.answer.References)), shown+"   "+w.verdict(r.Verdict))
	for _, e := range r.Evidence {
		w.more(w.view.Palette.Dim(escape.Sentence(e)))
	}
	if !w.view.Wide {
		return
	}
	w.more(escape.Word(r.APIVersion) + ", UID " + escape.Word(r.UID))
	for _, other := range []struct {
		what string
		who  *object.Identity
	}{{"has that UID", r.UIDHolder}, {"has that name", r.NameHolder}} {
		if other.who != nil && string(other.who.UID)+other.who.Name+other.who.Kind != r.UID+r.Name+r.Kind {
			w.more(fmt.Sprintf("%s %s: %s, UID %s", escape.Line(other.who.String()), other.what, escape.Word(other.who.APIVersion), escape.Word(string(other.who.UID))))
		}
	}
}

func (w *answerWriter) verdict(v collector.Verdict) string {
	shown := escape.Word(string(v)) + ": " + Meaning(v)
	switch v {
	case collector.VerdictSolid:
		return w.view.Palette.Kept(shown)
	case collector.VerdictDangling:
		return w.view.Palette.Deleted(shown)
	case collector.VerdictWaiting, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown:
	}
	return w.view.Palette.Changed(shown)
}
