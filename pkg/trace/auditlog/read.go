package auditlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// Stats tell what a log can show. Whether requests are missing, it cannot tell.
type Stats struct {
	Lines       int // that are not empty
	Events      int // of any request
	Deletions   int // successful requests to delete something, evictions included
	First, Last time.Time
	// Levels counts the deletions by the level of the policy: Metadata, Request or RequestResponse.
	Levels     map[string]int
	Unreadable int    // lines that are not events of audit.k8s.io/v1, are broken, or are longer than 16 MiB
	Example    string // which line is the first of them, and why; not escaped
}

// Read reads a log and calls yield with its successful writes, in the order of the log. It passes over dry
// runs, and over writes that neither delete an object nor tell of its owners: those of Events, renewals of
// Leases, and writes of subresources except evictions, namespaces/finalize, and the status of an object that
// is being deleted.
//
// name names the log in errors and places. Broken lines are counted. It is an error only if there are no
// others. The slices of a User are shared.
func Read(ctx context.Context, in io.Reader, name string, yield func(trace.Request)) (Stats, error) {
	r := reader{name: name, yield: yield, users: map[string]trace.User{}}
	err := r.read(ctx, in)
	if err == nil && r.stats.Events == 0 && r.stats.Lines > 0 {
		err = fmt.Errorf("there are no events of %s in it; %s", apiVersion, r.stats.Example)
	}
	if err != nil {
		return r.stats, fmt.Errorf("read audit log %s: %w", name, err)
	}
	return r.stats, nil
}

type reader struct {
	name  string
	yield func(trace.Request)
	stats Stats
	users map[string]trace.User // by their JSON, as a few clients send most requests
}

// maxWraps limits the objects that are around an event.
const maxWraps = 3

func (r *reader) read(ctx context.Context, in io.Reader) error {
	text, err := newLines(in)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, offset, err := text.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, errTooLong):
			return err
		case err == nil && len(line) == 0:
			continue
		}
		r.stats.Lines++
		if err == nil {
			place := trace.Place{File: r.name, Offset: offset}
			err = events(document(line), maxWraps, func(e *event) error { return r.event(e, &place) })
		}
		if err != nil {
			if r.stats.Unreadable++; r.stats.Unreadable == 1 {
				r.stats.Example = fmt.Sprintf("line %d cannot be read: %v: %.80q", n, err, line)
			}
		}
	}
}

// document returns a line without what a container runtime or a collector of logs wrote before its object.
func document(line []byte) []byte {
	const maxPrefix = 200
	if i := bytes.IndexByte(line[:min(len(line), maxPrefix)], '{'); i > 0 {
		return line[i:]
	}
	return line
}

// event counts an event, and yields it if it is a successful write.
func (r *reader) event(e *event, place *trace.Place) error {
	r.stats.Events++
	if e.uninteresting() || e.stage == nil || e.verb == nil || e.objectRef == nil || e.responseStatus == nil {
		r.cover(stageTimestamp(e))
		return nil
	}
	q, wanted, err := r.request(e, place)
	if err != nil {
		return err
	}
	r.cover(q.Answered)
	if !wanted {
		return nil
	}
	if deletes(&q) {
		r.stats.Deletions++
		if r.stats.Levels == nil {
			r.stats.Levels = map[string]int{}
		}
		switch level := text(e.level); level {
		case "Metadata", "Request", "RequestResponse":
			r.stats.Levels[level]++
		}
	}
	r.yield(q)
	return nil
}

func deletes(q *trace.Request) bool {
	return q.Verb == "delete" || q.Verb == "deletecollection" || q.Target.Subresource == "eviction"
}

// stageTimestamp returns the time of an event that may not have been read to its end, and zero if that does not
// have it.
func stageTimestamp(e *event) time.Time {
	value := e.answered
	if value == nil {
		const key, near = `"stageTimestamp"`, 4096
		end := e.raw[max(0, len(e.raw)-near):]
		i := bytes.LastIndex(end, []byte(key))
		if i < 0 {
			return time.Time{}
		}
		end = bytes.TrimLeft(end[i+len(key):], ": ")
		value = end[:min(len(end), endOfValue(end, 0))]
	}
	t, _ := timeOf(value)
	return t
}

func (r *reader) cover(t time.Time) {
	switch {
	case t.IsZero():
		return
	case r.stats.First.IsZero():
		r.stats.First, r.stats.Last = t, t
	case t.Before(r.stats.First):
		r.stats.First = t
	case t.After(r.stats.Last):
		r.stats.Last = t
	}
}

func timeOf(value []byte) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text(value))
	return t.UTC(), errors.Join(err, checkYear(t))
}

// checkYear refuses what cannot be written as JSON again.
func checkYear(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return errors.New("it has a time that no server writes")
	}
	return nil
}

// request decodes an event. It reports false for a dry run, and for the status of an object that is not being
// deleted.
func (r *reader) request(e *event, place *trace.Place) (q trace.Request, wanted bool, err error) {
	if q.Received, err = timeOf(e.received); err != nil {
		return q, false, err
	}
	if q.Answered, err = timeOf(e.answered); err != nil {
		return q, false, err
	}
	q.Verb, q.Code = shared(text(e.verb)), number(e.code())
	if err := checkLength(e.requestURI, e.objectRef); err != nil {
		return q, false, err
	}
	_, raw, _ := strings.Cut(text(e.requestURI), "?")
	query, _ := url.ParseQuery(raw) // the server ignores what is malformed
	if q.User, err = r.user(e); err != nil {
		return q, false, err
	}
	if q.Target, err = target(e, q.Code); err != nil {
		return q, false, err
	}
	if q.Target.Subresource == "status" && !mentions(e.responseObject, "deletionTimestamp") && !mentions(e.requestObject, "deletionTimestamp") {
		return q, false, nil
	}
	q.Target.LabelSelector, q.Target.FieldSelector = query.Get("labelSelector"), query.Get("fieldSelector")
	dryRun := query.Has("dryRun")
	if deletes(&q) {
		var inBody bool
		if q.Options, inBody, err = options(e, query); err != nil {
			return q, false, err
		}
		if dryRun = inBody || dryRun && (e.requestObject == nil || q.Verb == "create"); q.Options != nil && q.Target.UID == "" {
			q.Target.UID = q.Options.UID // the deletion succeeded
		}
	}
	if dryRun {
		return q, false, nil
	}
	return q, true, r.objects(e, &q, place)
}

func mentions(value []byte, field string) bool { return bytes.Contains(value, []byte(field)) }

// maxText limits what is kept of a request besides its objects. A User-Agent is cut to 1 KiB by the server.
const maxText = 64 << 10

func checkLength(values ...[]byte) error {
	for _, v := range values {
		if len(v) > maxText {
			return errors.New("it has a field that is too long")
		}
	}
	return nil
}

// maxUsers limits those that are remembered.
const maxUsers = 1000

func (r *reader) user(e *event) (trace.User, error) {
	key := string(e.user) + "\n" + string(e.impersonatedUser) + "\n" + string(e.sourceIPs) + "\n" + string(e.userAgent)
	if u, ok := r.users[key]; ok {
		return u, nil
	}
	if err := checkLength([]byte(key)); err != nil {
		return trace.User{}, err
	}
	type userInfo struct {
		Username string
		Groups   []string
	}
	var user userInfo
	var as *userInfo
	u := trace.User{Agent: text(e.userAgent)}
	if err := errors.Join(decode(e.user, &user), decode(e.impersonatedUser, &as), decode(e.sourceIPs, &u.Addresses)); err != nil {
		return trace.User{}, err
	}
	if as != nil {
		u.Impersonator, user = user.Username, *as
	}
	u.Name, u.Groups = user.Username, user.Groups
	if len(r.users) >= maxUsers {
		clear(r.users)
	}
	r.users[key] = u
	return u, nil
}

// created is the code of a request that created an object, which may be a patch or an update too.
const created = 201

func target(e *event, code int) (trace.Target, error) {
	var ref struct {
		APIGroup, APIVersion, Resource, Subresource, Namespace, Name string
		UID                                                          types.UID
	}
	if err := decode(e.objectRef, &ref); err != nil {
		return trace.Target{}, err
	}
	t := trace.Target{
		Group: shared(ref.APIGroup), Version: shared(ref.APIVersion), Resource: shared(ref.Resource), Subresource: shared(ref.Subresource),
		Namespace: shared(ref.Namespace), Name: ref.Name, UID: ref.UID,
	}
	if t.Group == "" && t.Resource == "namespaces" {
		t.Namespace = "" // it is the name
	}
	if code == created {
		t.UID = "" // the client's; the server made another one
	}
	return t, nil
}

// options returns the options of a deletion, and whether they say that it is a dry run. Those in the URL do not
// count if the request has a body, and only an answer in the log tells that it has none: kube-apiserver logs
// requests to an aggregated API without bodies.
func options(e *event, query url.Values) (o *trace.DeleteOptions, dryRun bool, err error) {
	var sent struct {
		PropagationPolicy  string
		OrphanDependents   *bool
		GracePeriodSeconds *int64
		Preconditions      struct {
			UID             types.UID
			ResourceVersion string
		}
		DryRun []string
	}
	if err := checkLength(e.requestObject); err != nil {
		return nil, false, err
	}
	switch {
	case e.requestObject != nil && is(e.verb, "create"): // an eviction
		eviction := struct{ DeleteOptions any }{&sent}
		err = decode(e.requestObject, &eviction)
	case e.requestObject != nil:
		err = decode(e.requestObject, &sent)
	case e.responseObject != nil:
		sent.PropagationPolicy, sent.Preconditions.UID = query.Get("propagationPolicy"), types.UID(query.Get("uid"))
		if orphan, err := strconv.ParseBool(query.Get("orphanDependents")); err == nil {
			sent.OrphanDependents = &orphan
		}
		if seconds, err := strconv.ParseInt(query.Get("gracePeriodSeconds"), 10, 64); err == nil {
			sent.GracePeriodSeconds = &seconds
		}
	default:
		return nil, false, nil
	}
	if orphan := sent.OrphanDependents; orphan != nil && sent.PropagationPolicy == "" {
		if sent.PropagationPolicy = string(metav1.DeletePropagationBackground); *orphan {
			sent.PropagationPolicy = string(metav1.DeletePropagationOrphan)
		}
	}
	return &trace.DeleteOptions{
		Policy: sent.PropagationPolicy, UID: sent.Preconditions.UID,
		ResourceVersion: sent.Preconditions.ResourceVersion, GraceSeconds: sent.GracePeriodSeconds,
	}, len(sent.DryRun) > 0, err
}

// metadata is what is decoded of an object's metadata.
type metadata struct {
	Name, Namespace, ResourceVersion string
	UID                              types.UID
	CreationTimestamp                metav1.Time
	DeletionTimestamp                *metav1.Time
	DeletionGracePeriodSeconds       *int64
	OwnerReferences                  []metav1.OwnerReference
	Finalizers                       []string
}

// A server keeps no object of more than a few MiB. The limits are those of what a request is kept with.
const (
	maxMetadata = 2 << 20
	maxParts    = 100_000
)

// objects adds the objects of an event to its request, and the UID of its target.
func (r *reader) objects(e *event, q *trace.Request, place *trace.Place) error {
	if q.Verb == "delete" && q.Target.UID == "" { // the answer is a Status, which every level shows, if nothing held the object
		var status struct{ Details struct{ UID types.UID } }
		if err := decode(e.responseStatus, &status); err != nil {
			return err
		}
		q.Target.UID = status.Details.UID
	}
	if deletes(q) && e.responseObject == nil {
		return nil // an eviction
	}
	parts := 0
	return e.bodies(func(b *body) error {
		uid, err := q.Target.UID, error(nil)
		switch {
		case b.isStatus():
			var details struct{ UID types.UID }
			err, uid = decode(b.details, &details), details.UID
		case b.isObject() && q.Target.Subresource != "eviction":
			var seen trace.Seen
			if seen, err = seenIn(b, q); err != nil {
				return err
			}
			if parts += 1 + len(seen.Owners) + len(seen.Finalizers); parts > maxParts {
				return fmt.Errorf("it has more than %d objects, owners and finalizers", maxParts)
			}
			if uid = seen.UID; b.isWhole() && (b.answer || q.Target.Subresource == "") {
				seen.Whole = place
			}
			q.Objects = append(q.Objects, seen)
		}
		if q.Target.UID == "" && q.Verb != "deletecollection" {
			q.Target.UID = uid
		}
		return err
	})
}

func seenIn(b *body, q *trace.Request) (trace.Seen, error) {
	if len(b.metadata) > maxMetadata {
		return trace.Seen{}, fmt.Errorf("it has metadata of more than %d MiB", maxMetadata>>20)
	}
	var m metadata
	if err := decode(b.metadata, &m); err != nil {
		return trace.Seen{}, err
	}
	meta := metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, OwnerReferences: m.OwnerReferences, Finalizers: m.Finalizers,
		DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
	}
	if !b.answer { // what the server decides is not what a client wrote
		if meta.Namespace == "" {
			meta.Namespace = q.Target.Namespace
		}
		if q.Code == created {
			meta.UID, meta.ResourceVersion, meta.CreationTimestamp = "", "", metav1.Time{}
			meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = nil, nil
		}
	}
	for _, t := range []*metav1.Time{&meta.CreationTimestamp, meta.DeletionTimestamp} {
		if t != nil && checkYear(t.Time) != nil {
			return trace.Seen{}, checkYear(t.Time)
		}
	}
	apiVersion, kind := b.apiVersion, b.kind
	if b.isPartial() {
		apiVersion, kind = schema.GroupVersion{Group: q.Target.Group, Version: q.Target.Version}.String(), ""
	}
	seen := trace.Seen{Object: object.FromMeta(apiVersion, kind, &meta, false)}
	share(&seen.Object, &q.Target)
	if seen.IsPod() {
		seen.Node = object.PodNodeOf(b.spec)
	}
	if seen.Terminating() && seen.IsNamespace() {
		seen.NamespaceStatus = object.NamespaceStatusOf(b.spec, nil)
	}
	return seen, nil
}

// share lets equal texts of requests be one in memory, of which logs have millions.
func share(o *object.Object, with *trace.Target) {
	o.APIVersion, o.Kind, o.Namespace, o.ResourceVersion = shared(o.APIVersion), shared(o.Kind), shared(o.Namespace), ""
	if o.Name == with.Name {
		o.Name = with.Name
	}
	if o.UID == with.UID {
		o.UID = with.UID
	}
	for i := range o.Owners {
		r := &o.Owners[i]
		r.APIVersion, r.Kind = shared(r.APIVersion), shared(r.Kind)
	}
	for i, f := range o.Finalizers {
		o.Finalizers[i] = shared(f)
	}
}

func shared(s string) string { return unique.Make(s).Value() }
