package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// handled is a request of an instance that the server has handled, whether or not the answer arrives.
type handled struct {
	life          string    // of an instance that sent it, such as "a.2"
	candidate     string    // the holder identity that this life uses in its Lease; empty until its first write of the Lease
	sent, at      time.Time // when it left the instance; when the server handled it
	method, path  string
	query         url.Values
	body          []byte
	before, after int // Revision of the server before and after
	status        int // of the server's answer
}

// answerTime is for how long an instance may rely on a read, although it has sent another one since: the
// answer to that can take half a minute, and what is backed up is read in between.
const answerTime = time.Minute

// interferenceTime is how long an instance may act after somebody else has changed its Lease: until
// it notices.
const interferenceTime = 12 * time.Second

// judge watches over what the instances of the collector do. Its methods are called one at a time, in
// the order in which the server handled the requests.
type judge struct {
	server  *apiserver.Server
	started time.Time

	pending    []apiserver.Event // not yet in the histories
	revision   int               // of the latest event in the histories
	objects    map[types.UID]*history
	places     map[place]*history       // by the place of the latest object there
	dependents map[types.UID][]*history // by each UID that an owner reference of theirs had

	requests int                              // so far
	kinds    map[schema.GroupVersionKind]bool // every kind that was ever served, and whether it is namespaced
	serving  map[schema.GroupResource]served
	reads    map[[2]string][]read // by life and path
	takes    []take

	interferences []time.Time
	failed        []string
}

// history has the states of one object, in the order of their revisions.
type history struct{ states []state }

type state struct {
	revision int
	object   *apiserver.Object // nil: gone
}

// place is where an object is, whatever the API version.
type place struct{ group, resource, namespace, name string }

// served is a type while the server serves it.
type served struct {
	since int      // after so many requests
	lists []string // the paths of all objects, in all versions
}

// read is a GET of an object or of a list.
type read struct {
	request  int // its number among all requests, from 1
	at       time.Time
	revision int
}

// take is a write by which a life became the holder of the Lease.
type take struct {
	life string
	at   time.Time
}

func newJudge(s *apiserver.Server) *judge {
	j := &judge{
		server: s, started: time.Now(),
		objects: map[types.UID]*history{}, places: map[place]*history{}, dependents: map[types.UID][]*history{},
		kinds: map[schema.GroupVersionKind]bool{}, serving: map[schema.GroupResource]served{}, reads: map[[2]string][]read{},
	}
	j.observeOthers()
	return j
}

// observe judges a request of an instance.
func (j *judge) observe(h handled) {
	j.requests++
	if h.after > j.revision {
		j.pending = append(j.pending, j.server.TakeEvents()...)
		j.recordUpTo(h.before)
	}
	switch {
	case h.method == http.MethodGet:
		j.observeRead(&h)
		return
	case !isWrite(&h):
		return
	case !isLease(&h):
		j.judgeTime(&h)
	}
	if h.after > h.before {
		was := j.places[placeOf(h.path)].at(h.before)
		event := j.eventOf(was)
		j.recordUpTo(h.after)
		j.judgeChange(&h, was, event)
		j.observeTypes()
	}
}

// observeOthers takes note of what users or faults have changed.
func (j *judge) observeOthers() {
	j.pending = append(j.pending, j.server.TakeEvents()...)
	j.recordUpTo(j.server.Revision())
	j.observeTypes()
}

// interfered notes that somebody else changed the Lease of the collectors, or lied about it.
func (j *judge) interfered(at time.Time) { j.interferences = append(j.interferences, at) }

// failures returns what the instances did wrong, one sentence each.
func (j *judge) failures() []string { return slices.Clone(j.failed) }

func (j *judge) fail(h *handled, format string, args ...any) {
	j.failed = append(j.failed, fmt.Sprintf("%s sent %s %s after %s, and the server handled it after %s at revisions %d to %d: ",
		h.life, h.method, h.path, h.sent.Sub(j.started), h.at.Sub(j.started), h.before, h.after)+fmt.Sprintf(format, args...)+".")
}

// recordUpTo adds the pending events up to a revision to the histories.
func (j *judge) recordUpTo(revision int) {
	for len(j.pending) > 0 {
		e := j.pending[0]
		at, _ := strconv.Atoi(e.Object.ResourceVersion)
		if at > revision {
			return
		}
		j.pending, j.revision = j.pending[1:], at
		o := &e.Object
		known := j.objects[o.UID]
		if known == nil {
			known = &history{}
			j.objects[o.UID] = known
		}
		j.places[place{o.Type.Group, o.Type.Resource, o.Namespace, o.Name}] = known
		for _, r := range o.OwnerReferences {
			if !slices.Contains(j.dependents[r.UID], known) {
				j.dependents[r.UID] = append(j.dependents[r.UID], known)
			}
		}
		if e.Type == watch.Deleted {
			o = nil
		}
		known.states = append(known.states, state{at, o})
	}
}

// eventOf returns the first pending event of an object, or nil.
func (j *judge) eventOf(o *apiserver.Object) *apiserver.Event {
	i := slices.IndexFunc(j.pending, func(e apiserver.Event) bool { return o != nil && e.Object.UID == o.UID })
	if i < 0 {
		return nil
	}
	return &j.pending[i]
}

// observeTypes takes note of what is served now.
func (j *judge) observeTypes() {
	now := map[schema.GroupResource]served{}
	for _, t := range j.server.Types() {
		of := served{since: j.requests}
		if known, ok := j.serving[t.GroupResource()]; ok {
			of.since = known.since
		}
		for _, version := range append([]string{t.Version}, t.OtherVersions...) {
			in := *t
			in.Version = version
			of.lists = append(of.lists, in.Path())
			for _, kind := range []string{t.Kind, strings.ToLower(t.Kind)} {
				j.kinds[in.GroupVersion().WithKind(kind)] = t.Namespaced
				j.kinds[schema.GroupVersionKind{Group: t.Group, Kind: kind}] = t.Namespaced // of a malformed apiVersion
			}
		}
		now[t.GroupResource()] = of
	}
	j.serving = now
}

// observeRead takes note of a GET that tells what exists.
func (j *judge) observeRead(h *handled) {
	q := h.query
	switch {
	case h.status != http.StatusOK && (h.status != http.StatusNotFound || placeOf(h.path).name == ""), q.Has("watch"), q.Has("continue"), q.Has("fieldSelector"), q.Has("labelSelector"):
		return
	case q.Has("limit") && placeOf(h.path).name == "": // it may be the first page of many, or only find out whether the type can be listed
		if limit, _ := strconv.Atoi(q.Get("limit")); limit > 0 && limit < j.count(placeOf(h.path)) {
			return
		}
	}
	key := [2]string{h.life, h.path}
	j.reads[key] = append(j.reads[key], read{j.requests, h.at, h.before})
}

// count returns how many objects a list has.
func (j *judge) count(list place) (n int) {
	for at, of := range j.places {
		if at.group == list.group && at.resource == list.resource && (list.namespace == "" || at.namespace == list.namespace) && of.latest() != nil {
			n++
		}
	}
	return n
}

// readBefore returns the revision of the oldest GET of any of these paths on which a request may rest.
func (j *judge) readBefore(h *handled, paths ...string) (revision int, found bool) {
	var latest, oldest read
	for _, path := range paths {
		for _, r := range j.reads[[2]string{h.life, path}] {
			switch {
			case r.at.After(h.sent):
			case h.sent.Sub(r.at) > answerTime && r.request > latest.request:
				latest = r
			case h.sent.Sub(r.at) <= answerTime && (oldest.request == 0 || r.request < oldest.request):
				oldest = r
			}
		}
	}
	if oldest.request > 0 {
		latest = oldest
	}
	return latest.revision, latest.request > 0
}

// scanBefore returns the latest scan of everything that was over when a request was sent: how the first
// lists of all types began that its life has requested after it has discovered what is served. A type that it
// has never listed since that is served is not in it.
func (j *judge) scanBefore(h *handled) (began read, lists map[schema.GroupResource]read) {
	first := func(paths []string, after int) (out read) {
		for _, path := range paths {
			for _, r := range j.reads[[2]string{h.life, path}] {
				if r.request > after && !r.at.After(h.sent) && (out.request == 0 || r.request < out.request) {
					out = r
				}
			}
		}
		return out
	}
	discoveries := j.reads[[2]string{h.life, "/api"}]
	for i, began := range slices.Backward(discoveries) {
		lists, complete := map[schema.GroupResource]read{}, true
		for of, t := range j.serving {
			if lists[of] = first(t.lists, max(began.request, t.since)); lists[of].request == 0 {
				delete(lists, of)
				complete = complete && first(t.lists, t.since).request == 0
			}
			if t.since > 0 && (i == 0 || t.since > discoveries[i-1].request) {
				delete(lists, of) // two scans may be under way: this one may have begun before the type was served
			}
		}
		if complete {
			return began, lists
		}
	}
	return read{}, nil
}

// judgeTime fails a write that its life had no right to send, as it did not hold the Lease.
func (j *judge) judgeTime(h *handled) {
	holder, ever := "", false
	var since time.Time
	for _, t := range j.takes {
		ever = ever || t.life == h.life
		if t.at.Before(h.sent) {
			holder, since = t.life, t.at
		}
	}
	late := func(at time.Time) bool { return !h.sent.Before(at) && h.sent.Sub(at) <= interferenceTime }
	switch {
	case !ever:
		j.fail(h, "it has never held the Lease")
	case holder != "" && holder != h.life && !slices.ContainsFunc(j.interferences, late):
		j.fail(h, "%s has held the Lease since %s after the start", holder, since.Sub(j.started))
	}
}

// judgeChange judges a write that has changed something. event is the first one of the object at its
// path, and was the object before.
func (j *judge) judgeChange(h *handled, was *apiserver.Object, event *apiserver.Event) {
	switch {
	case isLease(h) && h.method != http.MethodDelete:
		j.observeLease(h)
	case was == nil || event == nil:
		j.fail(h, "it changed something else than an object that existed: a collector only deletes and patches single objects")
	case h.method == http.MethodDelete:
		j.judgeDeletion(h, was)
	case h.method == http.MethodPatch:
		now := event.Object
		if event.Type == watch.Deleted { // the server removes what is terminating and has no finalizers left
			now = *was
			now.Finalizers = nil
		}
		j.judgePatch(h, was, &now)
	default:
		j.fail(h, "it changed %s: a collector only deletes and patches", nameOf(was))
	}
}

// observeLease takes note of who holds the Lease after a write.
func (j *judge) observeLease(h *handled) {
	lease := j.places[leasePlace].latest()
	if lease == nil {
		return
	}
	holder, _, _ := unstructured.NestedString(lease.Fields, "spec", "holderIdentity")
	took := holder != "" && (h.candidate == "" || holder == h.candidate)
	if took && (len(j.takes) == 0 || j.takes[len(j.takes)-1].life != h.life) {
		j.takes = append(j.takes, take{h.life, h.at})
	}
}

func (j *judge) judgeDeletion(h *handled, was *apiserver.Object) {
	var options metav1.DeleteOptions
	if err := json.Unmarshal(h.body, &options); err != nil {
		j.fail(h, "its body is no DeleteOptions: %v", err)
		return
	}
	p := options.Preconditions
	switch {
	case p == nil || p.UID == nil || *p.UID != was.UID:
		j.fail(h, "it deleted %s without its uid as a precondition", nameOf(was))
	case p.ResourceVersion == nil || *p.ResourceVersion != was.ResourceVersion:
		j.fail(h, "it deleted %s of resourceVersion %s without that as a precondition", nameOf(was), was.ResourceVersion)
	}
	switch {
	case len(was.OwnerReferences) == 0:
		j.fail(h, "it deleted %s, which has no owner references", nameOf(was))
	case was.DeletionTimestamp != nil:
		j.fail(h, "it deleted %s, whose deletion was under way", nameOf(was))
	}
	j.judgePolicy(h, was, options.PropagationPolicy)
	for _, r := range was.OwnerReferences {
		if why := j.kept(h, was, r); why != "" {
			j.fail(h, "it deleted %s, although %s", nameOf(was), why)
		}
	}
}

// judgePolicy requires the policy that the finalizers of an object ask for. An object with an owner that
// waits may be deleted in the foreground.
func (j *judge) judgePolicy(h *handled, was *apiserver.Object, got *metav1.DeletionPropagation) {
	want := metav1.DeletePropagationBackground
	switch {
	case slices.Contains(was.Finalizers, metav1.FinalizerOrphanDependents):
		want = metav1.DeletePropagationOrphan
	case slices.Contains(was.Finalizers, metav1.FinalizerDeleteDependents):
		want = metav1.DeletePropagationForeground
	}
	waits := func(r metav1.OwnerReference) bool {
		return j.objects[r.UID].ever(func(o *apiserver.Object) bool { return terminatingWith(o, metav1.FinalizerDeleteDependents) })
	}
	switch {
	case got == nil:
		j.fail(h, "it deleted %s without a policy", nameOf(was))
	case *got == want, *got == metav1.DeletePropagationForeground && slices.ContainsFunc(was.OwnerReferences, waits):
	default:
		j.fail(h, "it deleted %s with policy %s instead of %s", nameOf(was), *got, want)
	}
}

// kept returns why a reference keeps the collector from deleting its object; empty if it does not.
func (j *judge) kept(h *handled, dependent *apiserver.Object, r metav1.OwnerReference) string {
	gvk := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	if _, known := j.kinds[gvk]; !known {
		j.observeTypes()
	}
	namespaced, known := j.kinds[gvk]
	from, to := h.before, h.before
	owner := j.objects[r.UID]
	if o := owner.any(); o != nil {
		if revision, found := j.readBefore(h, pathsOf(o)...); found {
			from = revision
		}
	}
	solid := func(o *apiserver.Object) bool {
		return isAt(o, gvk.GroupKind(), dependent.Namespace, r.Name) && !terminatingWith(o, metav1.FinalizerDeleteDependents)
	}
	switch {
	case owner.throughout(from, to, solid):
		return fmt.Sprintf("its owner %s existed and did not wait for its dependents at revisions %d to %d", nameOf(owner.at(to)), from, to)
	case !known:
		return fmt.Sprintf("%s of its owner %q was never served, so that nothing is known about that", gvk, r.Name)
	case namespaced && dependent.Namespace == "":
		return fmt.Sprintf("its owner %s %q cannot be found, as the object has no namespace", r.Kind, r.Name)
	}
	return ""
}

// judgePatch allows a patch only what the collector changes.
func (j *judge) judgePatch(h *handled, was, now *apiserver.Object) {
	if !equality.Semantic.DeepEqual(rest(was), rest(now)) || !equality.Semantic.DeepEqual(was.Fields, now.Fields) || !slices.Equal(was.SpecFinalizers, now.SpecFinalizers) {
		j.fail(h, "it changed more of %s than references and finalizers", nameOf(was))
	}
	j.judgeReferences(h, was, now)
	for _, f := range now.Finalizers {
		if !slices.Contains(was.Finalizers, f) {
			j.fail(h, "it added the finalizer %s to %s", f, nameOf(was))
		}
	}
	for _, f := range was.Finalizers {
		if !slices.Contains(now.Finalizers, f) {
			j.judgeRemovedFinalizer(h, was, f)
		}
	}
}

// rest returns the metadata that a patch must not change.
func rest(o *apiserver.Object) *metav1.ObjectMeta {
	out := o.ObjectMeta
	out.OwnerReferences, out.Finalizers, out.ResourceVersion = nil, nil, ""
	return &out
}

func (j *judge) judgeReferences(h *handled, was, now *apiserver.Object) {
	for _, r := range now.OwnerReferences {
		if !slices.ContainsFunc(was.OwnerReferences, func(old metav1.OwnerReference) bool { return equal(old, r) && (blocks(old) || !blocks(r)) }) {
			j.fail(h, "it added or changed a reference of %s to %s %q", nameOf(was), r.Kind, r.Name)
		}
	}
	orphaning := func(o *apiserver.Object) bool { return terminatingWith(o, metav1.FinalizerOrphanDependents) }
	unlinked := false
	for _, r := range was.OwnerReferences {
		left := func(of func(metav1.OwnerReference) bool) bool {
			return slices.ContainsFunc(now.OwnerReferences, func(n metav1.OwnerReference) bool { return equal(n, r) && of(n) })
		}
		switch {
		case !left(func(metav1.OwnerReference) bool { return true }):
			if j.objects[r.UID].ever(orphaning) {
				continue // the references go, whatever they are and whatever becomes of the owner
			}
			unlinked = true
			if why := j.kept(h, was, r); why != "" {
				j.fail(h, "it removed a reference of %s, although %s", nameOf(was), why)
			}
		case blocks(r) && !left(blocks): // the object is deleted next, to break a cycle
			for _, other := range was.OwnerReferences {
				if why := j.kept(h, was, other); why != "" {
					j.fail(h, "it made a reference of %s to %s %q stop blocking, although %s", nameOf(was), r.Kind, r.Name, why)
				}
			}
		}
	}
	if unlinked && len(now.OwnerReferences) == 0 {
		j.fail(h, "it left %s without references: nothing will ever delete that", nameOf(was))
	}
}

// judgeRemovedFinalizer allows the removal of the collector's own finalizers from a terminating object,
// unless that waits for a dependent which the life has listed.
func (j *judge) judgeRemovedFinalizer(h *handled, was *apiserver.Object, finalizer string) {
	var waitsFor func(metav1.OwnerReference) bool
	switch finalizer {
	case metav1.FinalizerOrphanDependents:
		waitsFor = func(r metav1.OwnerReference) bool { return r.UID == was.UID }
	case metav1.FinalizerDeleteDependents:
		waitsFor = func(r metav1.OwnerReference) bool { return r.UID == was.UID && blocks(r) }
	default:
		j.fail(h, "it removed the finalizer %s, which is not its own, from %s", finalizer, nameOf(was))
		return
	}
	if was.DeletionTimestamp == nil {
		j.fail(h, "it removed the finalizer %s from %s, which nobody has deleted", finalizer, nameOf(was))
	}
	scan, lists := j.scanBefore(h)
	if deleted := j.objects[was.UID].since(func(o *apiserver.Object) bool { return terminatingWith(o, finalizer) }); scan.revision < deleted {
		j.fail(h, "it removed the finalizer %s from %s, and has not listed everything since that came at revision %d", finalizer, nameOf(was), deleted)
	}
	for _, of := range j.dependents[was.UID] {
		d := of.at(h.before)
		if d == nil || !slices.ContainsFunc(d.OwnerReferences, waitsFor) {
			continue
		}
		list, found := lists[d.Type.GroupResource()]
		if earlier := of.at(list.revision); found && earlier != nil && slices.ContainsFunc(earlier.OwnerReferences, waitsFor) {
			j.fail(h, "it removed the finalizer %s from %s, although %s depends on that, as it did at revision %d, when the life listed it",
				finalizer, nameOf(was), nameOf(d), list.revision)
		}
	}
}

// at returns the object at a revision, or nil.
func (h *history) at(revision int) *apiserver.Object {
	if h == nil {
		return nil
	}
	for _, s := range slices.Backward(h.states) {
		if s.revision <= revision {
			return s.object
		}
	}
	return nil
}

func (h *history) latest() *apiserver.Object {
	if h == nil {
		return nil
	}
	return h.states[len(h.states)-1].object
}

// any returns a state in which the object existed, or nil.
func (h *history) any() *apiserver.Object {
	if h == nil {
		return nil
	}
	for _, s := range h.states {
		if s.object != nil {
			return s.object
		}
	}
	return nil
}

// ever reports whether there was a state of the object like that.
func (h *history) ever(like func(*apiserver.Object) bool) bool {
	return h != nil && slices.ContainsFunc(h.states, func(s state) bool { return s.object != nil && like(s.object) })
}

// since returns the revision of the first state that was like that.
func (h *history) since(like func(*apiserver.Object) bool) int {
	i := slices.IndexFunc(h.states, func(s state) bool { return s.object != nil && like(s.object) })
	if i < 0 {
		return 0
	}
	return h.states[i].revision
}

// throughout reports whether the object existed and was like that at every revision.
func (h *history) throughout(from, to int, like func(*apiserver.Object) bool) bool {
	if h == nil || h.at(from) == nil {
		return false
	}
	for i, s := range h.states {
		over := i+1 < len(h.states) && h.states[i+1].revision <= from
		if !over && s.revision <= to && (s.object == nil || !like(s.object)) {
			return false
		}
	}
	return true
}

// isAt reports whether an object is where a reference leads, in any version.
func isAt(o *apiserver.Object, kind schema.GroupKind, namespace, name string) bool {
	spelled := kind.Kind == o.Type.Kind || kind.Kind == strings.ToLower(o.Type.Kind)
	return kind.Group == o.Type.Group && spelled && o.Name == name && (o.Namespace == namespace || o.Namespace == "")
}

func terminatingWith(o *apiserver.Object, finalizer string) bool {
	return o.DeletionTimestamp != nil && slices.Contains(o.Finalizers, finalizer)
}

func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// equal reports whether two references are equal, but for what they block.
func equal(a, b metav1.OwnerReference) bool {
	a.BlockOwnerDeletion, b.BlockOwnerDeletion = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}

// pathsOf returns the paths of an object in all versions.
func pathsOf(o *apiserver.Object) []string {
	var out []string
	for _, version := range append([]string{o.Type.Version}, o.Type.OtherVersions...) {
		in := *o.Type
		in.Version = version
		out = append(out, in.Object(o.Namespace, o.Name).Path())
	}
	return out
}

// placeOf returns where a path leads. The place of a list has no name.
func placeOf(path string) place {
	words := strings.Split(strings.Trim(path, "/"), "/")
	var out place
	switch {
	case words[0] == "api" && len(words) > 2:
		words = words[2:]
	case words[0] == "apis" && len(words) > 3:
		out.group, words = words[1], words[3:]
	default:
		return out
	}
	if len(words) > 2 && words[0] == "namespaces" {
		out.namespace, words = words[1], words[2:]
	}
	if out.resource = words[0]; len(words) > 1 {
		out.name = words[1]
	}
	return out
}

var leasePlace = place{"coordination.k8s.io", "leases", metav1.NamespaceSystem, "kubectl-gc-controller"}

// isLease reports whether a request is about the Lease of the collectors, which is created in its list.
func isLease(h *handled) bool {
	at := placeOf(h.path)
	if h.method == http.MethodPost {
		at.name = leasePlace.name
	}
	return at == leasePlace
}

// isWrite reports whether a request changes something: it is neither an access review nor a dry run.
func isWrite(h *handled) bool {
	return apiserver.Request{Method: h.method, Path: h.path, Query: h.query, Body: string(h.body)}.Write()
}

func nameOf(o *apiserver.Object) string {
	return fmt.Sprintf("%s %s (uid %s)", o.Type.Kind, fullName(&o.ObjectMeta), o.UID)
}
