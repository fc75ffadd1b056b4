package cluster

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// lookup asks what lives at the coordinates.
func (l *scanner) lookup(ctx context.Context, view *snapshot.View, at snapshot.Coordinates) snapshot.Lookup {
	out := snapshot.Lookup{Coordinates: at, Outcome: snapshot.Failed}
	m, ok := view.Map(at.APIVersion, at.Kind)
	if !ok || !m.Served || !snapshot.ValidName(at.Name) {
		out.Reason, out.Message = snapshot.Unverified, "no request can be made for it"
		return out
	}
	result, err := l.client.Do(ctx, func() *rest.Request { return l.client.Get(m.Type, at.Namespace, at.Name, AcceptObject) })
	var found *metav1.PartialObjectMetadata
	if err == nil {
		found, err = ReadObject(result, Query{Type: m.Type, Namespace: at.Namespace, Name: at.Name})
	}
	switch {
	case err == nil:
		// As a list would show it, whatever version the reference asked for.
		preferred := view.Versions(m.Type.Group, m.Type.Kind)[0]
		o := object.FromMeta(preferred.APIVersion(), preferred.Kind, found, l.scope.Labels)
		out.Outcome, out.Object = snapshot.Found, &o
	case IsNotFound(err, m.Type.GroupResource(), at.Name):
		out = l.absent(ctx, view, m.Type, out)
	default:
		out.Reason, out.Message = Classify(err)
		if out.Reason == snapshot.Vanished {
			out.Reason = snapshot.Unverified
		}
	}
	return out
}

// lookupAll asks for each, and once more where an object came whose UID neither a list
// at that place nor any reference of the objects knows. From it follows that an owner was
// replaced, and that what has that owner alone may go: for that, an answer that was broken
// on its way must not be enough. known returns the object of a UID that was seen, or nil.
func (l *scanner) lookupAll(ctx context.Context, view *snapshot.View, at []snapshot.Coordinates, objects []*object.Object, known func(types.UID) *object.Object) ([]snapshot.Lookup, error) {
	answers, err := InParallel(ctx, l.client.Options.Small, at, func(c snapshot.Coordinates) snapshot.Lookup { return l.lookup(ctx, view, c) })
	strange := map[types.UID]bool{}
	for _, a := range answers {
		if a.Object == nil {
			continue
		}
		if holder := known(a.Object.UID); holder == nil || !holder.Same(a.Object) {
			strange[a.Object.UID] = true
		}
	}
	if err != nil || len(strange) == 0 {
		return answers, err
	}
	for _, o := range objects {
		for _, r := range o.Owners {
			if known(r.UID) == nil {
				delete(strange, r.UID)
			}
		}
	}
	return InParallel(ctx, l.client.Options.Small, answers, func(a snapshot.Lookup) snapshot.Lookup {
		if a.Object == nil || !strange[a.Object.UID] {
			return a
		}
		return l.confirm(ctx, view, a, known(a.Object.UID))
	})
}

// confirm asks a second time, and believes nothing of two answers that name different
// objects, or of a UID that holder has, which is another object.
func (l *scanner) confirm(ctx context.Context, view *snapshot.View, first snapshot.Lookup, holder *object.Object) snapshot.Lookup {
	failed := snapshot.Lookup{Coordinates: first.Coordinates, Outcome: snapshot.Failed, Reason: snapshot.Unreadable}
	second := l.lookup(ctx, view, first.Coordinates)
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

// absent settles a 404 that names the object: it proves absence only where a
// list of that type succeeded (design, section 4).
func (l *scanner) absent(ctx context.Context, view *snapshot.View, t snapshot.Type, out snapshot.Lookup) snapshot.Lookup {
	if !view.Listed(t.GroupResource(), out.Namespace) {
		if err := l.listable(ctx, t, out.Namespace); err != nil {
			out.Reason = snapshot.Unverified
			out.Message = fmt.Sprintf("it was not found, but neither could %s be listed: %v", t, err)
			return out
		}
	}
	out.Outcome = snapshot.Absent
	return out
}

// listable tries the shortest list of a type, once per type and namespace.
func (l *scanner) listable(ctx context.Context, t snapshot.Type, namespace string) error {
	key := probeKey{t.GroupResource(), namespace}
	l.probesMu.Lock()
	probe, ok := l.probes[key]
	if !ok {
		probe = sync.OnceValue(func() error {
			if !t.Can("list") {
				return fmt.Errorf("the server does not offer it")
			}
			_, _, err := l.client.newPager(Query{Type: t, Namespace: namespace}, false, nil).page(ctx, metav1.ListOptions{Limit: 1}, nil, maxObjects)
			return err
		})
		l.probes[key] = probe
	}
	l.probesMu.Unlock()
	return probe()
}

type probeKey struct {
	schema.GroupResource
	namespace string
}
