package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Explain finds out which deletions happened, who began each cascade, and why each object went. What the
// evidence does not say is unknown. A log that lacks lines makes an answer weaker, with three limits: a
// name without UIDs is one object unless a create is seen; owner references are as they were seen last; and the
// second of two requests for one deletion looks like the first if that one is missing, unless the answers show that
// the deletion had begun in an earlier second.
func Explain(e Evidence) *Report {
	r := &Report{Requests: len(e.Requests), Lines: len(e.Lines), Started: []time.Time{}, Cascades: []Cascade{}}
	var covered Span
	for i := range e.Requests {
		covered.Cover(e.Requests[i].Received)
	}
	for i := range e.Lines {
		covered.Cover(e.Lines[i].Time)
		if e.Lines[i].Says == Started {
			r.Started = append(r.Started, e.Lines[i].Time)
		}
	}
	r.From, r.To = covered.First, covered.Last
	slices.SortFunc(r.Started, time.Time.Compare)
	if e.Before != nil {
		r.Before = e.Before.Taken
	}
	q := newInquiry(e)
	r.types = q.types.all()
	var cascades []*cascade
	seen := map[*cascade]bool{}
	for _, d := range q.deletions {
		d.circumstances(q, r.Started)
		if !seen[d.cascade] {
			seen[d.cascade] = true
			cascades = append(cascades, d.cascade)
		}
	}
	for _, c := range q.collections {
		if !seen[c] && c.By.Role != RoleNamespace && c.Policy == "" { // at level Metadata nothing shows what was in it
			cascades = append(cascades, c)
		}
	}
	for _, c := range cascades {
		r.Cascades = append(r.Cascades, c.finish())
	}
	slices.SortStableFunc(r.Cascades, func(a, b Cascade) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), a.At.Compare(b.At), a.From.Compare(b.From))
	})
	return r
}

// recent is how long before a deletion a start of the collector is worth mentioning.
const recent = 10 * time.Minute

// circumstances adds what else matters.
func (d *deletion) circumstances(q *inquiry, started []time.Time) {
	if d.again > 0 {
		d.also = append(d.also, reason.AskedAgain.Of(d.again))
	}
	if n := q.byPlace[d.at]; d.policy == "" && d.actor.asks() && n.written.After(d.when.Add(tolerance)) && !n.createdWithin(d.when, n.written) {
		d.also = append(d.also, reason.WrittenLater.Of(n.written))
	}
	if d.actor.Role != RoleCollector || d.parent != nil {
		return
	}
	for _, t := range slices.Backward(started) {
		if !t.After(d.when) {
			if d.when.Sub(t) <= recent {
				d.also = append(d.also, reason.CollectorRestarted.Of(t))
			}
			break
		}
	}
	if !d.cascade.Unexplained {
		return
	}
	if of := q.lastDeletion(place{GroupResource: namespaces, name: d.at.namespace}, d); of != nil && d.at.namespace != "" {
		d.also = append(d.also, reason.NamespaceWasTerminating.Of(of.as()))
	}
}

// finish sorts the members of a cascade as a tree, and counts them.
func (c *cascade) finish() Cascade {
	out := c.Cascade
	out.Deletions, out.Kinds = make([]Deletion, 0, len(c.members)), []Count{}
	slices.SortFunc(c.members, func(a, b *deletion) int {
		return cmp.Or(a.since().Compare(b.since()), a.Compare(b.Identity), cmp.Compare(a.at.Resource, b.at.Resource))
	})
	children := map[*deletion][]*deletion{}
	for _, d := range slices.Backward(c.members) { // the stack reverses them once more
		children[d.parent] = append(children[d.parent], d)
	}
	kinds := map[string]int{}
	index := map[*deletion]int{}
	stack := children[nil]
	out.From = out.At
	for len(stack) > 0 {
		d := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], children[d]...)
		row := d.row()
		if d.parent != nil {
			row.Parent = index[d.parent]
			row.Depth = out.Deletions[row.Parent].Depth + 1
		}
		index[d] = len(out.Deletions)
		out.Deletions = append(out.Deletions, row)
		kinds[cmp.Or(row.Object.Kind, row.Resource)]++
		out.count(d, &row)
	}
	for kind, n := range kinds {
		out.Kinds = append(out.Kinds, Count{kind, n})
	}
	slices.SortFunc(out.Kinds, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Kind, b.Kind)) })
	return out
}

func (c *Cascade) count(d *deletion, row *Deletion) {
	c.Objects++
	if row.Inferred {
		c.Inferred++
	}
	if row.Whole != nil {
		c.Whole++
	}
	switch kind := row.Object.GroupVersionKind().GroupKind(); {
	case kind == object.VolumeClaim, row.Resource == "persistentvolumeclaims":
		c.Claims++
	case kind == object.Volume, row.Resource == "persistentvolumes":
		c.Volumes++
	}
	took := Span{c.From, c.To}
	took.Cover(row.At, row.Ended)
	c.From, c.To = took.First, took.Last
}

// row returns the deletion for the report.
func (d *deletion) row() Deletion {
	out := Deletion{
		Object: d.Identity, Parent: -1, At: d.when, Ended: d.ended, By: d.actor, Verb: d.verb, Policy: d.policy,
		Inferred: d.inferred, Why: reason.Nested{Reason: d.why}, Circumstances: []reason.Nested{}, Whole: d.whole,
	}
	if d.at.Resource != "" {
		out.Resource = d.at.GroupResource.String()
	}
	if d.gone.After(d.when) && d.gone.After(out.Ended) && !d.gone.Before(d.when.Add(time.Second)) {
		out.Ended = d.gone
	}
	for _, r := range d.also {
		out.Circumstances = append(out.Circumstances, reason.Nested{Reason: r})
	}
	return out
}

// Select returns the report about the last deletion of the object that a query names, and nil if the evidence
// has none.
func (r *Report) Select(q Query) *Report {
	types := snapshot.Find(r.types, q.Type)
	matches := func(d *Deletion) bool {
		if q.UID != "" {
			return string(d.Object.UID) == q.UID
		}
		return d.Object.Name == q.Name && (d.Object.Namespace == q.Namespace || d.Object.Namespace == "") &&
			slices.ContainsFunc(types, func(t snapshot.Type) bool { return t.GroupResource().String() == d.Resource })
	}
	type at struct{ cascade, deletion int }
	var found []at
	get := func(f at) *Deletion { return &r.Cascades[f.cascade].Deletions[f.deletion] }
	for i := range r.Cascades {
		for j := range r.Cascades[i].Deletions {
			if f := (at{i, j}); matches(get(f)) {
				found = append(found, f)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b at) int { return get(a).At.Compare(get(b).At) })
	last := found[len(found)-1]
	out := *r
	c := r.Cascades[last.cascade]
	target := &Found{Cascade: last.cascade, Others: []Generation{}}
	c.Deletions, target.Deletion = c.only(last.deletion)
	out.Cascades, out.Target = []Cascade{c}, target
	of := get(last)
	for i, other := range r.Cascades {
		if i != last.cascade && other.Unexplained && other.By.Role == RoleCollector && !other.From.Before(of.At) && len(other.Deletions) > 0 &&
			(of.Object.Namespace == "" || of.Object.Namespace == other.Deletions[0].Object.Namespace) {
			target.Perhaps += other.Objects
		}
	}
	for _, f := range found[:len(found)-1] {
		d := get(f)
		target.Others = append(target.Others, Generation{d.Object, d.At, d.By})
	}
	return &out
}

// only returns the deletions that led to the i-th, it, and those that followed, and where it is among them.
func (c *Cascade) only(i int) ([]Deletion, int) {
	var out []Deletion
	for up := c.Deletions[i].Parent; up >= 0; up = c.Deletions[up].Parent {
		out = append(out, c.Deletions[up])
	}
	slices.Reverse(out)
	for up := range out {
		out[up].Parent = up - 1
	}
	at := len(out)
	for j, d := range c.Deletions[i:] {
		if j > 0 && d.Depth <= c.Deletions[i].Depth {
			break
		}
		if d.Parent += at - i; j == 0 {
			d.Parent = at - 1
		}
		out = append(out, d)
	}
	return out, at
}
