package trace

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Facts are what was read, by object. They do not depend on the order in which it was read, and what was read
// twice counts once. Only Explain draws conclusions. The zero value is not ready: see NewFacts.
type Facts struct {
	sources []*Source
	files   map[string]int32 // index in the sources
	types   *typeMap
	scan    *snapshot.Snapshot // nil without one

	seed  maphash.Seed
	taken map[uint64]bool // requests, by all that tells them apart

	actors   map[string]*Deleter
	subjects []*subject
	byUID    map[types.UID]*subject

	// Of requests and lines that do not tell the UID.
	nameless []nameless
	written  map[object.Address]write // the last update or patch, which the log does not show

	owners      map[types.UID][]object.Reference // the last lists, by the UID of the first owner: objects share them
	created     map[string][]instant             // creates by namespace; sorted once everything is read
	collections []*cascade
	// emptied is when the namespace controller asked for the contents of a namespace without the log showing what
	// they were, by type, and when it found nothing left, without a type.
	emptied map[object.Address][]instant

	requests, lines int
	log             []Line               // but for those that the collector looks at an object
	kept            map[[2]types.UID]int // index in the log, by object and owner that exists
	looked          map[types.UID]*Looked
	processed       int // lines that the collector looks at something
}

// nameless is a request or a line about what had a name then: a create, if it has neither of these.
type nameless struct {
	at      object.Address // of a line, once the types are known
	version string         // of the API of a request
	when    instant
	asked   *asked
	line    *Line
}

// identity returns what is known of the object.
func (n *nameless) identity() object.Identity {
	if n.line != nil {
		return n.line.Object
	}
	return object.Identity{APIVersion: schema.GroupVersion{Group: n.at.Type.Group, Version: n.version}.String(), Namespace: n.at.Namespace, Name: n.at.Name}
}

// subject is one object, as far as the evidence tells it from others of its name. A log may have millions, few of
// which are deleted.
type subject struct {
	object.Identity
	resource  schema.GroupResource // empty until it is known
	real      bool                 // it is seen itself, not only named by a reference
	node      string               // of a Pod; empty if it is on none, or that is unknown
	created   int64                // microseconds since 1970, by the request that created it or else its creationTimestamp; 0 if unknown
	sightings []sighting
	first     instant // when it is known to exist, but for requests of kubelets
	last      int64   // when it is known to exist at last: microseconds since 1970
	whole     wholeAt
	*fate     // never nil; those share one that nothing more is known of: see own
}

// fate is what happened to an object, and what was said of it.
type fate struct {
	asked    []asked
	freed    []freed
	lines    []*Line    // about its owners
	unseen   []write    // the log does not show what they left
	gone     instant    // when it vanished, by an answer or else by a line; zero if that is unknown
	goneLine instant    // by a line alone
	orphaned bool       // a line says that its dependents were to stay
	before   graph.Node // in the earlier scan
	several  bool       // it stands for objects that the evidence cannot tell apart
	deletion *deletion
}

var nothingMore = fate{before: graph.None}

// own returns the fate of s, to change it.
func (s *subject) own() *fate {
	if s.fate == &nothingMore {
		s.fate = &fate{before: graph.None}
	}
	return s.fate
}

// address is where it is. Its resource and namespace are known once everything is read.
func (s *subject) address() object.Address {
	return object.Address{Type: s.resource, Namespace: s.Namespace, Name: s.Name}
}

// sighting is what the server said of the metadata of an object at a time.
type sighting struct {
	when    instant
	owners  []object.Reference
	labels  unique.Handle[string] // as a selector; the zero value if they are unknown
	deleted uint32                // when its deletion was requested, by its deletionTimestamp: seconds since 1970; 0 if it was not
	by      *Deleter              // who wrote it so; nil for a scan
	held    bool                  // by finalizers
	orphans bool                  // its dependents, by a finalizer, unless the request for its deletion says otherwise
	creates bool
}

// same reports whether two sightings say the same.
func (v *sighting) same(o *sighting) bool {
	return v.held == o.held && v.orphans == o.orphans && v.deleted == o.deleted && slices.EqualFunc(v.owners, o.owners, object.Reference.Equal)
}

// lastSighting returns what was seen of s last until a time, or else first after it. It reports false if it was not seen.
func (s *subject) lastSighting(until instant) (sighting, bool) {
	for i := len(s.sightings) - 1; i >= 0; i-- {
		if v := s.sightings[i]; !until.known() || v.when.us <= until.us || i == 0 {
			return v, true
		}
	}
	return sighting{}, false
}

// write is an update or a patch whose result the log does not show.
type write struct {
	when instant
	by   *Deleter
}

// freed is an owner to which the collector removed the reference.
type freed struct {
	when  instant
	owner types.UID
}

// asked is a request for the deletion of an object, or a line about one.
type asked struct {
	when, answered instant
	by             *Deleter
	verb, policy   string
	basis          *Basis // nil for a line
	result         RequestResult
	mayBeDryRun    bool
	ends           bool      // the answer shows that the object was gone then
	collection     *cascade  // that it was part of; nil if it was not
	wasMarked      bool      // of the item of a collection: it was being deleted before
	target         types.UID // of the request; empty if the log has none
	byName         bool      // that it was for this object of the name is not in the log
}

// wholeAt is where a log has the whole object; rank is 0 if none has.
type wholeAt struct {
	when   int64 // microseconds since 1970
	offset int64
	file   int32
	rank   int8 // of several, the first answer to a deletion counts, or else the last one before it, or else the first one after it
}

const (
	wholeAfter int8 = iota + 1
	wholeBefore
	wholeAnswer
)

// NewFacts returns the facts of an earlier scan, which is nil without one.
func NewFacts(before *snapshot.Snapshot) *Facts {
	f := &Facts{
		files: map[string]int32{}, types: newTypes(before), scan: before, seed: maphash.MakeSeed(), taken: map[uint64]bool{},
		actors: map[string]*Deleter{}, byUID: map[types.UID]*subject{}, written: map[object.Address]write{}, created: map[string][]instant{}, owners: map[types.UID][]object.Reference{}, emptied: map[object.Address][]instant{},
		looked: map[types.UID]*Looked{}, kept: map[[2]types.UID]int{},
	}
	if before == nil {
		return f
	}
	for n, o := range before.Objects {
		if !o.Contested {
			s := f.subject(o.Identity, schema.GroupResource{})
			s.own().before = graph.Node(n)
			f.see(s, o, &sighting{when: ofScan(before.Taken)})
		}
	}
	return f
}

// actor returns who sent a request. Requests of one sender share it.
func (f *Facts) actor(u *RequestUser) *Deleter {
	key := strings.Join(append([]string{u.Name, u.Impersonator, u.Agent}, u.Addresses...), "\x00")
	a := f.actors[key]
	if a == nil {
		a = actorOf(u)
		f.actors[key] = a
	}
	return a
}

// Source tells what a file can show. Its requests and lines may come before or after.
func (f *Facts) Source(s *Source) { *f.sources[f.file(s.File)] = *s }

func (f *Facts) file(name string) int32 {
	i, ok := f.files[name]
	if !ok {
		i = int32(len(f.sources))
		f.files[name], f.sources = i, append(f.sources, &Source{File: name})
	}
	return i
}

// subject returns the object with that UID. Of its identity, what is told first and completely counts.
func (f *Facts) subject(i object.Identity, gr schema.GroupResource) *subject {
	s := f.byUID[i.UID]
	if s == nil {
		s = &subject{Identity: i, fate: &nothingMore}
		f.byUID[i.UID] = s
		f.subjects = append(f.subjects, s)
	}
	if s.Name == "" {
		s.APIVersion, s.Namespace, s.Name = cmp.Or(i.APIVersion, s.APIVersion), i.Namespace, i.Name
	}
	s.Kind = cmp.Or(s.Kind, i.Kind)
	s.APIVersion = cmp.Or(s.APIVersion, i.APIVersion)
	if s.resource.Resource == "" {
		s.resource = gr
	}
	return s
}

// see takes the metadata of an object.
func (f *Facts) see(s *subject, o *object.Object, as *sighting) {
	s.real = true
	if !o.Created.IsZero() && s.created == 0 {
		s.created = o.Created.UnixMicro()
	}
	if o.Node != nil {
		s.node = unique.Make(o.Node.Name).Value()
	}
	if as.owners, as.held = f.shared(o.Owners), len(o.Finalizers) > 0; o.Labels != nil || as.when.file != fileOfScan {
		as.labels = unique.Make(labels.Set(o.Labels).String())
	}
	as.orphans = slices.Contains(o.Finalizers, metav1.FinalizerOrphanDependents)
	if o.Deleted != nil {
		as.deleted = uint32(min(max(o.DeletionRequested().Unix(), 1), math.MaxUint32)) // no server is that early or late
	}
	s.existed(as.when)
	// Of a run of those that say the same, most of what a log has, the first and the last are kept.
	if n := len(s.sightings); n > 1 {
		first, last := &s.sightings[n-2], &s.sightings[n-1]
		if as.same(first) && as.same(last) && first.when.us <= last.when.us && last.when.us <= as.when.us {
			*last = *as
			return
		}
	}
	s.sightings = append(s.sightings, *as)
}

// maxLists is how many lists of owners are remembered. Objects that share one usually are close together.
const maxLists = 4096

// shared returns a list of owners that another object has as well, if there is one.
func (f *Facts) shared(owners []object.Reference) []object.Reference {
	if len(owners) == 0 {
		return nil
	}
	first := owners[0].UID
	if !slices.EqualFunc(f.owners[first], owners, object.Reference.Equal) {
		if len(f.owners) == maxLists {
			clear(f.owners)
		}
		f.owners[first] = owners
	}
	return f.owners[first]
}

// existed takes that an object exists at a time.
func (s *subject) existed(at instant) {
	if !s.first.known() || at.us < s.first.us {
		s.first = at
	}
	if s.last == 0 || at.us > s.last {
		s.last = at.us
	}
}

// Request takes what a request shows.
func (f *Facts) Request(r *Request) {
	// The ID alone does not tell a request from others: a client may choose it. Another copy may lack the bodies, which have the UID.
	target := r.Target
	target.UID = ""
	key := maphash.Comparable(f.seed, struct {
		id, verb, user     string
		of                 RequestTarget
		received, answered int64
	}{r.ID, r.Verb, r.User.Name, target, r.Received.UnixNano(), r.Answered.UnixNano()})
	if r.ID != "" {
		if f.taken[key] {
			return // the same file again, or a part of it
		}
		f.taken[key] = true
	}
	f.requests++
	when := instant{r.Received.UnixMicro(), f.file(r.Place.File)}
	gr := schema.GroupResource{Group: r.Target.Group, Resource: r.Target.Resource}
	f.types.request(gr, r)
	switch r.Target.Subresource {
	case "", "status":
	case "eviction":
		f.asks(r, gr, when, verbEvict)
		return
	case "finalize": // the namespace controller's last write; others who finalize may leave contents behind
		if f.actor(&r.User).Role == RoleNamespace && r.Result == Done {
			f.emptied[object.Address{Namespace: r.Target.Name}] = append(f.emptied[object.Address{Namespace: r.Target.Name}], when)
		}
		return
	default: // has an object of another kind with the same UID
		return
	}
	switch {
	case r.Verb == verbCollection:
		f.collection(r, gr, when)
		return
	case r.Target.Subresource == "" && r.Verb == "delete":
		f.asks(r, gr, when, "delete")
		return
	}
	f.writes(r, gr, when)
}

// identity returns the target of a request.
func identity(r *Request, gr schema.GroupResource, s *Seen) object.Identity {
	i := object.Identity{
		APIVersion: schema.GroupVersion{Group: gr.Group, Version: r.Target.Version}.String(),
		Namespace:  r.Target.Namespace, Name: r.Target.Name, UID: r.Target.UID,
	}
	if s != nil {
		i.Name, i.UID, i.Namespace = s.Name, s.UID, cmp.Or(i.Namespace, s.Namespace)
		if s.Kind != "" && s.GroupVersionKind().Group == gr.Group {
			i.APIVersion, i.Kind = s.APIVersion, s.Kind
		}
	}
	return i
}

// writes takes a create, an update or a patch.
func (f *Facts) writes(r *Request, gr schema.GroupResource, when instant) {
	creates := r.Verb == "create" && r.Target.Subresource == ""
	if r.MayBeDryRun || creates && r.Result != Done {
		return
	}
	actor := f.actor(&r.User)
	var s *subject
	if len(r.Objects) == 1 && r.Objects[0].UID != "" {
		o := &r.Objects[0]
		s = f.subject(identity(r, gr, o), gr)
		f.see(s, &o.Object, &sighting{when: when, by: actor, creates: creates || r.Code == Created})
		if creates {
			s.created = when.us
		}
		s.holds(o, r, when)
		if o.Deleted != nil && len(o.Finalizers) == 0 && !o.InGracePeriod() && !s.IsNamespace() {
			s.vanished(instant{r.Answered.UnixMicro(), when.file})
		}
	} else if r.Target.UID != "" && r.Target.Name != "" {
		s = f.subject(identity(r, gr, nil), gr)
		if r.Result == Done {
			s.existed(when)
		}
		if s.real = s.real || r.Result == Done; r.Target.Subresource == "" && !creates {
			s.own().unseen = append(s.unseen, write{when, actor})
		}
	}
	if s != nil && actor.Role == RoleCollector && r.Result == Done {
		for _, owner := range r.Unlinked {
			s.own().freed = append(s.freed, freed{when, owner})
		}
	}
	id := identity(r, gr, nil)
	if creates {
		f.created[id.Namespace] = append(f.created[id.Namespace], when)
	}
	switch at := (object.Address{Type: gr, Namespace: id.Namespace, Name: id.Name}); {
	case s != nil || id.Name == "" || r.Target.Subresource != "":
	case creates:
		f.nameless = append(f.nameless, nameless{at: at, version: r.Target.Version, when: when})
	case f.written[at].when.us < when.us:
		f.written[at] = write{when, actor}
	}
}

// holds takes that a log has the whole of an object at an address.
func (s *subject) holds(o *Seen, r *Request, when instant) {
	w := wholeAt{when.us, r.Place.Offset, when.file, wholeAfter}
	switch {
	case !o.Whole:
		return
	case o.Deleted == nil:
		w.rank = wholeBefore
	case r.Verb == "delete":
		w.rank = wholeAnswer
	}
	if earlier := w.when < s.whole.when; w.rank > s.whole.rank || w.rank == s.whole.rank && earlier == (w.rank != wholeBefore) {
		s.whole = w
	}
}

func (s *subject) vanished(at instant) {
	if !s.gone.known() || at.us < s.gone.us {
		s.own().gone = at
	}
}

const (
	verbCollection = "deletecollection"
	verbEvict      = "evict"
)

func policyOf(o *DeleteOptions) string {
	if o == nil {
		return ""
	}
	return cmp.Or(o.Policy, policyDefault)
}

const policyDefault = "Default"

// newAsked returns the request for a deletion.
func newAsked(r *Request, actor *Deleter, when instant, verb string) asked {
	return asked{
		when: when, answered: instant{r.Answered.UnixMicro(), when.file}, by: actor, verb: verb, policy: policyOf(r.Options),
		basis: &Basis{Place: r.Place, ID: r.ID, Code: r.Code}, result: r.Result, mayBeDryRun: r.MayBeDryRun && actor.asks(), target: r.Target.UID,
	}
}

// asks takes a request to delete one object, or to evict a Pod.
func (f *Facts) asks(r *Request, gr schema.GroupResource, when instant, verb string) {
	a := newAsked(r, f.actor(&r.User), when, verb)
	var s *subject
	if len(r.Objects) == 1 && r.Objects[0].UID != "" && r.Result == Done {
		o := &r.Objects[0]
		s = f.subject(identity(r, gr, o), gr)
		f.see(s, &o.Object, &sighting{when: when})
		s.holds(o, r, when)
		a.ends = o.Deleted == nil || len(o.Finalizers) == 0 && !o.InGracePeriod()
	} else if r.Target.UID != "" && r.Target.Name != "" {
		s = f.subject(identity(r, gr, nil), gr)
		if s.real = true; r.Result == Done && a.by.Role != RoleKubelet { // that ends what others began before
			s.existed(when)
		}
		a.ends = verb == "delete" && (r.Options == nil || r.Options.UID == "") // the answer is a Status with the UID
	}
	if a.ends && r.Result == Done && !a.mayBeDryRun && s != nil && !s.IsNamespace() {
		s.vanished(a.answered)
	}
	switch id := identity(r, gr, nil); {
	case s != nil:
		s.own().asked = append(s.asked, a)
	case id.Name != "":
		f.nameless = append(f.nameless, nameless{at: object.Address{Type: gr, Namespace: id.Namespace, Name: id.Name}, version: r.Target.Version, when: when, asked: &a})
	}
}

// collection takes a deletecollection.
func (f *Facts) collection(r *Request, gr schema.GroupResource, when instant) {
	if r.Result == Refused {
		return
	}
	a := newAsked(r, f.actor(&r.User), when, verbCollection)
	a.collection = newCollection(r, a.by, gr)
	a.collection.asked, a.collection.listed, a.collection.file = a.reason(), len(r.Objects) > 0, when.file
	if !a.certain() {
		a.collection.Perhaps, a.collection.Root = true, reason.PerhapsDone(a.reason())
	}
	for i := range r.Objects {
		o := &r.Objects[i]
		if o.UID == "" {
			continue
		}
		s := f.subject(identity(r, gr, o), gr)
		f.see(s, &o.Object, &sighting{when: when}) // as it was before
		s.holds(o, r, when)
		a.wasMarked = o.Deleted != nil
		s.own().asked = append(s.asked, a)
	}
	f.collections = append(f.collections, a.collection)
	if a.collection.By.Role == RoleNamespace && !a.collection.listed {
		at := object.Address{Type: gr, Namespace: r.Target.Namespace, Name: ""}
		f.emptied[at] = append(f.emptied[at], when)
	}
}

// Line takes what a line says.
func (f *Facts) Line(l *Line) {
	if f.lines++; l.Says == Processes {
		f.looks(l)
		return
	}
	if l.Says == OwnerExists { // said again and again: the latest is enough
		key := [2]types.UID{l.Object.UID, l.Owner.UID}
		if at, ok := f.kept[key]; ok {
			f.log[at] = *l
			return
		}
		f.kept[key] = len(f.log)
	}
	f.log = append(f.log, *l)
}

// takeLines takes what the lines say, once their times are right.
func (q *inquiry) takeLines() {
	right := q.corrections()
	for _, l := range q.looked {
		l.From, l.To = right[l.file].of(l.From), right[l.file].of(l.To)
	}
	for i := range q.log {
		l := &q.log[i]
		l.Time = right[l.Place.File].of(l.Time)
		when := q.at(l)
		switch {
		case l.Says == Started || l.Says == Syncs || l.Says == NotWorking:
			q.collector = append(q.collector, l)
			if l.Says == Started {
				q.started = append(q.started, when)
			}
			continue
		case l.Object.UID == "" && l.Object.Name == "": // all in a namespace
			at := object.Address{Namespace: l.Object.Namespace}
			q.emptied[at] = append(q.emptied[at], when)
			continue
		case l.Object.UID == "":
			q.nameless = append(q.nameless, nameless{when: when, line: l})
			continue
		}
		s := q.subject(l.Object, schema.GroupResource{})
		s.real = true
		s.says(l, when)
		if l.Owner.UID != "" {
			owner := q.owner(s.Namespace, reference(l.Owner))
			known := l.Says == OwnerElsewhere && l.Owner.Namespace != "" || l.Says == OwnerInForeground
			if owner.real = owner.real || l.Says == OwnerWaits || known; known {
				owner.Namespace = l.Owner.Namespace
			}
		}
	}
}

// at returns when a line was written.
func (f *Facts) at(l *Line) instant { return instant{l.Time.UnixMicro(), f.file(l.Place.File)} }

// maxLooked is how many objects are counted at once. Whoever has a larger part of the lines than one of so many stays (Misra and
// Gries, Finding repeated elements).
const maxLooked = 64

// looks counts how often the collector looked at an object. That proves nothing else: it also looks at owners that are nowhere.
func (f *Facts) looks(l *Line) {
	f.processed++
	at := f.looked[l.Object.UID]
	switch {
	case at != nil:
		at.Times++
		at.To = l.Time
	case len(f.looked) < maxLooked:
		f.looked[l.Object.UID] = &Looked{Object: l.Object, Times: 1, From: l.Time, To: l.Time, file: l.Place.File}
	default:
		for uid, at := range f.looked {
			if at.Times--; at.Times == 0 {
				delete(f.looked, uid)
			}
		}
	}
}

// says takes what a line says of an object.
func (s *subject) says(l *Line, when instant) {
	switch l.Says {
	case Deletes:
		s.own().asked = append(s.asked, asked{when: when, answered: when, policy: l.Policy, by: actorIn(l), verb: "delete"})
	case Orphans:
		s.own().orphaned = true
	case Gone:
		if !s.goneLine.known() || when.us < s.goneLine.us {
			s.own().goneLine = when
		}
	default:
		s.own().lines = append(s.lines, l)
	}
}

// owner takes an owner that a reference names, which proves nothing: it may be gone, or never have been.
func (f *Facts) owner(namespace string, r object.Reference) *subject {
	if s := f.byUID[r.UID]; s != nil {
		return s
	}
	return f.subject(r.OwnerIn(namespace), schema.GroupResource{})
}

func reference(i object.Identity) object.Reference {
	return object.Reference{APIVersion: i.APIVersion, Kind: i.Kind, Name: i.Name, UID: i.UID}
}
