// Package write deletes, patches and creates single objects, and observes the results. Every write
// is bound to the UID and resourceVersion of its object. The caller decides what to write.
package write

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Writer sends the writes of a run, and the reads that decide what to write next. Every write is
// bound to the UID and resourceVersion of the object it is given. A write that is in flight when
// its context ends gets writeGrace longer, so that its answer is received. Errors are a
// *client.RequestError or the context's, except those of Relist and Contents. A Writer is safe
// for concurrent use.
type Writer struct {
	client *client.Client
	seen   *snapshot.Snapshot
	view   *snapshot.View
	dryRun bool
	as     string // the user to impersonate; empty: nobody
}

// New returns a Writer for a scan, which must not change afterwards. With dryRun, the
// server checks every write and stores none.
func New(c *client.Client, seen *snapshot.Snapshot, dryRun bool) *Writer {
	return NewWithMapper(c, seen, snapshot.NewMapper(seen.Types), dryRun)
}

// NewWithMapper is like New for a scan with the types of the Mapper.
func NewWithMapper(c *client.Client, seen *snapshot.Snapshot, m *snapshot.Mapper, dryRun bool) *Writer {
	silent := *c
	silent.Config.Progress = nil // progress is that of the first scan only
	// Ignore what the scan found: it is read again.
	known := *seen
	known.Lookups, known.Objects = nil, nil
	return &Writer{client: &silent, seen: seen, view: m.View(&known), dryRun: dryRun}
}

// As returns a Writer that impersonates a user, unless the name is empty. It is for dry runs.
func (w *Writer) As(user string) *Writer {
	other := *w
	other.as = user
	return &other
}

// Delete deletes the object in exactly the given state, with this grace period in seconds, and
// returns what is left of it, nil if it is gone. A nil grace period is the object's own. A
// Namespace is always left until the namespace controller has emptied it. A background deletion of
// an object with only the garbage collector's finalizers may take several writes, each bound to
// the state after the one before.
func (w *Writer) Delete(ctx context.Context, o *object.Object, policy metav1.DeletionPropagation, grace *int64) (*object.Object, error) {
	run := ctx
	ctx, over := outlasting(run)
	defer over()
	left, err := w.delete(ctx, run, o, policy, grace)
	var failed *client.RequestError
	if errors.As(err, &failed) && failed.Reason == snapshot.Conflict && policy == metav1.DeletePropagationBackground && !w.dryRun &&
		len(o.Finalizers) > 0 && len(o.ForeignFinalizers()) == 0 {
		return w.deleteWithoutFinalizers(ctx, run, o, grace)
	}
	return left, err
}

// deleteWithoutFinalizers removes the garbage collector's finalizers and then deletes the object.
// A server asked to do both at once, bound to a resourceVersion, loses that version and returns a
// conflict although nothing changed (registry.Store.Delete, seen in 1.36). If something did
// change, the first patch is a conflict, too.
func (w *Writer) deleteWithoutFinalizers(ctx, run context.Context, o *object.Object, grace *int64) (*object.Object, error) {
	for _, f := range o.Finalizers {
		left, err := w.patch(ctx, run, o, object.Change{RemoveFinalizer: f})
		if err != nil || left == nil {
			return nil, err
		}
		o = left
	}
	return w.delete(ctx, run, o, metav1.DeletePropagationBackground, grace)
}

// maxDeleteAttempts limits how often a DELETE is sent for an object that an earlier one left
// terminating.
const maxDeleteAttempts = 3

func (w *Writer) delete(ctx, run context.Context, o *object.Object, policy metav1.DeletionPropagation, grace *int64) (*object.Object, error) {
	for tries := 1; ; tries++ {
		left, marked, err := w.deleteOnce(ctx, run, o, policy, grace)
		if marked == nil || tries == maxDeleteAttempts || ctx.Err() != nil {
			return left, err
		}
		o = marked
	}
}

// deleteOnce sends a DELETE and retries it if its answer was lost. marked is the object if it is
// terminating now and nothing blocks it, so that another DELETE would complete the deletion.
func (w *Writer) deleteOnce(ctx, run context.Context, o *object.Object, policy metav1.DeletionPropagation, grace *int64) (left, marked *object.Object, err error) {
	options := metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion},
		PropagationPolicy: &policy, GracePeriodSeconds: grace,
	}
	if w.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	body, err := json.Marshal(options)
	if err != nil {
		return nil, nil, client.NewRequestError("delete", o.Identity, snapshot.Refused, err)
	}
	sent := 0
	left, err = w.send(ctx, run, "delete", o, func() *rest.Request {
		sent++
		return w.client.REST.Delete().SetHeader("Content-Type", "application/json").Body(body)
	})
	var failed *client.RequestError
	known := w.dryRun || !errors.As(err, &failed) || failed.Reason == snapshot.Gone
	if !known && (sent > 1 || failed.Reason == snapshot.TimedOut) { // an answer may have been lost
		switch now, unread := w.Read(ctx, o.Identity); {
		case unread != nil:
		case now == nil:
			failed.Reason = snapshot.Gone
		case now.ResourceVersion != o.ResourceVersion && now.Terminating() && !isKept(now):
			// A server deletes a Pod in two writes. If the connection breaks between them, the
			// Pod stays terminating until another DELETE completes the deletion
			// (rest.BeforeDelete).
			marked = now
		}
	}
	return left, marked, err
}

// Patch applies a change to the object in exactly the given state and returns what is left of it,
// nil if the change completed its deletion. An empty change verifies the right to patch.
func (w *Writer) Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	run := ctx
	ctx, over := outlasting(run)
	defer over()
	return w.patch(ctx, run, o, c)
}

func (w *Writer) patch(ctx, run context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	body, err := patchOf(o, c)
	if err != nil {
		return nil, client.NewRequestError("patch", o.Identity, snapshot.Refused, err)
	}
	left, err := w.send(ctx, run, "patch", o, func() *rest.Request {
		r := w.client.REST.Patch(types.JSONPatchType).Body(body)
		if w.dryRun {
			r = r.Param("dryRun", metav1.DryRunAll)
		}
		return r
	})
	var failed *client.RequestError
	if errors.As(err, &failed) && failed.Reason == snapshot.Invalid {
		failed.Reason = w.reasonForInvalid(ctx, o)
	}
	return left, err
}

// reasonForInvalid returns the class of a 422, which also results from a failed patch test on an
// object that has changed.
func (w *Writer) reasonForInvalid(ctx context.Context, o *object.Object) snapshot.ErrorClass {
	switch now, err := w.Read(ctx, o.Identity); {
	case err != nil:
		return snapshot.Invalid
	case now == nil:
		return snapshot.Gone
	case now.ResourceVersion != o.ResourceVersion:
		return snapshot.Conflict
	}
	return snapshot.Invalid
}

var (
	errNoPrecondition = errors.New("its uid or resourceVersion is not known, so a write could meet another state of it")
	errUnanswered     = errors.New("the run ended before the server answered: it may have been done")
)

// send sends a write about o and returns what is left of o. Only a 404 that names the object, of a
// type that can be listed, means gone.
func (w *Writer) send(ctx, run context.Context, verb string, o *object.Object, request func() *rest.Request) (*object.Object, error) {
	if o.UID == "" || o.ResourceVersion == "" {
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Unverified, errNoPrecondition)
	}
	q, err := client.QueryOf(w.view, o.Identity)
	if err != nil {
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Unverified, err)
	}
	raw, err := w.sendRetrying(ctx, run, func() *rest.Request {
		r := client.SetPath(request(), q)
		if w.as != "" {
			r = r.SetHeader(transport.ImpersonateUserHeader, w.as)
		}
		return r
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, client.NewRequestError(verb, o.Identity, snapshot.TimedOut, errUnanswered)
	case w.reader().IsAbsent(ctx, w.view, q, err):
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Gone, err)
	case err != nil:
		return nil, client.NewRequestError(verb, o.Identity, client.ClassifyRequest(err), err)
	case verb == "delete" && client.VerifySuccess(raw) == nil:
		return nil, nil
	}
	left, err := client.ReadObject(raw, q, true)
	if err == nil && left.UID != o.UID {
		err = client.NewAnswerError("it is of another object of that name")
	}
	switch {
	case w.dryRun && verb == "delete" && errors.Is(err, client.ErrNoMetadata):
		return nil, nil // a server answers like this to a dry-run DELETE that would empty the finalizers (registry.Store.Delete)
	case err != nil && w.dryRun:
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Unreadable, err)
	case err != nil: // the write was done all the same
		return w.Read(ctx, o.Identity)
	}
	preferred := w.view.Versions(q.Type.Group, q.Type.Kind)[0]
	out := object.FromMeta(preferred.APIVersion(), preferred.Kind, left, false)
	if !isKept(&out) && (verb == "delete" || out.Terminating()) {
		return nil, nil // many types return the object that was just deleted
	}
	return &out, nil
}

// isKept reports whether the object remains after its deletion was accepted: because of
// finalizers, its grace period, or because a Namespace must be emptied first
// (docs/gc-semantics.md#delete-request).
func isKept(o *object.Object) bool {
	return len(o.Finalizers) > 0 || o.InGracePeriod() || o.IsNamespace()
}

// writeBackoff is the schedule for retrying writes. Retrying is safe: every write is bound to a
// UID and resourceVersion, so repeating one that succeeded returns 404, 409 or 422.
var writeBackoff = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2.5, Jitter: 0.2, Steps: 5}

// maxWriteRetryAfter limits how often client-go honours a Retry-After header.
const maxWriteRetryAfter = 4

// writeGrace is how long a write in flight may take after its run has ended.
const writeGrace = 10 * time.Second

// outlasting returns a context for one write. It ends writeGrace after ctx, so that the answer to a
// write in flight is still received. The caller must call the returned function.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(writeGrace, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}

// sendRetrying sends the request, retries temporary errors within Config.Timeout, and returns the
// answer. What admission refuses is the answer to a dry run. ctx outlasts the context of the run:
// when that has ended, no new request starts.
func (w *Writer) sendRetrying(ctx, run context.Context, request func() *rest.Request) (raw []byte, err error) {
	ctx, cancel := w.client.WithTimeout(ctx)
	defer cancel()
	again := func(err error) bool {
		_, _, refused := client.RefusedByAdmission(err)
		return ctx.Err() == nil && isTemporary(err) && !(w.dryRun && refused)
	}
	err = client.Retry(run, writeBackoff, again, func() error {
		raw, err = w.client.Send(ctx, request().SetHeader("Accept", client.AcceptObject).MaxRetries(maxWriteRetryAfter))
		return err
	})
	return raw, err
}

// isTemporary reports whether retrying a write may help. client-go has honoured Retry-After
// headers already.
func isTemporary(err error) bool {
	if seconds, given := apierrors.SuggestsClientDelay(err); given && seconds > 0 {
		return false
	}
	switch client.ClassifyRequest(err) {
	case snapshot.ServerError, snapshot.Unavailable, snapshot.Throttled, snapshot.TimedOut, snapshot.Webhook:
		return true
	default:
		return false
	}
}
