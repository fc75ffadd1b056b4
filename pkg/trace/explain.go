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
// facts do not show is unknown. It may be called once. That files lack lines makes an answer weaker, with three limits: a
// name without UIDs is one object unless a create is seen; owner references are as they were seen last; and the
// second of two requests for one deletion looks like the first if that one is missing, unless the answers show that
// the deletion had begun in an earlier second.
func (f *Facts) Explain() *DeletionReport {
	q := newInquiry(f)
	r := &DeletionReport{Requests: f.requests, Lines: f.lines, Sources: []Source{}, Cascades: []Cascade{}, Notes: []*reason.Reason{}, inquiry: q}
	for _, s := range f.sources {
		r.Sources = append(r.Sources, *s)
	}
	slices.SortFunc(q.started, instant.compare)
	r.Outages, r.Loops = q.outages(), q.loops()
	var cascades []*cascade
	seen := map[*cascade]bool{}
	for _, d := range q.deletions {
		d.circumstances(q)
		if !seen[d.cascade] {
			seen[d.cascade] = true
			cascades = append(cascades, d.cascade)
		}
	}
	for _, c := range q.collections {
		if !seen[c] && c.By.Role != RoleNamespace && !c.listed { // nothing shows what was in it
			cascades = append(cascades, c)
		}
	}
	for _, c := range cascades {
		r.Cascades = append(r.Cascades, c.finish(q.sources))
	}
	slices.SortStableFunc(r.Cascades, func(a, b Cascade) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), a.At.Compare(b.At), a.From.Compare(b.From))
	})
	return r
}

// recent is how long before a deletion a start of the collector is worth mentioning.
const recent = 10 * time.Minute

// circumstances adds what else matters.
func (d *deletion) circumstances(q *inquiry) {
	if d.again > 0 {
		d.also = append(d.also, reason.AskedAgain(d.again))
	}
	if d.actor.Role != RoleCollector || d.parent != nil {
		return
	}
	for _, at := range slices.Backward(q.started) {
		if at.us <= d.when.us {
			if d.when.us-at.us <= recent.Microseconds() {
				d.also = append(d.also, reason.CollectorRestarted(at.time()))
			}
			break
		}
	}
	if !d.cascade.Unexplained {
		return
	}
	if of := q.lastDeletion(object.Address{Type: namespaces, Name: d.Namespace}, d); of != nil && d.Namespace != "" {
		d.also = append(d.also, reason.NamespaceWasTerminating(of.as()))
	}
}

// finish sorts the members of a cascade as a tree, and counts them.
func (c *cascade) finish(sources []*Source) Cascade {
	out := c.Cascade
	out.Deletions = make([]Deletion, 0, len(c.members))
	slices.SortFunc(c.members, func(a, b *deletion) int {
		return cmp.Or(a.since().compare(b.since()), a.Compare(b.Identity), cmp.Compare(a.resource.Resource, b.resource.Resource))
	})
	children := map[*deletion][]*deletion{}
	for _, d := range slices.Backward(c.members) { // the stack reverses them once more
		children[d.parent] = append(children[d.parent], d)
	}
	index := map[*deletion]int{}
	stack := children[nil]
	out.From = out.At
	out.Perhaps = out.Perhaps || len(stack) > 0 && out.Collection == nil && stack[0].perhaps
	for len(stack) > 0 {
		d := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], children[d]...)
		row := d.row(sources)
		if d.parent != nil {
			row.Parent = index[d.parent]
			row.Depth = out.Deletions[row.Parent].Depth + 1
		}
		index[d] = len(out.Deletions)
		out.Deletions = append(out.Deletions, row)
		out.count(d, &row)
	}
	return out
}

func (c *Cascade) count(d *deletion, row *Deletion) {
	c.Objects++
	if row.Perhaps {
		c.Uncertain++
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
func (d *deletion) row(sources []*Source) Deletion {
	out := Deletion{
		Object: d.Identity, Parent: -1, At: d.when.time(), Ended: d.ended.time(), By: d.actor, Basis: d.basis, Doubt: d.doubt, Verb: d.verb, Policy: d.policy,
		Inferred: d.inferred, Perhaps: d.perhaps, Why: d.why, Circumstances: []*reason.Reason{},
	}
	if d.whole.rank > 0 {
		out.Whole = &Place{sources[d.whole.file].File, d.whole.offset}
	}
	if d.resource.Resource != "" {
		out.Resource = d.resource.String()
	}
	if d.gone.us > later(d.when, d.ended).us && d.gone.us-d.when.us >= time.Second.Microseconds() {
		out.Ended = d.gone.time()
	}
	out.Circumstances = append(out.Circumstances, d.also...)
	return out
}

// at is where a deletion is in a report.
type at struct{ cascade, deletion int }

func (r *DeletionReport) get(a at) *Deletion { return &r.Cascades[a.cascade].Deletions[a.deletion] }

// names returns what a query names, in whatever namespace.
func (r *DeletionReport) names(q Question) func(o object.Identity, resource string) bool {
	types := snapshot.Find(r.inquiry.types.all(), q.Type)
	return func(o object.Identity, resource string) bool {
		if q.UID != "" {
			return string(o.UID) == q.UID
		}
		return o.Name == q.Name && slices.ContainsFunc(types, func(t snapshot.Type) bool { return t.GroupResource().String() == resource })
	}
}

// Namespaces returns the namespaces in which objects were deleted that a query names without one; sorted.
func (r *DeletionReport) Namespaces(q Question) (in []string) {
	is := r.names(q)
	for i := range r.Cascades {
		for _, d := range r.Cascades[i].Deletions {
			if is(d.Object, d.Resource) {
				in = append(in, d.Object.Namespace)
			}
		}
	}
	slices.Sort(in)
	return slices.Compact(in)
}

// Select returns the report about the last deletion of the object that a query names. Its Target is nil if the facts have
// none.
func (r *DeletionReport) Select(q Question) *DeletionReport {
	named := r.names(q)
	is := func(o object.Identity, resource string) bool {
		return (q.UID != "" || o.Namespace == q.Namespace || o.Namespace == "") && named(o, resource)
	}
	var found []at
	for i := range r.Cascades {
		for j, d := range r.Cascades[i].Deletions {
			if is(d.Object, d.Resource) {
				found = append(found, at{i, j})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b at) int { return r.get(a).At.Compare(r.get(b).At) })
	out := *r
	out.Cascades, out.Notes = []Cascade{}, []*reason.Reason{}
	open := true // somebody else may have deleted it
	if len(found) > 0 {
		last := found[len(found)-1]
		c := r.Cascades[last.cascade]
		open = c.Unexplained || r.get(last).Perhaps
		out.Target = &FoundDeletion{Cascade: last.cascade, Others: []Generation{}}
		c.Deletions, out.Target.Deletion = c.only(last.deletion)
		out.Cascades = []Cascade{c}
		for _, f := range found[:len(found)-1] {
			d := r.get(f)
			out.Target.Others = append(out.Target.Others, Generation{d.Object, d.At, d.By, d.Doubt})
		}
	}
	var known []*subject
	for _, s := range r.inquiry.subjects {
		if is(s.Identity, s.resource.String()) {
			known = append(known, s)
			out.note(r.inquiry.notes(s)...)
		}
	}
	if open {
		for _, c := range r.inquiry.collections {
			if c.By.Role != RoleNamespace && r.inquiry.mayHaveDeleted(c, q, known) {
				out.note(c.asReason())
			}
		}
	}
	return &out
}

func (r *DeletionReport) note(notes ...*reason.Reason) {
	r.Notes = append(r.Notes, notes...)
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
