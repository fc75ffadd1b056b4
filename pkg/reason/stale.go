package reason

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step of a saved plan is not carried out.
var _ = register(
	GapsNotAccepted{}, NoLongerPlanned{}, PlannedOtherwise{}, GapNotInPlan{}, MoreContents{}, ContentsNotPlanned{},
)

// GapsNotAccepted means that the step rests on gaps that have to be accepted again.
type GapsNotAccepted struct {
	Accept []string `json:"accept"` // values of --accept-gap
}

// Message implements Reason.
func (r GapsNotAccepted) Message() string {
	return "it depends on gaps that you must accept again: --accept-gap " + strings.Join(r.Accept, ",")
}

// NoLongerPlanned means that a plan made now would not change the object.
type NoLongerPlanned struct{}

// Message implements Reason.
func (NoLongerPlanned) Message() string { return "the garbage collector would no longer change it" }

// PlannedOtherwise means that a plan made now would do something else with the object, or
// for another reason.
type PlannedOtherwise struct{}

// Message implements Reason.
func (PlannedOtherwise) Message() string {
	return "the garbage collector would now do something else with it, or for another reason"
}

// GapNotInPlan means that the step would rest on a gap that the saved plan did not accept.
type GapNotInPlan struct{}

// Message implements Reason.
func (GapNotInPlan) Message() string {
	return "it would depend on a gap that the saved plan did not accept: make a new plan"
}

// MoreContents means that objects would be deleted along with this one that the saved
// plan does not show.
type MoreContents struct {
	Objects []object.Identity `json:"objects"`
}

// Message implements Reason.
func (r MoreContents) Message() string {
	return "more would be deleted with it than the plan shows: " + named(r.Objects)
}

// ContentsNotPlanned means that objects would be deleted along with this one that are no
// longer part of the plan.
type ContentsNotPlanned struct {
	Objects []object.Identity `json:"objects"`
}

// Message implements Reason.
func (r ContentsNotPlanned) Message() string {
	return "what would be deleted with it is no longer part of the plan: " + named(r.Objects)
}
