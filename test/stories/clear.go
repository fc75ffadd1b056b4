package stories

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
)

// stays tells if the object outlives Clear: a namespace and a definition take seconds to go
// and to come.
func (m Manifest) stays() bool {
	return slices.Contains([]string{"Namespace", "CustomResourceDefinition", "Event"}, m.Object.GetKind())
}

// lasting are resources that outlive Clear, or that a control plane writes all the time, and
// passing are objects that it makes by itself in every namespace. What managed labels it
// makes by itself, too.
var (
	lasting = []string{"events", "leases", "namespaces", "customresourcedefinitions", "flowschemas", "prioritylevelconfigurations"}
	passing = []string{"serviceaccounts/default", "configmaps/kube-root-ca.crt"}
	managed = "kube-aggregator.kubernetes.io/automanaged"
)

// abreast is how many requests are under way at once.
const abreast = 8

// place is where an object is, and what of it changes with each write.
type place struct {
	resource                 schema.GroupVersionResource
	namespace, name, version string
}

// State is what is there: by UID, without what a control plane writes by itself.
type State map[types.UID]place

// Equal tells if nothing was written in between.
func (s State) Equal(other State) bool { return maps.Equal(s, other) }

// State looks at everything.
func (l *Loader) State(ctx context.Context) (State, error) {
	lists, err := l.discovery.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // a story may be about an API that is down
		return nil, fmt.Errorf("find out what is served: %w", err)
	}
	var group errgroup.Group
	group.SetLimit(abreast)
	var mu sync.Mutex
	state := State{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete", "patch"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if slices.Contains(lasting, resource.Name) {
				continue
			}
			group.Go(func() error {
				found, err := l.of(ctx, version.WithResource(resource.Name))
				mu.Lock()
				defer mu.Unlock()
				maps.Copy(state, found)
				return err
			})
		}
	}
	return state, group.Wait()
}

// of is the state of one type, of whose objects only the metadata are asked for: a test
// looks at everything more than a hundred times.
func (l *Loader) of(ctx context.Context, resource schema.GroupVersionResource) (State, error) {
	found, err := l.metadata.Resource(resource).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) {
		return nil, nil // a type can be named some time after it has gone, and a story be about one that is down
	} else if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	state := State{}
	for i := range found.Items {
		o := &found.Items[i]
		if o.GetLabels()[managed] == "" && !slices.Contains(passing, resource.Resource+"/"+o.GetName()) {
			state[o.GetUID()] = place{resource, o.GetNamespace(), o.GetName(), o.GetResourceVersion()}
		}
	}
	return state, nil
}

// Clear takes out what came in since a state, whatever holds it, but for namespaces and
// definitions. What was there and has gone or changed stays so.
func (l *Loader) Clear(ctx context.Context, since State) error {
	var left []string
	err := wait.PollUntilContextTimeout(ctx, pace, patience, true, func(ctx context.Context) (bool, error) {
		now, err := l.State(ctx)
		if err != nil {
			return false, err
		}
		left = nil
		var group errgroup.Group
		group.SetLimit(abreast)
		for uid, at := range now {
			if _, old := since[uid]; old {
				continue
			}
			left = append(left, at.resource.Resource+" "+at.namespace+"/"+at.name)
			group.Go(func() error { return l.wipe(ctx, uid, at) })
		}
		return len(left) == 0, group.Wait()
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("clear: these keep coming: %s", strings.Join(left, ", "))
	}
	return err
}

// wipe deletes an object at once.
func (l *Loader) wipe(ctx context.Context, uid types.UID, at place) error {
	client := l.client.Resource(at.resource).Namespace(at.namespace)
	now, policy := int64(0), metav1.DeletePropagationBackground
	err := client.Delete(ctx, at.name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err == nil {
		_, err = client.Patch(ctx, at.name, types.MergePatchType, []byte(`{"metadata":{"uid":"`+string(uid)+`","finalizers":null}}`), metav1.PatchOptions{})
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
		return nil // others have deleted it, or made another of its name
	}
	if err != nil {
		return fmt.Errorf("delete %s %s: %w", at.resource.Resource, at.name, err)
	}
	return nil
}
