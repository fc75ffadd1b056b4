package reason

import "strings"

// Why a step of a saved plan is not carried out.
var _ = register(
	GapsNotAccepted{}, MoreContents{}, ContentsNotPlanned{},
)

// Those without parameters.
var (
	// a plan made now would not change the object
	NoLongerPlanned = fixed("NoLongerPlanned", "the garbage collector would no longer change it")
	// a plan made now would do something else with the object, or for another reason
	PlannedOtherwise = fixed("PlannedOtherwise",
		"the garbage collector would now do something else with it, or for another reason")
	// the step would rest on a gap that the saved plan did not accept
	GapNotInPlan = fixed("GapNotInPlan", "it would depend on a gap that the saved plan did not accept: make a new plan")
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
	MoreContents       objectsParameter // objects would be deleted along with this one that the saved plan does not show
	ContentsNotPlanned objectsParameter // objects would be deleted along with this one that are no longer part of the plan
)

func (r MoreContents) Message() string {
	return "more would be deleted with it than the plan shows: " + named(r.Objects)
}

func (r ContentsNotPlanned) Message() string {
	return "what would be deleted with it is no longer part of the plan: " + named(r.Objects)
}
