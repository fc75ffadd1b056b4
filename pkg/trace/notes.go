package trace

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Outage is a time in which the garbage collector did not work, as its log says.
type Outage struct {
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`    // of the last line about it, or of the first that it worked again
	Reason string    `json:"reason"`         // the first; not escaped
	More   int       `json:"more,omitempty"` // lines that say something else
}

// Looked is an object that the garbage collector looked at again and again.
type Looked struct {
	Object object.Identity `json:"object"`
	Times  int             `json:"times"` // at least
	From   time.Time       `json:"from,omitzero"`
	To     time.Time       `json:"to,omitzero"`

	file string // that has the lines
}

// outages returns when the collector did not work, by what it said itself; sorted.
func (q *inquiry) outages() []Outage {
	slices.SortStableFunc(q.collector, func(a, b *Line) int { return a.Time.Compare(b.Time) })
	out := []Outage{}
	open := false
	for _, l := range q.collector {
		last := len(out) - 1
		switch {
		case open:
			if out[last].To = l.Time; l.Says != NotWorking {
				open = false
			} else if out[last].Reason != l.Text {
				out[last].More++
			}
		case l.Says == NotWorking:
			out = append(out, Outage{From: l.Time, To: l.Time, Reason: l.Text})
			open = true
		}
	}
	return out
}

// A loop on one object is worth a remark from that many lines on, if they are that part of all such lines.
const (
	manyLooks   = 100
	partOfLooks = 4
)

// loops returns the objects that the collector looked at again and again.
func (q *inquiry) loops() []Looked {
	out := []Looked{}
	for _, l := range q.looked {
		if l.Times >= manyLooks && l.Times*partOfLooks >= q.processed {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b Looked) int { return cmp.Or(cmp.Compare(b.Times, a.Times), a.Object.Compare(b.Object)) })
	return out
}

// notes returns what else is known of an object that matters to who asks for its deletion.
func (q *inquiry) notes(s *subject) (notes []*reason.Reason) {
	for _, f := range s.freed {
		of := q.byUID[f.owner]
		if of == nil {
			continue
		}
		owner := reason.Deleted{Object: of.Identity}
		if of.deletion != nil {
			owner = of.deletion.as()
		}
		notes = append(notes, reason.Freed(owner, f.when.time()))
	}
	if d := s.deletion; d != nil && d.orphans() {
		if freed := q.freedFrom(s.UID); len(freed) > 0 {
			notes = append(notes, reason.Orphaned(freed, d.policy == policyDefault && d.keepsDependents()))
		}
	}
	for i := range s.asked {
		switch a := &s.asked[i]; {
		case a.basis == nil:
		case a.result == Refused:
			notes = append(notes, reason.WasRefused(reason.Asked{By: a.by.String(), At: a.when.time(), Code: a.basis.Code}))
		case !a.certain() && s.alive(a.answered):
			notes = append(notes, reason.NotDone(a.reason(), s.sightings[len(s.sightings)-1].when.time()))
		}
	}
	if last := len(s.sightings) - 1; s.deletion == nil && last >= 0 {
		notes = append(notes, reason.SeenLast(s.sightings[last].when.time()))
	}
	return notes
}

// freedFrom returns the objects to which the collector removed the reference to an owner; sorted.
func (q *inquiry) freedFrom(owner types.UID) (out []object.Identity) {
	for _, s := range q.subjects {
		if owner != "" && slices.ContainsFunc(s.freed, func(f freed) bool { return f.owner == owner }) {
			out = append(out, s.Identity)
		}
	}
	slices.SortFunc(out, object.Identity.Compare)
	return out
}

// mayHaveDeleted reports whether a collection may have deleted the object that a query names. known are the objects that have the
// name or the UID.
func (q *inquiry) mayHaveDeleted(c *cascade, of Question, known []*subject) bool {
	if len(known) > 0 {
		return slices.ContainsFunc(known, func(s *subject) bool { return c.mayBeIn(s.address(), s) })
	}
	return of.UID == "" && slices.ContainsFunc(snapshot.Find(q.types.all(), of.Type), func(t snapshot.Type) bool {
		return c.mayBeIn(t.Address(of.Namespace, of.Name), nil)
	})
}

// asReason returns a collection as what may have deleted an object.
func (c *cascade) asReason() *reason.Reason {
	if c.Collection.SelectorUnknown {
		return reason.MayBeAmong(reason.InCollectionOf{Request: c.asked, Resource: c.Collection.Resource, Selector: "a selector that the log does not have"})
	}
	selectors := slices.DeleteFunc([]string{c.Collection.LabelSelector, c.Collection.FieldSelector}, func(s string) bool { return s == "" })
	return reason.MayBeAmong(reason.InCollectionOf{Request: c.asked, Resource: c.Collection.Resource, Selector: strings.Join(selectors, ",")})
}

// mayBeIn reports whether an object may be among those that a collection deleted, unless a file shows what was in it. s is nil if nothing else
// is known of the object.
func (c *cascade) mayBeIn(at object.Address, s *subject) bool {
	if c.listed || c.Collection.Resource != at.Type.String() || c.Collection.Namespace != "" && c.Collection.Namespace != at.Namespace {
		return false
	}
	// A selector that the server took is well-formed.
	if of, err := fields.ParseSelector(c.Collection.FieldSelector); err == nil {
		for _, r := range of.Requirements() {
			is := map[string]string{"metadata.name": at.Name, "metadata.namespace": at.Namespace}[r.Field]
			if is != "" && (is == r.Value) == (r.Operator == "!=") {
				return false
			}
		}
	}
	if s == nil {
		return true
	}
	asked := instant{c.At.UnixMicro(), c.file}
	if s.alive(asked) || s.gone.known() && s.gone.before(asked) || asked.before(s.start(asked.file)) {
		return false
	}
	of, err := labels.Parse(c.Collection.LabelSelector)
	last, seen := s.lastSighting(asked)
	if err != nil || !seen || last.labels == (unique.Handle[string]{}) {
		return true
	}
	set, err := labels.ConvertSelectorToLabelsMap(last.labels.Value())
	return err != nil || of.Matches(set)
}
