package write

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Writer changes objects of the cluster, each write bound to the UID and the
// resourceVersion of what it is given, and reads what decides on the next one.
// A write that is under way when its context ends goes on for some seconds, so that its
// answer is heard. Every error is a *Failure or the context's, save that of Census. It is
// safe for concurrent use.
type Writer struct {
	client *client.Client
	seen   *snapshot.Snapshot
	view   *snapshot.View
	dryRun bool
}

// NewWriter prepares to act on what a look saw, which must not change afterwards.
// In a dry run the server checks every write and stores none.
func NewWriter(c *client.Client, seen *snapshot.Snapshot, dryRun bool) *Writer {
	quiet := *c
	quiet.Options.Progress = nil // its lists are not those of the look that was announced
	// What was looked up then is asked for anew.
	known := *seen
	known.Lookups, known.Objects = nil, nil
	return &Writer{client: &quiet, seen: seen, view: snapshot.NewView(&known), dryRun: dryRun}
}

// Delete asks for the deletion of the very object it is given, and answers what
// is left of it: nil when it is gone. A Namespace always stays, until the
// server's controller has emptied it. A background deletion of what only the
// collector's own finalizers keep may take several writes, each bound to the
// state that the one before left.
func (w *Writer) Delete(ctx context.Context, o *object.Object, policy metav1.DeletionPropagation) (*object.Object, error) {
	ctx, over := withGracePeriod(ctx)
	defer over()
	left, err := w.delete(ctx, o, policy)
	var failed *client.RequestError
	if errors.As(err, &failed) && failed.Reason == snapshot.Conflict && policy == metav1.DeletePropagationBackground && !w.dryRun &&
		len(o.Finalizers) > 0 && len(o.ForeignFinalizers()) == 0 {
		return w.deleteWithoutFinalizers(ctx, o)
	}
	return left, err
}

// deleteWithoutFinalizers deletes an object that nothing but the collector's own finalizers keep,
// without them. A server that is asked to do both at once, bound to a
// resourceVersion, forgets that version on the way and answers a conflict, though
// nothing changed (registry.Store.Delete, seen in 1.36). Where something did, the
// first patch is a conflict, too.
func (w *Writer) deleteWithoutFinalizers(ctx context.Context, o *object.Object) (*object.Object, error) {
	for _, f := range o.Finalizers {
		left, err := w.patch(ctx, o, object.Change{Release: f})
		if err != nil || left == nil {
			return nil, err
		}
		o = left
	}
	return w.delete(ctx, o, metav1.DeletePropagationBackground)
}

// maxDeletes is how often a DELETE is sent for an object that an earlier one marked,
// each time in the state that the one before left.
const maxDeletes = 3

func (w *Writer) delete(ctx context.Context, o *object.Object, policy metav1.DeletionPropagation) (*object.Object, error) {
	for tries := 1; ; tries++ {
		left, marked, err := w.deleteOnce(ctx, o, policy)
		if marked == nil || tries == maxDeletes || ctx.Err() != nil {
			return left, err
		}
		o = marked
	}
}

// deleteOnce sends a DELETE, and again where its answer was lost. marked is the object if
// it was marked for deletion by then and nothing keeps it, so that another DELETE would
// end what this one began.
func (w *Writer) deleteOnce(ctx context.Context, o *object.Object, policy metav1.DeletionPropagation) (left, marked *object.Object, err error) {
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion},
		PropagationPolicy: &policy,
		DryRun:            w.dryRunOption(),
	})
	if err != nil {
		return nil, nil, client.NewRequestError("delete", o.Identity, snapshot.Refused, err)
	}
	sent := 0
	left, err = w.send(ctx, "delete", o, func(t snapshot.Type) *rest.Request {
		sent++
		return client.SetPath(w.client.REST.Delete(), t, o.Namespace, o.Name).SetHeader("Content-Type", "application/json").Body(body)
	})
	var failed *client.RequestError
	known := w.dryRun || !errors.As(err, &failed) || failed.Reason == snapshot.Gone
	if !known && (sent > 1 || failed.Reason == snapshot.TimedOut) { // an answer may have been lost
		switch now, unread := w.Read(ctx, o.Identity); {
		case unread != nil:
		case now == nil:
			failed.Reason = snapshot.Gone
		case now.ResourceVersion != o.ResourceVersion && now.Terminating() && !isKept(now):
			// A server removes a Pod in two writes, marking it first; where the connection
			// breaks off between them it stays marked, for nobody comes back to it. Another
			// DELETE then ends what the first one began (rest.BeforeDelete).
			marked = now
		}
	}
	return left, marked, err
}

// Patch makes the change on the very object it is given, and answers what is
// left of it: nil when that let it go. An empty change proves the right to patch.
func (w *Writer) Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	ctx, over := withGracePeriod(ctx)
	defer over()
	return w.patch(ctx, o, c)
}

func (w *Writer) patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error) {
	body, err := patchOf(o, c)
	if err != nil {
		return nil, client.NewRequestError("patch", o.Identity, snapshot.Refused, err)
	}
	left, err := w.send(ctx, "patch", o, func(t snapshot.Type) *rest.Request {
		r := client.SetPath(w.client.REST.Patch(types.JSONPatchType), t, o.Namespace, o.Name).Body(body)
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

// reasonForInvalid tells what a 422 means: a test of the patch fails on an object that has
// changed, too.
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

func (w *Writer) dryRunOption() []string {
	if w.dryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

var (
	errNoPrecondition = errors.New("its uid or resourceVersion is not known, so a write could meet another state of it")
	errUnanswered     = errors.New("the run ended before the server answered: it may have been done")
)

// send sends a write about o and answers what is left of it.
func (w *Writer) send(ctx context.Context, verb string, o *object.Object, request func(snapshot.Type) *rest.Request) (*object.Object, error) {
	if o.UID == "" || o.ResourceVersion == "" {
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Unverified, errNoPrecondition)
	}
	m, ok := w.view.Map(o.APIVersion, o.Kind)
	if !ok || !m.Served || !snapshot.ValidName(o.Name) {
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Unverified, client.ErrNotServed)
	}
	result, err := sendWrite(ctx, w.client, func() *rest.Request { return request(m.Type) })
	if ctx.Err() != nil && err != nil {
		return nil, client.NewRequestError(verb, o.Identity, snapshot.TimedOut, errUnanswered)
	}
	if err != nil {
		return nil, w.requestError(ctx, verb, o.Identity, m.Type, err)
	}
	raw, _ := result.Raw() // its error is the one above
	if verb == "delete" && client.VerifySuccess(raw) == nil {
		return nil, nil
	}
	left, err := client.ReadObject(result, client.Query{Type: m.Type, Namespace: o.Namespace, Name: o.Name})
	if err == nil && left.UID != o.UID {
		err = client.NewAnswerError("it is of another object of that name")
	}
	switch {
	case w.dryRun && verb == "delete" && errors.Is(err, client.ErrNoMetadata):
		return nil, nil // what a server answers to the trial of a DELETE that would empty the finalizers (registry.Store.Delete)
	case err != nil && w.dryRun:
		return nil, client.NewRequestError(verb, o.Identity, snapshot.Unreadable, err)
	case err != nil: // it was done, all the same
		return w.Read(ctx, o.Identity)
	}
	preferred := w.view.Versions(m.Type.Group, m.Type.Kind)[0]
	w.client.NoteState(m.Type, left)
	out := object.FromMeta(preferred.APIVersion(), preferred.Kind, left, false)
	if !isKept(&out) && (verb == "delete" || out.Terminating()) {
		return nil, nil // many types answer the object that just went
	}
	return &out, nil
}

// requestError classes a refused write. A 404 means gone only where absence is
// proven: it names the object, and the type can be listed.
func (w *Writer) requestError(ctx context.Context, verb string, at object.Identity, t snapshot.Type, err error) error {
	out := client.NewRequestError(verb, at, client.ClassifyRequest(err), err)
	if client.IsNotFound(err, t.GroupResource(), at.Name) {
		if w.reader().IsAbsent(ctx, w.view, t, at) {
			out.Reason = snapshot.Gone
		}
	}
	return out
}

// isKept says whether something keeps an object whose deletion was accepted:
// finalizers, its grace period, or that a Namespace has yet to be emptied
// (docs/gc-semantics.md#delete-request).
func isKept(o *object.Object) bool {
	return len(o.Finalizers) > 0 || o.Stopping() || o.IsNamespace()
}
