package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/plane"
)

// pace is how often the loader asks whether something has come about, and patience is
// how long it goes on asking.
const (
	pace     = 100 * time.Millisecond
	patience = time.Minute
)

// Loader writes manifests to a control plane of ours.
type Loader struct {
	client    dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
}

// NewLoader refuses a kubeconfig that leads anywhere but to a control plane of ours.
func NewLoader(kubeconfig string) (*Loader, error) {
	if err := plane.RequireOurs(kubeconfig); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("prepare client: %w", err)
	}
	m, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("prepare client: %w", err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("prepare client: %w", err)
	}
	return &Loader{client, m, d, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}, nil
}

// Ready tells if the API server answers.
func (l *Loader) Ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return l.discovery.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// Load creates every object without its owners, then, since all UIDs are known now, links
// them, and last deletes those that are to be deleted: so owners may be named in any order,
// in circles too. What it returns are the UIDs, by what String says of a manifest.
func (l *Loader) Load(ctx context.Context, manifests []Manifest) (map[string]string, error) {
	uids := make(map[string]string, len(manifests))
	for _, m := range manifests {
		uid, err := l.create(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("create %s: %w", m, err)
		}
		uids[m.String()] = uid
	}
	for _, m := range manifests {
		if err := l.link(ctx, m, uids); err != nil {
			return nil, fmt.Errorf("link %s: %w", m, err)
		}
	}
	for _, m := range manifests {
		if err := l.remove(ctx, m); err != nil {
			return nil, fmt.Errorf("delete %s: %w", m, err)
		}
	}
	return uids, nil
}

func (l *Loader) create(ctx context.Context, m Manifest) (uid string, err error) {
	at, err := l.at(ctx, m)
	if err != nil {
		return "", err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, pace, patience, true, func(ctx context.Context) (bool, error) {
		var created *unstructured.Unstructured
		created, last = at.Create(ctx, m.Object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(last) && m.stays() {
			created, last = at.Get(ctx, m.Object.GetName(), metav1.GetOptions{})
		}
		if apierrors.IsNotFound(last) {
			return false, nil // a type can be known some time before it is served
		} else if last != nil {
			return false, last
		}
		uid = string(created.GetUID())
		return true, nil
	})
	return uid, orWhy(err, last)
}

func (l *Loader) link(ctx context.Context, m Manifest, uids map[string]string) error {
	if len(m.owners) == 0 {
		return nil
	}
	owners, err := m.resolved(uids)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
	if err != nil {
		return err
	}
	at, err := l.at(ctx, m)
	if err != nil {
		return err
	}
	_, err = at.Patch(ctx, m.Object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (l *Loader) remove(ctx context.Context, m Manifest) error {
	if m.delete == "" {
		return nil
	}
	at, err := l.at(ctx, m)
	if err != nil {
		return err
	}
	policy := metav1.DeletionPropagation(m.delete)
	return at.Delete(ctx, m.Object.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy})
}

// at is where the object of a manifest lives. It waits for a type that was just defined.
func (l *Loader) at(ctx context.Context, m Manifest) (dynamic.ResourceInterface, error) {
	gvk := m.Object.GroupVersionKind()
	var mapping *meta.RESTMapping
	var last error
	err := wait.PollUntilContextTimeout(ctx, pace, patience, true, func(context.Context) (bool, error) {
		if mapping, last = l.mapper.RESTMapping(gvk.GroupKind(), gvk.Version); meta.IsNoMatchError(last) {
			l.mapper.Reset()
			return false, nil
		}
		return true, last
	})
	if err != nil {
		return nil, fmt.Errorf("find out where it is served: %w", orWhy(err, last))
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return l.client.Resource(mapping.Resource).Namespace(m.Object.GetNamespace()), nil
	}
	return l.client.Resource(mapping.Resource), nil
}

// Settle returns when the controllers have made of every manifest what they make of it.
func (l *Loader) Settle(ctx context.Context, manifests []Manifest) error {
	for _, m := range manifests {
		at, err := l.at(ctx, m)
		if err != nil {
			return err
		}
		var missing error
		err = wait.PollUntilContextTimeout(ctx, pace, patience, true, func(ctx context.Context) (bool, error) {
			live, err := at.Get(ctx, m.Object.GetName(), metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			missing = m.unsettled(live)
			return missing == nil, nil
		})
		if err != nil {
			return fmt.Errorf("wait for %s: %w", m, orWhy(err, missing))
		}
	}
	return nil
}

// unsettled says what a controller has yet to do for an object; nil for nothing.
func (m Manifest) unsettled(live *unstructured.Unstructured) error {
	want, scales, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if have, _, _ := unstructured.NestedInt64(live.Object, "status", "replicas"); scales && have != want {
		return fmt.Errorf("it has %d of %d replicas", have, want)
	}
	if m.delete == "" {
		return nil
	}
	if live.GetDeletionTimestamp() == nil {
		return fmt.Errorf("it is not terminating")
	}
	for _, finalizer := range live.GetFinalizers() {
		if finalizer != metav1.FinalizerDeleteDependents && !slices.Contains(m.Object.GetFinalizers(), finalizer) {
			return fmt.Errorf("it still has finalizer %s", finalizer)
		}
	}
	return nil
}

// orWhy prefers what was seen last to the news that time is up.
func orWhy(err, seen error) error {
	if seen != nil && wait.Interrupted(err) {
		return seen
	}
	return err
}
