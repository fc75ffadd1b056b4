package oracle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Class is how a prediction and the ends of a scenario disagree.
type Class string

// The classes.
const (
	// Wrong: no order ends as predicted.
	Wrong Class = "wrong"
	// FalselyCertain: some orders end as predicted and others do not, and the prediction has
	// no reserve.
	FalselyCertain Class = "falsely certain"
	// NotBackedUp: an order deletes an object that is not backed up.
	NotBackedUp Class = "not backed up"
	// DeletedByNoOrder: this program as the collector would delete an object that no order
	// deletes.
	DeletedByNoOrder Class = "deleted by no order"
	// DeletedByRepair: an order deletes an object after a repair that no order deletes without it.
	DeletedByRepair Class = "deleted by the repair"
	// Needless: the prediction has a reserve, and all orders end alike. It is no failure.
	Needless Class = "needless reserve"
)

// Reserve is what a prediction says about its own certainty.
type Reserve int

// The reserves.
const (
	Certain          Reserve = iota
	Nondeterministic         // the outcome depends on the order of events
	Later                    // the object is deleted as soon as others are gone
	Unverified               // too little could be read to predict anything
)

// Prediction is one statement of this program about the ends of a scenario.
type Prediction struct {
	Command string    // that makes it: delete, audit, why, collect or repair
	Aspect  string    // what it is about, such as the state or the references
	Object  types.UID // that it is about
	Said    string    // for people
	Reserve Reserve
	// Holds reports whether an end is as predicted.
	Holds func(End) bool
	// Describe returns what happened instead, or as well, for people.
	Describe func(End) string
	// None is the class if it holds in no end, and Some the class if it holds only in some
	// and Reserve is Certain. Empty: that is no disagreement.
	None, Some Class
}

// Disagreement is a prediction that does not hold in every end.
type Disagreement struct {
	Class           Class
	Command, Aspect string
	Object          types.UID
	Said            string
	Happened        []Happened // the most frequent first
}

// Happened is what some orders ended with.
type Happened struct {
	What   string
	Orders int
}

// Same reports whether two disagreements have the same class, command, aspect and object.
func (d Disagreement) Same(other Disagreement) bool {
	return d.Class == other.Class && d.Command == other.Command && d.Aspect == other.Aspect && d.Object == other.Object
}

// String returns one line for a table: what was said, and what happened how often.
func (d Disagreement) String() string {
	all := 0
	for _, h := range d.Happened {
		all += h.Orders
	}
	parts := make([]string, len(d.Happened))
	for i, h := range d.Happened {
		parts[i] = fmt.Sprintf("%s in %d of %d orders", h.What, h.Orders, all)
	}
	return fmt.Sprintf("%s: %s of %s, %s: said %s; happened: %s", d.Class, d.Command, d.Object, d.Aspect, d.Said, strings.Join(parts, ", "))
}

// End is one state in which the orders of a scenario ended.
type End struct {
	Orders   int
	objects  map[types.UID]*scenario.Object
	released map[types.UID]*scenario.Object // after other controllers have removed their finalizers
}

// Ends returns the ends of a reply.
func Ends(r scenario.Reply) []End {
	out := make([]End, len(r.Ends))
	for i, e := range r.Ends {
		out[i] = End{Orders: e.Orders, objects: byUID(e.Objects), released: byUID(e.Objects)}
		if e.Released != nil {
			out[i].released = byUID(e.Released)
		}
	}
	return out
}

func byUID(objects []scenario.Object) map[types.UID]*scenario.Object {
	out := make(map[types.UID]*scenario.Object, len(objects))
	for i := range objects {
		out[objects[i].UID] = &objects[i]
	}
	return out
}

// Object returns the state of an object at the end, or nil if it is gone.
func (e End) Object(uid types.UID) *scenario.Object { return e.objects[uid] }

// Deleted reports whether an object is gone or terminating at the end.
func (e End) Deleted(uid types.UID) bool {
	o := e.objects[uid]
	return o == nil || o.DeletionTimestamp != nil
}

// Released returns the end after other controllers have removed their finalizers.
func (e End) Released() End { return End{Orders: e.Orders, objects: e.released, released: e.released} }

// Compare returns where predictions and ends disagree.
func Compare(predictions []Prediction, ends []End) []Disagreement {
	var out []Disagreement
	for _, p := range predictions {
		if class := p.compare(ends); class != "" {
			out = append(out, Disagreement{Class: class, Command: p.Command, Aspect: p.Aspect, Object: p.Object, Said: p.Said, Happened: p.happened(ends)})
		}
	}
	return out
}

// compare returns the class of the disagreement, or an empty one if there is none.
func (p *Prediction) compare(ends []End) Class {
	holds := 0
	for _, e := range ends {
		if p.Holds(e) {
			holds++
		}
	}
	switch {
	case len(ends) == 0:
		return ""
	case p.Reserve == Nondeterministic:
		if len(p.happened(ends)) == 1 {
			return Needless
		}
		return ""
	case holds == len(ends) || p.Reserve == Unverified:
		return ""
	case holds == 0:
		return p.None
	case p.Reserve == Later:
		return ""
	}
	return p.Some
}

// happened returns the ends by what they are described as, the most frequent first.
func (p *Prediction) happened(ends []End) []Happened {
	var out []Happened
	for _, e := range ends {
		what := p.Describe(e)
		i := slices.IndexFunc(out, func(h Happened) bool { return h.What == what })
		if i < 0 {
			i = len(out)
			out = append(out, Happened{What: what})
		}
		out[i].Orders += e.Orders
	}
	slices.SortStableFunc(out, func(a, b Happened) int { return b.Orders - a.Orders })
	return out
}
