package write

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Creator creates each object with a field manager of its own, by which it recognizes objects that
// it created in an earlier run. It is safe for concurrent use.
type Creator struct {
	*Writer
	manager func(object.Identity) string
}

// Creator returns a Creator. The manager of an object, at most 128 printable characters, becomes
// part of its metadata. It must not depend on the object's UID and version.
func (w *Writer) Creator(manager func(object.Identity) string) *Creator { return &Creator{w, manager} }

// Create creates an object and returns its state. It ignores the object's old UID. If this
// Creator created it before, Create returns that object: a request may succeed although its
// answer is lost. For any other existing object the error is a *client.RequestError with class
// Exists.
func (c *Creator) Create(ctx context.Context, at object.Identity, body json.RawMessage) (*object.Object, error) {
	q, err := client.QueryOf(c.view, at)
	if err != nil {
		return nil, client.NewRequestError("create", at, snapshot.Unverified, err)
	}
	run := ctx
	ctx, over := outlasting(run)
	defer over()
	raw, err := c.sendRetrying(ctx, run, func() *rest.Request {
		r := client.SetPath(c.client.REST.Post(), client.Query{Type: q.Type, Namespace: at.Namespace}).SetHeader("Content-Type", "application/json").
			Param("fieldManager", c.manager(at)).Body([]byte(body))
		if c.dryRun {
			r = r.Param("dryRun", metav1.DryRunAll)
		}
		return r
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case apierrors.IsAlreadyExists(err):
		o, unread := c.readOwn(ctx, at)
		switch {
		case unread != nil:
			return nil, client.NewRequestError("create", at, client.ClassifyRequest(unread), unread)
		case o == nil:
			return nil, client.NewRequestError("create", at, snapshot.Exists, err)
		}
		return o, nil
	case err != nil:
		return nil, client.NewRequestError("create", at, client.ClassifyRequest(err), err)
	}
	q.DryRun = c.dryRun
	made, err := client.ReadObject(raw, q, true)
	if err != nil { // the object was created all the same
		if o, unread := c.readOwn(ctx, at); unread == nil && o != nil {
			return o, nil
		}
		return nil, client.NewRequestError("create", at, snapshot.Unreadable, err)
	}
	o := object.FromMeta(at.APIVersion, at.Kind, made, false)
	if c.dryRun {
		return &o, nil
	}
	return c.verifyCreated(ctx, at, &o)
}

// verifyCreated reads an object that was just created. References to it will contain its UID, and
// if the answer had the wrong one, its dependents would be garbage.
func (c *Creator) verifyCreated(ctx context.Context, at object.Identity, made *object.Object) (*object.Object, error) {
	now, err := c.Read(ctx, made.Identity)
	if err == nil && now == nil {
		now, err = c.readOwn(ctx, at)
	}
	var failed *client.RequestError
	switch {
	case errors.As(err, &failed):
		return nil, client.NewRequestError("create", at, failed.Reason, err)
	case err != nil:
		return nil, client.NewRequestError("create", at, client.ClassifyRequest(err), err)
	case now == nil:
		return nil, client.NewRequestError("create", at, snapshot.Unverified, client.NewAnswerError("it is of an object that is not there"))
	}
	return now, nil
}

// readOwn returns the object if this Creator created it and it is not terminating, otherwise nil.
// The error says that this could not be found out.
func (c *Creator) readOwn(ctx context.Context, at object.Identity) (*object.Object, error) {
	q, err := client.QueryOf(c.view, at)
	if err != nil {
		return nil, err
	}
	found, err := c.client.GetObject(ctx, q)
	switch {
	case client.IsNotFound(err, q.Type.GroupResource(), at.Name):
		return nil, nil
	case err != nil:
		return nil, err
	case found.DeletionTimestamp != nil, !slices.ContainsFunc(found.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == c.manager(at) }):
		return nil, nil
	}
	o := object.FromMeta(at.APIVersion, at.Kind, found, false)
	return &o, nil
}

// Made returns the UIDs of the objects that this Creator has created. Use it after a run was cut
// off before it could record them. An object that cannot be read counts as foreign.
func (c *Creator) Made(ctx context.Context, at []object.Identity) (map[object.Identity]types.UID, error) {
	answers, err := client.InParallel(ctx, c.client.Config.Concurrency, at, func(i object.Identity) *object.Object {
		o, _ := c.readOwn(ctx, i)
		return o
	})
	out := map[object.Identity]types.UID{}
	for i, o := range answers {
		if o != nil {
			out[at[i]] = o.UID
		}
	}
	return out, err
}

// WaitForServed returns when the server lists the types, whose definitions were just created.
func (c *Creator) WaitForServed(ctx context.Context, served []snapshot.Type) error {
	for _, t := range served {
		for pause := firstPause; c.reader().VerifyListable(ctx, t, "") != nil; pause = min(pause*2, longestPause) {
			if err := client.Wait(ctx, pause); err != nil {
				return err
			}
		}
	}
	return nil
}

// watchDelay is how long WaitForWatches waits. A controller learns of an object through a watch,
// which cannot be observed: it takes milliseconds on an idle server and should take less than a
// second on a busy one (the latency that Kubernetes promises). A controller that runs too early
// creates what it misses and deletes the surplus later.
const watchDelay = 2 * time.Second

// WaitForWatches returns when all watchers may be expected to have seen what was created before
// the call.
func (c *Creator) WaitForWatches(ctx context.Context) error {
	return client.Wait(ctx, watchDelay)
}

const adoptionTimeout = 5 * time.Second

// WaitForAdoption waits up to adoptionTimeout for the object to get an owner with that UID. It returns
// the object as it is then, or nil if it is gone.
func (c *Creator) WaitForAdoption(ctx context.Context, at object.Identity, owner types.UID) (*object.Object, error) {
	enough, cancel := context.WithTimeout(ctx, adoptionTimeout)
	defer cancel()
	for {
		o, err := c.Read(ctx, at)
		if err != nil || o == nil || slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == owner }) {
			return o, err
		}
		if client.Wait(enough, firstPause) != nil {
			return o, nil
		}
	}
}
