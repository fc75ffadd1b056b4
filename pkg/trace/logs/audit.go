package logs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// isAudit reports whether a value is a version of the events. The latter is of before 1.24.
func isAudit(apiVersion value) bool {
	return apiVersion.is("audit.k8s.io/v1") || apiVersion.is("audit.k8s.io/v1beta1")
}

// event is a write, as any audit log has it.
type event struct {
	trace.Request
	level             string
	uri               string    // empty if the log does not have it
	truncated         bool      // the log does not have bodies because they are too long
	uid               types.UID // in the answer's details
	request, response value
}

// audit reads an event of audit.k8s.io.
func (r *reader) audit(o fields, in *around) error {
	if !r.is(auditLog, in) {
		return errNothing
	}
	answered, err := timeIn(o.get("stageTimestamp"), o.get("timestamp")) // the latter before 1.8
	if err != nil {
		return err
	}
	r.source.Events++
	r.source.Cover(answered)
	verb, panicked := verbOf(o.get("verb").bytes()), o.get("stage").is("Panic")
	if !panicked && !o.get("stage").is("ResponseComplete") {
		return nil
	}
	if r.answered = true; verb == "" {
		return nil
	}
	ref, _ := o.get("objectRef").object(nil) // nothing if it is of no resource
	e := event{
		level: shared(o.get("level").text()), uri: o.get("requestURI").text(),
		truncated: bytes.Contains(o.get("annotations"), []byte(`"audit.k8s.io/truncated"`)),
		request:   o.get("requestObject"), response: o.get("responseObject"),
	}
	e.Verb = verb
	e.Target = trace.RequestTarget{
		Group: shared(ref.get("apiGroup").text()), Version: shared(ref.get("apiVersion").text()), Resource: shared(ref.get("resource").text()),
		Subresource: shared(ref.get("subresource").text()), Namespace: shared(ref.get("namespace").text()),
		Name: ref.get("name").text(), UID: ref.get("uid").uid(),
	}
	if !e.wanted() {
		return nil
	}
	status := o.get("responseStatus")
	e.ID, e.Answered, e.uid = o.get("auditID").text(), answered, status.get("details").get("uid").uid()
	e.Received, err = timeIn(o.get("requestReceivedTimestamp"), o.get("timestamp"))
	if !panicked {
		err = cmp.Or(err, status.get("code").decode(&e.Code))
	}
	if err != nil {
		return err
	}
	if e.User, err = userOf(o); err != nil {
		return err
	}
	return r.event(&e)
}

// verbOf returns the verb of a write, or nothing.
func verbOf(text []byte) string {
	for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
		if string(text) == verb {
			return verb
		}
	}
	return ""
}

// timeIn returns the first time that there is.
func timeIn(values ...value) (t time.Time, err error) {
	for _, v := range values {
		if v != nil {
			t, err = time.Parse(time.RFC3339, string(v.bytes()))
			break
		}
	}
	return t.UTC(), err
}

// wanted reports whether a write could delete something or tell of owners.
func (e *event) wanted() bool {
	is := &e.Target
	writes := e.Verb == "update" || e.Verb == "patch"
	switch resource := is.Resource + "." + is.Group; {
	case e.Verb == "", is.Resource == "", resource == "events.", resource == "events.events.k8s.io",
		is.Group == "authorization.k8s.io", is.Group == "authentication.k8s.io": // reviews
		return false
	case resource == "leases.coordination.k8s.io":
		return !writes
	case is.Subresource == "":
		return true
	case resource == "pods." && is.Subresource == "eviction":
		return e.Verb == "create"
	case resource == "namespaces." && is.Subresource == "finalize":
		return writes
	}
	// What else has a status matters while it is being deleted.
	return is.Subresource == "status" && writes && bytes.Contains(e.response, []byte("deletionTimestamp"))
}

// userOf returns who sent the request of an event.
func userOf(o fields) (u trace.RequestUser, err error) {
	from := o.get("user")
	if as := o.get("impersonatedUser"); as != nil {
		u.Impersonator, from = from.get("username").text(), as
	}
	u.Name, u.Agent = from.get("username").text(), o.get("userAgent").text()
	return u, cmp.Or(from.get("groups").decode(&u.Groups), o.get("sourceIPs").decode(&u.Addresses))
}

func deletes(q *trace.Request) bool {
	return q.Verb == "delete" || q.Verb == "deletecollection" || q.Target.Subresource == "eviction"
}

// resultOf returns what became of a request. What is not understood may have been done.
func resultOf(code int) trace.RequestResult {
	switch {
	case code/100 == 2:
		return trace.Done
	case code/100 == 4 && code != 499: // the client did not wait
		return trace.Refused
	}
	return trace.Unknown
}

// maxText limits what is kept of a request besides its objects. A User-Agent is cut to 1 KiB by the server.
const maxText = 64 << 10

var errTime = errors.New("it has a time that no server writes")

// possible reports whether a server writes a time. Some other times cannot be written as JSON again.
func possible(t time.Time) bool { return t.UTC().Year() >= 1970 && t.UTC().Year() <= 9999 }

// event gives the sink what an event says, unless that is a dry run or a write that was not done.
func (r *reader) event(e *event) error {
	q := &e.Request
	if !possible(q.Received) || !possible(q.Answered) {
		return errTime
	}
	if len(e.uri)+len(q.Target.Name)+len(q.User.Agent)+len(q.User.Name)+len(q.ID) > maxText || q.Code < 0 || q.Code > 999 {
		return errors.New("it has a field that no server writes")
	}
	_, raw, _ := strings.Cut(e.uri, "?")
	query, _ := url.ParseQuery(raw) // the server ignores what is malformed
	q.Place, q.Result = r.place, resultOf(q.Code)
	q.Target.LabelSelector, q.Target.FieldSelector = query.Get("labelSelector"), query.Get("fieldSelector")
	q.Target.SelectorUnknown = e.uri == "" && q.Verb == "deletecollection"
	if q.Target.Group == "" && q.Target.Resource == "namespaces" {
		q.Target.Namespace = "" // it is the name
	}
	if q.Verb == "create" && q.Target.Subresource == "" || q.Code == trace.Created {
		q.Target.UID = "" // the client's; the server made another one
	}
	dryRun, err := query.Has("dryRun"), error(nil)
	switch {
	case deletes(q):
		dryRun, err = e.options(query)
	case q.Result == trace.Refused:
		return nil
	default:
		q.MayBeDryRun = e.uri == ""
	}
	if err == nil && !dryRun && q.Result == trace.Done {
		err = r.objects(e)
	}
	if err != nil || dryRun {
		return err
	}
	if deletes(q) {
		r.source.Levels[e.level]++
	}
	if q.Result != trace.Refused { // such a type might not exist
		r.source.Resources[schema.GroupResource{Group: q.Target.Group, Resource: q.Target.Resource}.String()]++
	}
	r.to.Request(q)
	return nil
}

// options adds the options of a deletion to its request, as far as the log has those that count, and reports whether
// it is a dry run for certain. Those in the URL count only if the request has no body (DeleteResource and
// DeleteCollection in endpoints/handlers/delete.go), but for an eviction, which always has one: its own dryRun counts as well.
//
// The log does not have the body of each request that has one: not at level Metadata, not of one that was
// cut, and of a request to an aggregated API only if the answer is there, too.
func (e *event) options(query url.Values) (dryRun bool, err error) {
	evicts := e.Verb == "create"
	logsBodies := e.level != "Metadata" && !e.truncated && (snapshot.BuiltInGroup(e.Target.Group) || e.response != nil)
	var sent metav1.DeleteOptions
	switch {
	case e.request != nil && evicts:
		err = e.request.get("deleteOptions").decode(&sent)
	case e.request != nil:
		err = e.request.decode(&sent)
	case logsBodies && e.uri != "" && !evicts:
		err = metav1.Convert_url_Values_To_v1_DeleteOptions(&query, &sent, nil)
	default:
		e.MayBeDryRun = true
		return evicts && query.Has("dryRun"), nil
	}
	if err != nil {
		return false, err
	}
	e.MayBeDryRun = evicts && e.uri == ""
	o := &trace.DeleteOptions{}
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
	e.Options = o
	if e.Result == trace.Done {
		e.Target.UID = cmp.Or(e.Target.UID, o.UID)
	}
	return len(sent.DryRun) > 0 || evicts && query.Has("dryRun"), nil
}

// unlinked returns the UIDs of the owners that a patch removes by name, as the garbage collector does.
func unlinked(patch value) (uids []types.UID) {
	// A patch of another form has none.
	_, _ = patch.get("metadata").get("ownerReferences").each('[', nil, func(_, reference value) error {
		if uid := reference.get("uid").uid(); uid != "" && reference.get("$patch").is("delete") {
			uids = append(uids, uid)
		}
		return nil
	})
	return slices.Compact(uids)
}

// maxParts limits what a request is kept with.
const maxParts = 100_000

// objects adds the objects that the server answered with to a request that was done, and the UID of its target.
func (r *reader) objects(e *event) error {
	q := &e.Request
	if q.Verb == "delete" { // the answer is a Status, which every level shows, if nothing held the object
		q.Target.UID = cmp.Or(q.Target.UID, e.uid)
	}
	if q.Verb == "patch" {
		q.Unlinked = unlinked(e.request)
	}
	parts := 0
	return e.response.bodies(func(b *body) error {
		var uid types.UID
		switch {
		case b.isStatus():
			uid = b.get("details").get("uid").uid()
		case b.isObject() && q.Target.Subresource != "eviction":
			seen, err := b.seen(&q.Target)
			if err != nil {
				return err
			}
			parts += len(seen.Owners) + len(seen.Finalizers) + len(seen.Labels)
			if uid = seen.UID; b.isWhole() {
				seen.Whole = true
				if r.object != nil {
					if err := r.object(uid, b); err != nil {
						return err
					}
				}
			}
			q.Objects = append(q.Objects, seen)
		}
		if parts++; parts > maxParts {
			return fmt.Errorf("it has more than %d objects, owners, finalizers and labels", maxParts)
		}
		if q.Verb != "deletecollection" {
			q.Target.UID = cmp.Or(q.Target.UID, uid)
		}
		return nil
	})
}
