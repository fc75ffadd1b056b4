package planview

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// verb is how an act is put to a person, before and after.
type verb struct {
	act        collector.Action
	word, past string
}

// verbs are in the order of urgency: what is lost comes first.
var verbs = []verb{
	{collector.ActionDelete, "delete", "deleted"},
	{plan.Relink, "relink", "relinked"},
	{plan.UpdateVersion, "update-version", "updated"},
	{collector.ActionUnlink, "unlink", "unlinked"},
	{collector.ActionUnblock, "unblock", "unblocked"},
	{collector.ActionRemoveFinalizer, "remove-finalizer", "removed finalizer"},
	{plan.Create, "create", "created"},
	{plan.Link, "link", "linked"},
}

// urgency is the place of an act among the verbs. One that they do not know
// comes last.
func urgency(act collector.Action) int {
	if i := slices.IndexFunc(verbs, func(v verb) bool { return v.act == act }); i >= 0 {
		return i
	}
	return len(verbs)
}

func word(act collector.Action) string {
	if i := urgency(act); i < len(verbs) {
		return verbs[i].word
	}
	return text(string(act))
}

func past(act collector.Action) string {
	if i := urgency(act); i < len(verbs) {
		return verbs[i].past
	}
	return text(string(act))
}

func paint(act collector.Action, s string, p *color.Palette) string {
	switch act {
	case collector.ActionDelete:
		return p.Goes(s)
	case plan.Create:
		return p.Stays(s)
	default:
		return p.Changes(s)
	}
}
