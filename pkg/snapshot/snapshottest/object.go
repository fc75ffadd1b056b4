package snapshottest

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Option changes an object under construction.
type Option func(*object.Object)

// Object is an object at "namespace/name", or at "name" where it is
// cluster-scoped. Its UID is its kind and place, such as "Pod/shop/web".
func Object(apiVersion, kind, at string, with ...Option) object.Object {
	namespace, name := place(at)
	o := object.Object{
		Identity: object.Identity{
			APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name,
			UID: types.UID(kind + "/" + at),
		},
		Created: Taken.Add(-24 * time.Hour),
	}
	for _, change := range with {
		change(&o)
	}
	return o
}

// Pod is a core/v1 Pod.
func Pod(at string, with ...Option) object.Object { return Object("v1", "Pod", at, with...) }

// Node is a core/v1 Node, which is cluster-scoped.
func Node(name string, with ...Option) object.Object { return Object("v1", "Node", name, with...) }

// ConfigMap is a core/v1 ConfigMap.
func ConfigMap(at string, with ...Option) object.Object {
	return Object("v1", "ConfigMap", at, with...)
}

// Secret is a core/v1 Secret.
func Secret(at string, with ...Option) object.Object { return Object("v1", "Secret", at, with...) }

// Deployment is an apps/v1 Deployment.
func Deployment(at string, with ...Option) object.Object {
	return Object("apps/v1", "Deployment", at, with...)
}

// Role is an rbac.authorization.k8s.io/v1 Role, which Types serves as v1beta1 too.
func Role(at string, with ...Option) object.Object {
	return Object("rbac.authorization.k8s.io/v1", "Role", at, with...)
}

// Namespace is a core/v1 Namespace, one of Containers.
func Namespace(name string, with ...Option) object.Object {
	return Object("v1", "Namespace", name, with...)
}

// Definition is a CustomResourceDefinition, one of Containers. Its name is
// that of the resource, as in "widgets.example.com".
func Definition(name string, with ...Option) object.Object {
	return Object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, with...)
}

// OwnedBy appends a plain reference to each owner.
func OwnedBy(owners ...object.Object) Option {
	return func(o *object.Object) {
		for _, owner := range owners {
			o.Owners = append(o.Owners, To(owner))
		}
	}
}

// Owned appends owner references.
func Owned(refs ...object.Reference) Option {
	return func(o *object.Object) { o.Owners = append(o.Owners, refs...) }
}

// UID replaces the object's UID, under all its identities so far.
func UID(uid types.UID) Option {
	return func(o *object.Object) {
		o.UID = uid
		for i := range o.Aliases {
			o.Aliases[i].UID = uid
		}
	}
}

// Labeled sets one label.
func Labeled(key, value string) Option {
	return func(o *object.Object) {
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[key] = value
	}
}

// Held appends finalizers.
func Held(finalizers ...string) Option {
	return func(o *object.Object) { o.Finalizers = append(o.Finalizers, finalizers...) }
}

// Terminating marks the object as deleted a minute ago and held by finalizers.
func Terminating(finalizers ...string) Option { return TerminatingFor(time.Minute, finalizers...) }

// TerminatingFor marks the object as deleted that long ago and held by finalizers.
func TerminatingFor(age time.Duration, finalizers ...string) Option {
	return func(o *object.Object) {
		deleted := Taken.Add(-age)
		o.Deleted = &deleted
		o.Finalizers = append(o.Finalizers, finalizers...)
	}
}

// Foreground marks the object as being deleted in the foreground.
func Foreground() Option { return Terminating(object.ForegroundFinalizer) }

// Stopping marks the object as a Pod in its grace period.
func Stopping() Option {
	return func(o *object.Object) {
		Terminating()(o)
		grace := int64(30)
		o.GraceSeconds = &grace
	}
}

// Running marks the object as a Pod that a kubelet has to stop.
func Running() Option { return func(o *object.Object) { o.Running = true } }

// Claiming says which claims a Pod mounts, or a volume is bound to.
func Claiming(claims ...string) Option {
	return func(o *object.Object) { o.Claims = append([]string{}, claims...) }
}

// AlsoServedAs gives the object a further identity in its place.
func AlsoServedAs(apiVersion, kind string) Option {
	return func(o *object.Object) {
		alias := o.Identity
		alias.APIVersion, alias.Kind = apiVersion, kind
		o.Aliases = append(o.Aliases, alias)
	}
}

// Edit changes a reference under construction.
type Edit func(*object.Reference)

// To is the reference that a dependent of owner should carry.
func To(owner object.Object, edits ...Edit) object.Reference {
	r := object.Reference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// As makes the reference claim another apiVersion and kind.
func As(apiVersion, kind string) Edit {
	return func(r *object.Reference) { r.APIVersion, r.Kind = apiVersion, kind }
}

// Named makes the reference claim another name.
func Named(name string) Edit { return func(r *object.Reference) { r.Name = name } }

// WithUID makes the reference claim another UID.
func WithUID(uid types.UID) Edit { return func(r *object.Reference) { r.UID = uid } }

// Controlling marks the reference as that of the managing controller.
func Controlling(r *object.Reference) { yes := true; r.Controller = &yes }

// Blocking makes the dependent hold up a foreground deletion of its owner.
func Blocking(r *object.Reference) { yes := true; r.BlockOwnerDeletion = &yes }

// Reversed is a copy of a list, last first.
func Reversed[T any](list []T) []T {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func place(at string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(at, "/"); ok {
		return namespace, name
	}
	return "", at
}
