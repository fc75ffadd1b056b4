package scan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// ObjectReader reads single objects and decides whether an answer proves that one is absent. It
// is safe for concurrent use.
type ObjectReader struct {
	client  *client.Client
	labels  bool               // keep labels
	scanned *snapshot.Snapshot // the scan that questions are about; may be nil

	mu     sync.Mutex
	probes map[probeKey]func() error // lists that show whether a type can be listed; see VerifyListable
}

// NewObjectReader returns a reader for questions about a scan. It remembers which types can be
// listed; to try a failed list again, use a new reader.
func NewObjectReader(c *client.Client, scanned *snapshot.Snapshot) *ObjectReader {
	return &ObjectReader{client: c, scanned: scanned, probes: map[probeKey]func() error{}}
}

// ReadState returns an object as it is now. It returns nil if the object is proven to be gone or,
// by two answers that agree, replaced by another object of the same name.
func (r *ObjectReader) ReadState(ctx context.Context, view *snapshot.View, at object.Identity) (*object.Object, error) {
	found := r.lookup(ctx, view, coordinatesOf(at))
	if found.Object != nil && found.Object.UID != at.UID {
		found = r.confirm(ctx, view, found, r.holderOf(found.Object.UID))
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case found.Outcome == snapshot.Failed:
		return nil, client.NewRequestError("read", at, found.Reason, errors.New(found.Message))
	case found.Object == nil || found.Object.UID != at.UID:
		return nil, nil
	}
	return found.Object, nil
}

// holderOf returns the object that had the UID in the scan, or nil.
func (r *ObjectReader) holderOf(uid types.UID) *object.Object {
	if r.scanned == nil {
		return nil
	}
	for _, o := range r.scanned.Objects { // rarely used, not worth an index
		if o.UID == uid {
			return o
		}
	}
	return nil
}

// lookup requests the object at the coordinates.
func (r *ObjectReader) lookup(ctx context.Context, view *snapshot.View, at snapshot.Coordinates) snapshot.Lookup {
	out := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Failed}
	q, err := client.QueryOf(view, object.Identity{APIVersion: at.APIVersion, Kind: at.Kind, Namespace: at.Namespace, Name: at.Name})
	if err == nil && !q.Type.Can("get") {
		err = fmt.Errorf("the server does not offer to read one of %s", q.Type)
	}
	if err != nil {
		out.Reason, out.Message = snapshot.Unverified, err.Error()
		return out
	}
	found, err := r.client.GetObject(ctx, q)
	switch {
	case err == nil:
		// as a list would show it, whatever version the reference uses
		preferred := view.Versions(q.Type.Group, q.Type.Kind)[0]
		o := object.FromMeta(preferred.APIVersion(), preferred.Kind, found, r.labels)
		out.Outcome, out.Object = snapshot.Found, &o
	case client.IsNotFound(err, q.Type.GroupResource(), at.Name):
		out = r.absent(ctx, view, q.Type, out)
	default:
		out.Reason, out.Message = client.Classify(err)
		if out.Reason == snapshot.Vanished {
			out.Reason = snapshot.Unverified
		}
	}
	return out
}

// LookupAll looks up all coordinates. An answer with an unexpected UID - one that neither a list showed
// there nor a reference names - is confirmed by a second lookup. Such a UID means that an owner was
// replaced and its dependents are garbage, and one damaged answer must not be enough for that. known
// returns the object with a UID, or nil.
func (r *ObjectReader) LookupAll(ctx context.Context, view *snapshot.View, at []snapshot.Coordinates, objects []*object.Object, known func(types.UID) *object.Object) ([]snapshot.Lookup, error) {
	answers, err := client.InParallel(ctx, r.client.Config.SmallConcurrency, at, func(c snapshot.Coordinates) snapshot.Lookup { return r.lookup(ctx, view, c) })
	unexpected := map[types.UID]bool{}
	for _, a := range answers {
		if a.Object == nil {
			continue
		}
		if holder := known(a.Object.UID); holder == nil || !holder.Same(a.Object) {
			unexpected[a.Object.UID] = true
		}
	}
	if err != nil || len(unexpected) == 0 {
		return answers, err
	}
	for _, o := range objects {
		for _, ref := range o.Owners {
			if known(ref.UID) == nil {
				delete(unexpected, ref.UID)
			}
		}
	}
	return client.InParallel(ctx, r.client.Config.SmallConcurrency, answers, func(a snapshot.Lookup) snapshot.Lookup {
		if a.Object == nil || !unexpected[a.Object.UID] {
			return a
		}
		return r.confirm(ctx, view, a, known(a.Object.UID))
	})
}

// confirm looks up an object again. The lookup fails if the two answers have different UIDs, or
// if the UID belongs to holder and that is another object.
func (r *ObjectReader) confirm(ctx context.Context, view *snapshot.View, first snapshot.Lookup, holder *object.Object) snapshot.Lookup {
	failed := snapshot.Lookup{Coordinates: first.Coordinates, Outcome: snapshot.Failed, Reason: snapshot.Unreadable}
	second := r.lookup(ctx, view, first.Coordinates)
	switch {
	case second.Object == nil:
		return second
	case second.Object.UID != first.Object.UID:
		failed.Message = "the server answered two requests with different UIDs"
		return failed
	case holder != nil && !holder.Same(second.Object):
		failed.Message = fmt.Sprintf("the server answered with the UID of another object, %s", holder)
		return failed
	}
	return second
}

// absent completes a lookup after a 404 that names the object. It proves absence only if a list
// of the type succeeded (docs/gc-semantics.md#absent-owner).
func (r *ObjectReader) absent(ctx context.Context, view *snapshot.View, t snapshot.Type, out snapshot.Lookup) snapshot.Lookup {
	if !view.Listed(t.GroupResource(), out.Namespace) {
		if err := r.VerifyListable(ctx, t, out.Namespace); err != nil {
			out.Reason = snapshot.Unverified
			out.Message = fmt.Sprintf("it was not found, but neither could %s be listed: %v", t, err)
			return out
		}
	}
	out.Outcome = snapshot.Absent
	return out
}

// VerifyListable returns an error if the type cannot be listed. It requests at most one list per
// type and namespace.
func (r *ObjectReader) VerifyListable(ctx context.Context, t snapshot.Type, namespace string) error {
	key := probeKey{t.GroupResource(), namespace}
	r.mu.Lock()
	probe, asked := r.probes[key]
	if !asked {
		probe = sync.OnceValue(func() error {
			if !t.Can("list") {
				return errors.New("the server does not offer it")
			}
			_, err := r.client.FirstPage(ctx, client.Query{Type: t, Namespace: namespace}, 1)
			return err
		})
		r.probes[key] = probe
	}
	r.mu.Unlock()
	return probe()
}

type probeKey struct {
	schema.GroupResource
	namespace string
}

// IsAbsent reports whether an error about the object of a query proves that it is absent.
func (r *ObjectReader) IsAbsent(ctx context.Context, view *snapshot.View, q client.Query, err error) bool {
	at := snapshot.Coordinates{Namespace: q.Namespace, Name: q.Name}
	return client.IsNotFound(err, q.Type.GroupResource(), q.Name) && r.absent(ctx, view, q.Type, snapshot.Lookup{Coordinates: at}).Outcome == snapshot.Absent
}

func coordinatesOf(i object.Identity) snapshot.Coordinates {
	return snapshot.Coordinates{APIVersion: i.APIVersion, Kind: i.Kind, Namespace: i.Namespace, Name: i.Name}
}
