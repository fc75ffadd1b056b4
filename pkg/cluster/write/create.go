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

// Creator makes objects under a name of its own, by which those that it made before
// are known again: a server notes who wrote an object. It is safe for concurrent
// use.
type Creator struct {
	*Writer
	manager string
}

// Creator prepares to make objects. The name is part of their metadata from then on:
// at most 128 printable characters.
func (w *Writer) Creator(name string) *Creator { return &Creator{w, name} }

// Create makes an object of that kind, place and name, whatever its UID was, and
// answers it as it is then. Where there is one that this Maker has made, it
// answers that: a request may be done although its answer was lost. Another is a
// *Failure with the reason Exists.
func (m *Creator) Create(ctx context.Context, at object.Identity, body json.RawMessage) (*object.Object, error) {
	mapped, ok := m.view.Map(at.APIVersion, at.Kind)
	if !ok || !mapped.Served || !snapshot.ValidName(at.Name) {
		return nil, client.NewRequestError("create", at, snapshot.Unverified, client.ErrNotServed)
	}
	ctx, over := withGracePeriod(ctx)
	defer over()
	result, err := sendWrite(ctx, m.client, func() *rest.Request {
		r := client.SetPath(m.client.REST.Post(), mapped.Type, at.Namespace, "").SetHeader("Content-Type", "application/json").
			Param("fieldManager", m.manager).Body([]byte(body))
		if m.dryRun {
			r = r.Param("dryRun", metav1.DryRunAll)
		}
		return r
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case apierrors.IsAlreadyExists(err):
		o, unread := m.readOwn(ctx, at)
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
	made, err := client.ReadObject(result, client.Query{Type: mapped.Type, Namespace: at.Namespace, Name: at.Name, DryRun: m.dryRun})
	if err != nil { // it was done, all the same
		if o, unread := m.readOwn(ctx, at); unread == nil && o != nil {
			return o, nil
		}
		return nil, client.NewRequestError("create", at, snapshot.Unreadable, err)
	}
	o := object.FromMeta(at.APIVersion, at.Kind, made, false)
	if m.dryRun {
		return &o, nil
	}
	return m.verifyCreated(ctx, at, &o)
}

// verifyCreated reads an object that was just made. Its dependents are about to name its UID, and
// would be garbage if the answer to the request that made it had another.
func (m *Creator) verifyCreated(ctx context.Context, at object.Identity, made *object.Object) (*object.Object, error) {
	now, err := m.Read(ctx, made.Identity)
	if err == nil && now == nil {
		now, err = m.readOwn(ctx, at)
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

// readOwn is what lives there, if this Maker made it and it is not going again; else
// nil. The error says that it could not be found out.
func (m *Creator) readOwn(ctx context.Context, at object.Identity) (*object.Object, error) {
	mapped, _ := m.view.Map(at.APIVersion, at.Kind)
	result, err := m.client.Do(ctx, func() *rest.Request { return m.client.Get(mapped.Type, at.Namespace, at.Name, client.AcceptObject) })
	var found *metav1.PartialObjectMetadata
	if err == nil {
		found, err = client.ReadObject(result, client.Query{Type: mapped.Type, Namespace: at.Namespace, Name: at.Name})
	}
	switch {
	case err != nil && client.IsNotFound(err, mapped.Type.GroupResource(), at.Name):
		return nil, nil
	case err != nil:
		return nil, err
	case found.DeletionTimestamp != nil, !slices.ContainsFunc(found.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == m.manager }):
		return nil, nil
	}
	o := object.FromMeta(at.APIVersion, at.Kind, found, false)
	return &o, nil
}

// Made answers which of the objects this Maker has made, by where they live: those
// whose making was not noted, as that was cut off. What cannot be read counts as
// somebody else's.
func (m *Creator) Made(ctx context.Context, at []object.Identity) (map[object.Identity]types.UID, error) {
	answers, err := client.InParallel(ctx, m.client.Options.Concurrency, at, func(i object.Identity) *object.Object {
		o, _ := m.readOwn(ctx, i)
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

// ServedType returns when the server lists the types, whose definition was just made.
func (m *Creator) ServedType(ctx context.Context, served []snapshot.Type) error {
	for _, t := range served {
		for pause := firstPause; m.reader().VerifyListable(ctx, t, "") != nil; pause = min(pause*2, longestPause) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause):
			}
		}
	}
	return nil
}

// watchDelay is how long Settle waits. A controller hears of an object through a
// watch, which nobody else can look into: it is some milliseconds behind on a
// server at rest, and should not be a second behind on a busy one (the latency
// that Kubernetes promises for a request). If a controller comes too early all the
// same, it makes what it misses, and deletes what is too many then.
const watchDelay = 2 * time.Second

// VerifyCreated returns when what was made before the call may be taken for seen by all
// who watch it.
func (m *Creator) VerifyCreated(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(watchDelay):
		return nil
	}
}

// adoptionTimeout is how long a controller has to adopt an object.
const adoptionTimeout = 5 * time.Second

// Adopted waits, but not long, for an object to get an owner of that UID, and
// answers the object as it is then, or nil where it is gone.
func (m *Creator) Adopted(ctx context.Context, at object.Identity, owner types.UID) (*object.Object, error) {
	enough, cancel := context.WithTimeout(ctx, adoptionTimeout)
	defer cancel()
	for {
		o, err := m.Read(ctx, at)
		if err != nil || o == nil || slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.UID == owner }) {
			return o, err
		}
		select {
		case <-enough.Done():
			return o, nil
		case <-time.After(firstPause):
		}
	}
}
