package reason

import "strings"

// Why a step of a saved plan is not carried out.
var _ = register(
	GapsNotAccepted{}, NoLongerPlanned{}, PlannedOtherwise{}, GapNotInPlan{}, MoreContents{}, ContentsNotPlanned{},
)

// GapsNotAccepted means that the step rests on gaps that have to be accepted again.
type GapsNotAccepted struct {
	Accept []string `json:"accept"` // values of --accept-gap
}

func (r GapsNotAccepted) Message() string {
	return "it depends on gaps that you must accept again: --accept-gap " + strings.Join(r.Accept, ",")
}

// The plan of now differs from the saved one.
type (
	NoLongerPlanned    struct{}         // a plan made now would not change the object
	PlannedOtherwise   struct{}         // a plan made now would do something else with the object, or for another reason
	GapNotInPlan       struct{}         // the step would rest on a gap that the saved plan did not accept
	MoreContents       objectsParameter // objects would be deleted along with this one that the saved plan does not show
	ContentsNotPlanned objectsParameter // objects would be deleted along with this one that are no longer part of the plan
)

func (NoLongerPlanned) Message() string { return "the garbage collector would no longer change it" }
func (PlannedOtherwise) Message() string {
	return "the garbage collector would now do something else with it, or for another reason"
}

func (GapNotInPlan) Message() string {
	return "it would depend on a gap that the saved plan did not accept: make a new plan"
}

func (r MoreContents) Message() string {
	return "more would be deleted with it than the plan shows: " + named(r.Objects)
}

func (r ContentsNotPlanned) Message() string {
	return "what would be deleted with it is no longer part of the plan: " + named(r.Objects)
}
