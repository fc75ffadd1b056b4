package auditlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// Stats tell what a log can show. Whether requests are missing, it cannot tell.
type Stats struct {
	trace.Span // of the events

	Lines     int // that are not empty
	Events    int // of any request
	Deletions int // successful requests to delete something, evictions included
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
	r := reader{name: name, yield: yield, stats: Stats{Levels: map[string]int{}}, users: map[string]trace.User{}}
	err := input.EachLine(ctx, in, maxLine, r.line)
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
	users map[string]trace.User // by their text, as a few clients send most requests
}

// maxLine limits a line. kube-apiserver accepts bodies of 3 MiB, and an event has at most two.
const maxLine = 16 << 20

var errTooLong = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// maxWraps limits the objects that are around an event.
const maxWraps = 3

func (r *reader) line(l input.Line) error {
	line, err := bytes.TrimSpace(l.Text), error(nil)
	switch {
	case l.TooLong:
		err = errTooLong
	case len(line) == 0:
		return nil
	case !r.skip(line):
		place := trace.Place{File: r.name, Offset: l.Offset}
		err = events(document(line), maxWraps, func(e *event) error { return r.event(e, &place) })
	}
	r.stats.Lines++
	if err != nil {
		if r.stats.Unreadable++; r.stats.Unreadable == 1 {
			r.stats.Example = fmt.Sprintf("line %d cannot be read: %v: %.80q", l.Number, err, line)
		}
	}
	return nil
}

// skip counts a line without decoding it, if kube-apiserver wrote it about a request that wrote nothing or the
// status of an object that is not being deleted: most are. It needs the server's order of the fields: what it
// looks for cannot be in those before, as a quote within a string is escaped.
func (r *reader) skip(line []byte) bool {
	const answered, layout = `"stageTimestamp":"`, "2006-01-02T15:04:05.000000Z"
	_, verb, _ := bytes.Cut(line, []byte(`,"verb":"`))
	_, ref, _ := bytes.Cut(verb, []byte(`,"objectRef":{`))
	ref, _, _ = bytes.Cut(ref, []byte("}"))
	verb, _, _ = bytes.Cut(verb, []byte(`"`))
	reads := string(verb) == "get" || string(verb) == "list" || string(verb) == "watch"
	i := bytes.LastIndex(line, []byte(answered)) + len(answered)
	if !bytes.HasPrefix(line, []byte(`{"kind":"Event","apiVersion":"`+apiVersion+`","level":"`)) ||
		!reads && (!bytes.Contains(ref, []byte(`"subresource":"status"`)) || mentionsDeletion(line)) ||
		i < len(answered) || i+len(layout) > len(line) || line[len(line)-1] != '}' {
		return false
	}
	t, err := time.Parse(layout, string(line[i:i+len(layout)]))
	if err == nil {
		r.stats.Events++
		r.stats.Cover(t)
	}
	return err == nil
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
	var q trace.Request
	var err error
	wanted := e.wanted()
	if wanted {
		if q, wanted, err = r.request(e, place); err != nil {
			return err
		}
	}
	r.stats.Cover(e.StageTimestamp.UTC())
	if !wanted {
		return nil
	}
	if deletes(&q) {
		r.stats.Deletions++
		r.stats.Levels[e.Level]++
	}
	r.yield(q)
	return nil
}

func deletes(q *trace.Request) bool {
	return q.Verb == "delete" || q.Verb == "deletecollection" || q.Target.Subresource == "eviction"
}

// checkTimes refuses what no server writes. Some of it cannot be written as JSON again.
func checkTimes(times ...time.Time) error {
	for _, t := range times {
		if y := t.UTC().Year(); y < 1970 || y > 9999 {
			return errors.New("it has a time that no server writes")
		}
	}
	return nil
}

// maxText limits what is kept of a request besides its objects. A User-Agent is cut to 1 KiB by the server.
const maxText = 64 << 10

// request returns what an event says. It reports false for a dry run.
func (r *reader) request(e *event, place *trace.Place) (q trace.Request, wanted bool, err error) {
	if err := checkTimes(e.RequestReceivedTimestamp, e.StageTimestamp); err != nil {
		return q, false, err
	}
	if len(e.RequestURI)+len(e.ObjectRef.Name)+len(e.UserAgent)+len(e.User.Username) > maxText {
		return q, false, errors.New("it has a field that is too long")
	}
	_, raw, _ := strings.Cut(e.RequestURI, "?")
	query, _ := url.ParseQuery(raw) // the server ignores what is malformed
	ref := &e.ObjectRef
	q = trace.Request{
		Verb: shared(e.Verb), Code: e.ResponseStatus.Code, User: r.user(e),
		Received: e.RequestReceivedTimestamp.UTC(), Answered: e.StageTimestamp.UTC(),
		Target: trace.Target{
			Group: shared(ref.APIGroup), Version: shared(ref.APIVersion), Resource: shared(ref.Resource), Subresource: shared(ref.Subresource),
			Namespace: shared(ref.Namespace), Name: ref.Name, UID: ref.UID,
			LabelSelector: query.Get("labelSelector"), FieldSelector: query.Get("fieldSelector"),
		},
	}
	if ref.APIGroup == "" && ref.Resource == "namespaces" {
		q.Target.Namespace = "" // it is the name
	}
	if q.Code == created {
		q.Target.UID = "" // the client's; the server made another one
	}
	dryRun := query.Has("dryRun")
	if deletes(&q) {
		var inBody bool
		if q.Options, inBody, err = options(e, query); err != nil {
			return q, false, err
		}
		if dryRun = inBody || dryRun && (e.RequestObject == nil || q.Verb == "create"); q.Options != nil && q.Target.UID == "" {
			q.Target.UID = q.Options.UID // the deletion succeeded
		}
	}
	if dryRun {
		return q, false, nil
	}
	return q, true, objects(e, &q, place)
}

// created is the code of a request that created an object, which may be a patch or an update too.
const created = 201

// maxUsers limits those that are remembered.
const maxUsers = 1000

func (r *reader) user(e *event) trace.User {
	u := trace.User{Name: e.User.Username, Groups: e.User.Groups, Agent: e.UserAgent, Addresses: e.SourceIPs}
	if as := e.ImpersonatedUser; as != nil {
		u.Impersonator, u.Name, u.Groups = u.Name, as.Username, as.Groups
	}
	key := fmt.Sprintf("%q", u)
	if known, ok := r.users[key]; ok {
		return known
	}
	if len(r.users) >= maxUsers {
		clear(r.users)
	}
	r.users[key] = u
	return u
}

// options returns the options of a deletion, and whether they say that it is a dry run. Those in the URL do not
// count if the request has a body, and only an answer in the log tells that it has none: kube-apiserver logs
// requests to an aggregated API without bodies.
func options(e *event, query url.Values) (o *trace.DeleteOptions, dryRun bool, err error) {
	var sent metav1.DeleteOptions
	switch {
	case e.RequestObject != nil && e.Verb == "create": // an eviction
		err = json.Unmarshal(e.RequestObject, &struct{ DeleteOptions *metav1.DeleteOptions }{&sent})
	case e.RequestObject != nil:
		err = json.Unmarshal(e.RequestObject, &sent)
	case e.ResponseObject != nil:
		err = metav1.Convert_url_Values_To_v1_DeleteOptions(&query, &sent, nil)
	default:
		return nil, false, nil
	}
	o = &trace.DeleteOptions{GraceSeconds: sent.GracePeriodSeconds}
	//lint:ignore SA1019 old clients send it
	switch policy, orphan := sent.PropagationPolicy, sent.OrphanDependents; {
	case policy != nil && *policy != "":
		o.Policy = string(*policy)
	case orphan != nil && *orphan:
		o.Policy = string(metav1.DeletePropagationOrphan)
	case orphan != nil:
		o.Policy = string(metav1.DeletePropagationBackground)
	}
	if only := sent.Preconditions; only != nil && only.UID != nil {
		o.UID = *only.UID
	}
	if only := sent.Preconditions; only != nil && only.ResourceVersion != nil {
		o.ResourceVersion = *only.ResourceVersion
	}
	return o, len(sent.DryRun) > 0, err
}

// A server keeps no object of more than a few MiB. The limits are those of what a request is kept with.
const (
	maxMetadata = 2 << 20
	maxParts    = 100_000
)

// objects adds the objects of an event to its request, and the UID of its target.
func objects(e *event, q *trace.Request, place *trace.Place) error {
	if q.Verb == "delete" && q.Target.UID == "" { // the answer is a Status, which every level shows, if nothing held the object
		q.Target.UID = e.ResponseStatus.Details.UID
	}
	if deletes(q) && e.ResponseObject == nil {
		return nil // an eviction
	}
	parts := 0
	return e.bodies(func(b *body) error {
		uid, err := q.Target.UID, error(nil)
		switch {
		case b.isStatus():
			var details struct{ UID types.UID }
			if len(b.Details) > 0 {
				err = json.Unmarshal(b.Details, &details)
			}
			uid = details.UID
		case b.isObject() && q.Target.Subresource != "eviction":
			var seen trace.Seen
			if seen, err = seenIn(b, q); err != nil {
				return err
			}
			parts += len(seen.Owners) + len(seen.Finalizers)
			if uid = seen.UID; b.isWhole() && (b.answer || q.Target.Subresource == "") {
				seen.Whole = place
			}
			q.Objects = append(q.Objects, seen)
		}
		if parts++; parts > maxParts {
			return fmt.Errorf("it has more than %d objects, owners and finalizers", maxParts)
		}
		if q.Target.UID == "" && q.Verb != "deletecollection" {
			q.Target.UID = uid
		}
		return err
	})
}

func seenIn(b *body, q *trace.Request) (trace.Seen, error) {
	if len(b.Metadata) > maxMetadata {
		return trace.Seen{}, fmt.Errorf("it has metadata of more than %d MiB", maxMetadata>>20)
	}
	meta, err := b.meta()
	if err != nil {
		return trace.Seen{}, err
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
		if !t.IsZero() {
			if err := checkTimes(t.Time); err != nil {
				return trace.Seen{}, err
			}
		}
	}
	apiVersion, kind := b.APIVersion, b.Kind
	if b.isPartial() {
		apiVersion, kind = schema.GroupVersion{Group: q.Target.Group, Version: q.Target.Version}.String(), ""
	}
	seen := trace.Seen{Object: object.FromMeta(apiVersion, kind, &meta, false)}
	share(&seen.Object, &q.Target)
	if seen.IsPod() {
		seen.Node = object.PodNodeOf(b.Spec)
	}
	if seen.Terminating() && seen.IsNamespace() {
		seen.NamespaceStatus = object.NamespaceStatusOf(b.Spec, nil)
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
