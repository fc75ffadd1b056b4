package planview

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// actions are in the order of urgency: deletions come first.
var actions = []struct {
	action plan.Action
	past   string
}{
	{plan.ActionDelete, "deleted"},
	{plan.ActionRelink, "relinked"},
	{plan.ActionUpdateVersion, "updated"},
	{plan.ActionUnlink, "unlinked"},
	{plan.ActionUnblock, "unblocked"},
	{plan.ActionRemoveFinalizer, "removed finalizer"},
	{plan.ActionCreate, "created"},
	{plan.ActionLink, "linked"},
}

// urgency returns the position of an action in actions. An unknown one comes last.
func urgency(action plan.Action) int {
	for i := range actions {
		if actions[i].action == action {
			return i
		}
	}
	return len(actions)
}

func word(action plan.Action) string { return escape.Word(string(action)) }

func past(action plan.Action) string {
	if i := urgency(action); i < len(actions) {
		return actions[i].past
	}
	return word(action)
}

func countWord(action plan.Action, n int) string { return word(action) + " " + wording.Thousands(n) }

func countPast(action plan.Action, n int) string {
	if action == plan.ActionRemoveFinalizer {
		return "removed " + wording.Count(n, "finalizer")
	}
	return past(action) + " " + wording.Thousands(n)
}

func paint(action plan.Action, s string, p *color.Palette) string {
	switch action {
	case plan.ActionDelete:
		return p.Deleted(s)
	case plan.ActionCreate:
		return p.Kept(s)
	default:
		return p.Changed(s)
	}
}

// maxNames is how many names one line lists.
const maxNames = 3

func name(o object.Identity) string { return escape.Line(o.String()) }

func namespace(o object.Identity) string {
	if o.Namespace == "" {
		return "-" // cluster-scoped
	}
	return escape.Word(o.Namespace)
}

// arguments returns an object as kubectl's command line takes it.
func arguments(o object.Identity) string {
	if o.Namespace == "" {
		return name(o)
	}
	return name(o) + " -n " + escape.Word(o.Namespace)
}

func groupKind(o object.Identity) schema.GroupKind { return o.GroupVersionKind().GroupKind() }

func isStorage(o object.Identity) bool {
	return isClaim(o) || groupKind(o) == schema.GroupKind{Kind: "PersistentVolume"}
}

func isClaim(o object.Identity) bool {
	return groupKind(o) == schema.GroupKind{Kind: "PersistentVolumeClaim"}
}
