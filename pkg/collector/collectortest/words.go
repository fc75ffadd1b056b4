package collectortest

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Finalizers and API versions that the tests use.
const (
	Foreground = object.ForegroundFinalizer
	Orphan     = object.OrphanFinalizer
	RbacBeta   = "rbac.authorization.k8s.io/v1beta1"
	Extensions = "extensions/v1beta1"
)

// holds are the words for holds that the tests use.
var holds = map[collector.NoActionReason]string{
	collector.ObjectGone: "gone", collector.NoOwners: "no owners", collector.AllOwnersSolid: "kept", collector.AlreadyTerminating: "going",
	collector.ReferenceUnknown: "undecidable", collector.BlockedByDependents: "blocked", collector.DependentsUnknown: "not all seen",
}

func DescribeDecision(o *object.Object, d collector.Decision) string {
	switch {
	case d.Action != collector.ActionNone:
		return strings.TrimSpace(strings.Replace(DescribeAction("", o, d), "  ", " ", 1))
	case d.NoAction == collector.ReferenceUnknown:
		return fmt.Sprintf("%s: %s", holds[d.NoAction], o.Owners[d.UndecidableReference].Name)
	}
	return holds[d.NoAction]
}

// DescribeAction is a decision in words, on an object of that name.
func DescribeAction(name string, o *object.Object, d collector.Decision) string {
	line := fmt.Sprintf("%s %s", d.Action, name)
	switch d.Action {
	case collector.ActionDelete:
		line += " " + string(d.Policy)
	case collector.ActionRemoveFinalizer:
		line += " " + d.Change.Release
	case collector.ActionUnlink:
		line += " " + owners(o, d.Change.Drop)
	case collector.ActionUnblock:
		line += " " + owners(o, d.Change.Unblock)
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return line
}

func owners(o *object.Object, of []int) string {
	var out []string
	for _, i := range of {
		out = append(out, o.Owners[i].Name)
	}
	return strings.Join(out, ",")
}
