package explainview

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Meaning explains a verdict in a few words.
func Meaning(v collector.Verdict) string { return meanings[v] }

// meanings explain the verdicts to whoever reads them for the first time.
var meanings = map[collector.Verdict]string{
	collector.Solid:        "the owner exists",
	collector.Dangling:     "the owner does not exist",
	collector.Waiting:      "the owner is being deleted and waits for its dependents",
	collector.Unresolvable: "the owner's type is not served",
	collector.ScopeError:   "a namespaced object cannot own a cluster-scoped one",
	collector.Unknown:      "the owner could not be verified",
}

func (p *page) reference(i int) {
	r := &p.answer.References[i]
	var flags []string
	if r.Controller {
		flags = append(flags, "controller")
	}
	if r.BlockOwnerDeletion {
		flags = append(flags, "blocking")
	}
	said := escape.Short(r.Kind+"/"+r.Name, nameWidth)
	if len(flags) > 0 {
		said += " (" + strings.Join(flags, ", ") + ")"
	}
	p.label = ""
	p.line(fmt.Sprintf("owner %d of %d", i+1, len(p.answer.References)), said+"   "+p.verdict(r.Verdict))
	for _, e := range r.Evidence {
		p.more(p.Palette.Dim(sentence(e)))
	}
	if !p.Wide {
		return
	}
	p.more(text(r.APIVersion) + ", UID " + text(r.UID))
	for _, other := range []struct {
		what string
		who  *object.Identity
	}{{"has that UID", r.UIDHolder}, {"has that name", r.NameHolder}} {
		if other.who != nil && string(other.who.UID)+other.who.Name+other.who.Kind != r.UID+r.Name+r.Kind {
			p.more(fmt.Sprintf("%s %s: %s, UID %s", identity(*other.who), other.what, text(other.who.APIVersion), text(string(other.who.UID))))
		}
	}
}

func (p *page) verdict(v collector.Verdict) string {
	said := text(string(v)) + ": " + Meaning(v)
	switch v {
	case collector.Solid:
		return p.Palette.Stays(said)
	case collector.Dangling:
		return p.Palette.Goes(said)
	case collector.Waiting, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return p.Palette.Changes(said)
}
