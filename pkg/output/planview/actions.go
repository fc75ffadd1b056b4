package planview

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// actions are in the order of urgency: deletions come first.
var actions = []struct {
	action     collector.Action
	word, past string
}{
	{collector.ActionDelete, "delete", "deleted"},
	{plan.Relink, "relink", "relinked"},
	{plan.UpdateVersion, "update-version", "updated"},
	{collector.ActionUnlink, "unlink", "unlinked"},
	{collector.ActionUnblock, "unblock", "unblocked"},
	{collector.ActionRemoveFinalizer, "remove-finalizer", "removed finalizer"},
	{plan.Create, "create", "created"},
	{plan.Link, "link", "linked"},
}

// urgency returns the position of an action in actions. An unknown one comes last.
func urgency(action collector.Action) int {
	for i := range actions {
		if actions[i].action == action {
			return i
		}
	}
	return len(actions)
}

func word(action collector.Action) string {
	if i := urgency(action); i < len(actions) {
		return actions[i].word
	}
	return text(string(action))
}

func past(action collector.Action) string {
	if i := urgency(action); i < len(actions) {
		return actions[i].past
	}
	return text(string(action))
}

func paint(action collector.Action, s string, p *color.Palette) string {
	switch action {
	case collector.ActionDelete:
		return p.Goes(s)
	case plan.Create:
		return p.Stays(s)
	default:
		return p.Changes(s)
	}
}

// Limits on the characters shown of a string from the cluster. They are longer than any
// real name, so that names can be pasted into a command.
const (
	objectWidth = 400
	reasonWidth = 400
	textWidth   = 200
)

// maxNames is how many names one line lists.
const maxNames = 3

func text(s string) string { return escape.Short(s, textWidth) }

func name(o object.Identity) string { return escape.Short(o.String(), objectWidth) }

func namespace(o object.Identity) string {
	if o.Namespace == "" {
		return "-" // cluster-scoped
	}
	return text(o.Namespace)
}

// arguments returns an object as kubectl's command line takes it.
func arguments(o object.Identity) string {
	if o.Namespace == "" {
		return name(o)
	}
	return name(o) + " -n " + text(o.Namespace)
}

func groupKind(o object.Identity) schema.GroupKind { return o.GroupVersionKind().GroupKind() }

func isStorage(o object.Identity) bool {
	return isClaim(o) || groupKind(o) == schema.GroupKind{Kind: "PersistentVolume"}
}

func isClaim(o object.Identity) bool {
	return groupKind(o) == schema.GroupKind{Kind: "PersistentVolumeClaim"}
}
