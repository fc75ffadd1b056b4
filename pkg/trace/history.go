package trace

import (
	"slices"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// tolerance is by how much the clocks of API servers may differ. Within it the order of two times is
// unknown.
const tolerance = 2 * time.Second

// place is where objects are that have one name, one after the other.
type place struct {
	schema.GroupResource
	namespace, name string
}

// subject is one object, as far as the evidence tells it from others of its name.
type subject struct {
	object.Identity
	at      place
	real    bool      // it is seen itself, not only named by a reference
	created time.Time // zero if unknown
	segment int       // the number of creates of the place until it was created; -1 if unknown
	several bool      // it stands for objects that the evidence cannot tell apart
	owners  []object.Reference
	known   bool // owners and finalizers are, as of knownAt
	knownAt time.Time
	held    bool // by finalizers
	node    string
	// firstSeen is when it is known to exist, but for a kubelet's request, which ends what others began before;
	// zero if there is no such time.
	firstSeen, lastSeen time.Time
	begun               time.Time // by its deletionTimestamp; zero if none was seen
	gone                time.Time // when it vanished; zero if that is unknown
	before              graph.Node
	whole               *Place // as it was last before its deletion, or in the first answer to that
	events              []event
	lines               []*Line // about its owners
	deletion            *deletion
}

// event is a request for the deletion of one object, or a line about it.
type event struct {
	at         time.Time
	request    *Request // nil for a line
	policy     string   // of a line
	actor      Actor
	verb       string
	collection *cascade // that it was part of; nil if it was not
	marked     bool     // the item of a collection was being deleted before
}

// names are all objects that had one name.
type names struct {
	creates  []create
	deletes  []time.Time // of requests that do not tell whom they delete
	written  time.Time   // of the last update or patch
	subjects []*subject
	unnamed  map[int]*subject // those of them without a UID, by segment
}

type create struct {
	at time.Time
	of *subject // nil if the log does not have the UID
}

// history is what the evidence says about objects.
type history struct {
	Evidence
	types    *typeMap
	byUID    map[types.UID]*subject
	byPlace  map[place]*names
	subjects []*subject
	// created are the times of creates per namespace, sorted.
	created     map[string][]time.Time
	collections []*cascade // the requests that deleted one
	// emptied is when the namespace controller asked for the contents of a namespace without the log showing what
	// they were, by type, and when it found nothing left, without a type.
	emptied map[place][]time.Time
}

func newHistory(e Evidence) *history {
	h := &history{
		Evidence: e, types: newTypes(e), byUID: map[types.UID]*subject{}, byPlace: map[place]*names{},
		created: map[string][]time.Time{}, emptied: map[place][]time.Time{},
	}
	h.scan()
	requests := sorted(e.Requests, func(r *Request) time.Time { return r.Received })
	lines := sorted(e.Lines, func(l *Line) time.Time { return l.Time })
	for _, r := range requests {
		h.see(r)
	}
	for _, l := range lines {
		h.meet(l)
	}
	for _, r := range requests {
		for i := range r.Objects {
			for _, owner := range r.Objects[i].Owners {
				h.referenced(r.Target.Namespace, owner, r.Received)
			}
		}
	}
	for _, s := range slices.Clone(h.subjects) {
		for _, r := range s.owners {
			h.referenced(s.Namespace, r, s.created.Add(time.Second))
		}
	}
	for _, r := range requests {
		h.judgeRequest(r)
	}
	for _, l := range lines {
		h.read(l)
	}
	return h
}

// sorted returns pointers to the items, by time.
func sorted[T any](items []T, at func(*T) time.Time) []*T {
	out := make([]*T, len(items))
	for i := range out {
		out[i] = &items[i]
	}
	slices.SortStableFunc(out, func(a, b *T) int { return at(a).Compare(at(b)) })
	return out
}

// scan takes what the earlier scan has.
func (h *history) scan() {
	if h.Before == nil {
		return
	}
	for n, o := range h.Before.Objects {
		if o.Contested {
			continue
		}
		s := h.subject(o.Identity, h.types.at(o.Identity))
		s.before = graph.Node(n)
		s.seen(o, h.Before.Taken)
	}
}

// seen takes what the metadata of an object says at a time. Later sightings win.
func (s *subject) seen(o *object.Object, at time.Time) {
	s.real = true
	if !o.Created.IsZero() {
		s.created = o.Created
	}
	if o.Deleted != nil && s.begun.IsZero() {
		s.begun = o.DeletionRequested()
	}
	if o.Node != nil {
		s.node = o.Node.Name
	}
	s.exists(at)
	if !s.known || !at.Before(s.knownAt) {
		s.known, s.knownAt, s.owners, s.held = true, at, o.Owners, len(o.Finalizers) > 0
	}
}

// exists takes that an object exists at a time.
func (s *subject) exists(at time.Time) {
	if s.firstSeen.IsZero() || at.Before(s.firstSeen) {
		s.firstSeen = at
	}
	if at.After(s.lastSeen) {
		s.lastSeen = at
	}
}

// subject returns the object with that UID.
func (h *history) subject(i object.Identity, at place) *subject {
	s := h.byUID[i.UID]
	if s == nil {
		s = &subject{Identity: i, at: at, segment: -1, before: graph.None}
		h.byUID[i.UID] = s
		h.subjects = append(h.subjects, s)
		h.names(at).subjects = append(h.names(at).subjects, s)
	}
	switch {
	case s.Name == "": // a line had the UID alone
		s.Identity, s.at = i, at
		h.names(at).subjects = append(h.names(at).subjects, s)
	case s.Kind == "":
		s.Kind = i.Kind
	}
	return s
}

func (h *history) names(at place) *names {
	n := h.byPlace[at]
	if n == nil {
		n = &names{}
		h.byPlace[at] = n
	}
	return n
}

// target returns where the target of a request is, and its identity.
func (h *history) target(r *Request, s *Seen) (object.Identity, place) {
	gr := schema.GroupResource{Group: r.Target.Group, Resource: r.Target.Resource}
	i := object.Identity{
		APIVersion: schema.GroupVersion{Group: gr.Group, Version: r.Target.Version}.String(), Kind: h.types.kinds[gr],
		Namespace: r.Target.Namespace, Name: r.Target.Name, UID: r.Target.UID,
	}
	if s != nil {
		i.Name, i.UID = s.Name, s.UID
		if i.Namespace == "" {
			i.Namespace = s.Namespace
		}
	}
	return i, place{gr, i.Namespace, i.Name}
}

// see takes the UIDs and the metadata in a request, and what it creates.
func (h *history) see(r *Request) {
	switch r.Target.Subresource {
	case "", "status":
	case "eviction":
		_, at := h.target(r, nil)
		h.names(at).deletes = append(h.names(at).deletes, r.Received)
		return
	case "finalize": // the namespace controller's last write; others who finalize may leave contents behind
		if role, _ := roleOf(r.User.Name, r.User.Agent); role == RoleNamespace {
			h.emptied[place{namespace: r.Target.Name}] = append(h.emptied[place{namespace: r.Target.Name}], r.Received)
		}
	default: // has an object of another kind with the same UID
		return
	}
	var s *subject
	for i := range r.Objects {
		o := &r.Objects[i]
		if o.UID == "" {
			continue
		}
		id, at := h.target(r, o)
		s = h.subject(id, at)
		if o.Whole != nil && (s.whole == nil || s.begun.IsZero() && (o.Deleted == nil || r.Verb == "delete")) {
			s.whole = o.Whole
		}
		// the items of a collection are as they were before
		s.seen(&o.Object, r.Received)
		if r.Verb != "create" && r.Verb != verbCollection && !id.IsNamespace() && s.gone.IsZero() &&
			(o.Deleted == nil && r.Verb == "delete" || o.Deleted != nil && len(o.Finalizers) == 0 && !o.InGracePeriod()) {
			s.gone = r.Answered
		}
	}
	if len(r.Objects) == 0 && r.Target.UID != "" && r.Target.Name != "" {
		id, at := h.target(r, nil)
		s = h.subject(id, at)
		first := s.firstSeen
		s.exists(r.Received)
		if s.real = true; strings.HasPrefix(r.User.Name, kubeletUser) {
			s.firstSeen = first
		}
		if r.Verb == "delete" && (r.Options == nil || r.Options.UID == "") {
			s.gone = r.Answered // the answer is a Status with the UID
		}
	}
	_, at := h.target(r, nil)
	switch {
	case s == nil && r.Verb == "delete":
		h.names(at).deletes = append(h.names(at).deletes, r.Received)
	case (r.Verb == "update" || r.Verb == "patch") && r.Target.Subresource == "":
		h.names(at).written = r.Received
	}
	if r.Verb != "create" || r.Target.Subresource != "" {
		return
	}
	var o *Seen
	if len(r.Objects) == 1 {
		o = &r.Objects[0]
	}
	id, at := h.target(r, o)
	if id.Name == "" {
		return
	}
	h.created[id.Namespace] = append(h.created[id.Namespace], r.Received)
	n := h.names(at)
	n.creates = append(n.creates, create{r.Received, s})
	if s != nil {
		s.segment = len(n.creates)
	}
}

// referenced takes an owner that only references name. It is taken to exist when a dependent of it is created.
func (h *history) referenced(namespace string, r object.Reference, at time.Time) {
	if r.UID == "" || h.byUID[r.UID] != nil {
		return
	}
	gvk := r.GroupVersionKind()
	gr := h.types.resource(gvk)
	if !h.types.namespaced[gr] {
		namespace = ""
	}
	h.subject(object.Identity{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: namespace, Name: r.Name, UID: r.UID}, place{gr, namespace, r.Name}).exists(at)
}

// segmentOf returns the number of creates of the place until s was created; -1 if that is unknown. The
// API server that logs a create has also set the creationTimestamp, which has no fractions of a second.
// Whoever is seen after a create comes from it or from a later one.
func (n *names) segmentOf(s *subject) int {
	until := s.created.Add(time.Second)
	if s.created.IsZero() {
		until = s.lastSeen
	}
	if s.segment < 0 && !until.IsZero() {
		s.segment = sort.Search(len(n.creates), func(i int) bool { return !n.creates[i].at.Before(until) })
	}
	return s.segment
}

// manyNames is how many objects of one name are told apart without UIDs.
const manyNames = 1000

// resolve returns the object that had the name at a time. Only a create in the log, or a UID, tells
// objects of one name apart; if two may be meant, it is neither of them.
func (h *history) resolve(i object.Identity, at place, t time.Time) *subject {
	n := h.names(at)
	segment := sort.Search(len(n.creates), func(i int) bool { return n.creates[i].at.After(t) })
	var found *subject
	several := false
	for i, s := range n.subjects {
		if several = i == manyNames; several {
			break
		}
		in := n.segmentOf(s)
		if s.UID == "" || in >= 0 && in != segment || s.created.After(t.Add(tolerance)) {
			continue
		}
		if several = found != nil || in < 0 && len(n.creates) > 0 || n.perhapsLater(s, t); several {
			break
		}
		found = s
	}
	if found != nil && !several {
		return found
	}
	s := n.unnamed[segment]
	if s == nil {
		if n.unnamed == nil {
			n.unnamed = map[int]*subject{}
		}
		i.UID = ""
		s = &subject{Identity: i, at: at, segment: segment, several: several, before: graph.None}
		if segment > 0 && !several {
			s.created = n.creates[segment-1].at
		}
		n.unnamed[segment] = s
		n.subjects, h.subjects = append(n.subjects, s), append(h.subjects, s)
	}
	return s
}

// perhapsLater reports that s may have been created after a time: it is seen after a request that may have
// deleted an earlier object of the name. The log may lack a create.
func (n *names) perhapsLater(s *subject, t time.Time) bool {
	i := sort.Search(len(n.deletes), func(i int) bool { return !n.deletes[i].Before(t) })
	return s.created.IsZero() && i < len(n.deletes) && n.deletes[i].Before(s.firstSeen)
}

// judgeRequest takes deletions, and metadata without a UID.
func (h *history) judgeRequest(r *Request) {
	id, at := h.target(r, nil)
	switch {
	case r.Verb == "create" && r.Target.Subresource == "eviction":
		h.resolveUID(id, at, r).add(r, verbEvict, nil, false)
	case r.Target.Subresource != "":
	case r.Verb == "delete" && id.Name != "":
		h.resolveUID(id, at, r).add(r, "delete", nil, false)
	case r.Verb == verbCollection:
		c := newCollection(r, at)
		for i := range r.Objects {
			if o := &r.Objects[i]; o.UID != "" {
				h.byUID[o.UID].add(r, verbCollection, c, o.Deleted != nil)
			}
		}
		h.collections = append(h.collections, c)
		if c.By.Role == RoleNamespace && r.Options == nil {
			h.emptied[at] = append(h.emptied[at], r.Received)
		}
	case r.Verb == "create" && len(r.Objects) == 0 && id.Name != "": // at level Metadata
		s := h.resolve(id, at, r.Received)
		s.real = true
		s.exists(r.Received)
	case r.Verb == "create" && len(r.Objects) == 1 && r.Objects[0].UID == "" && r.Objects[0].Name != "":
		o := &r.Objects[0]
		id, at = h.target(r, o)
		h.resolve(id, at, r.Received).seen(&o.Object, r.Received)
	}
}

const (
	verbCollection = "deletecollection"
	verbEvict      = "evict"
)

// resolveUID returns whom a deletion is about.
func (h *history) resolveUID(i object.Identity, at place, r *Request) *subject {
	if s := h.byUID[i.UID]; i.UID != "" && s != nil {
		return s
	}
	return h.resolve(i, at, r.Received)
}

// add takes a request for the deletion of s.
func (s *subject) add(r *Request, verb string, c *cascade, marked bool) {
	s.real = true
	s.events = append(s.events, event{r.Received, r, policyOf(r.Options), actorOf(r.User), verb, c, marked})
}

func policyOf(o *DeleteOptions) string {
	switch {
	case o == nil:
		return ""
	case o.Policy == "":
		return policyDefault
	}
	return o.Policy
}

const policyDefault = "Default"

// meet takes the UIDs in a line of the log of kube-controller-manager. A line that the collector processes
// an object proves nothing: it also processes owners that are nowhere.
func (h *history) meet(l *Line) {
	if l.Says == Started || l.Says == Processes {
		return
	}
	for _, i := range []object.Identity{l.Object, l.Owner} {
		if i.UID != "" && (i == l.Object || l.Says == OwnerElsewhere || l.Says == OwnerInForeground) {
			h.subject(i, h.types.at(i)).real = true
		}
	}
}

// read takes what a line says. Lines are sorted by time.
func (h *history) read(l *Line) {
	if l.Says == Started || l.Says == Processes {
		return
	}
	s := h.byUID[l.Object.UID]
	if l.Object.UID == "" {
		s = h.resolve(l.Object, h.types.at(l.Object), l.Time)
	}
	switch l.Says {
	case Deletes:
		s.events = append(s.events, event{at: l.Time, policy: l.Policy, actor: Actor{Role: RoleCollector}, verb: "delete"})
	case Gone:
		if s.gone.IsZero() {
			s.gone = l.Time
		}
	case RemovesReference:
		s.lines = nil
	default:
		s.lines = append(s.lines, l)
		h.referenced(s.Namespace, reference(l.Owner), time.Time{})
		if owner := h.byUID[l.Owner.UID]; l.Says == OwnerWaits && owner != nil {
			owner.real = true
		}
	}
}

func reference(i object.Identity) object.Reference {
	return object.Reference{APIVersion: i.APIVersion, Kind: i.Kind, Name: i.Name, UID: i.UID}
}

// createdWithin reports whether something was created in a namespace after one time and before another.
func (h *history) createdWithin(namespace string, from, to time.Time) bool {
	times := h.created[namespace]
	i := sort.Search(len(times), func(i int) bool { return times[i].After(from) })
	return i < len(times) && times[i].Before(to)
}

// createdWithin is that for objects of the name.
func (n *names) createdWithin(from, to time.Time) bool {
	i := sort.Search(len(n.creates), func(i int) bool { return n.creates[i].at.After(from) })
	return i < len(n.creates) && n.creates[i].at.Before(to)
}
