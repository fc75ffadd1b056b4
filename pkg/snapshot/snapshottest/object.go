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

// Object returns an object at "namespace/name", or at "name" if it is cluster-scoped. Its UID
// is kind and path, such as "Pod/shop/web".
func Object(apiVersion, kind, path string, options ...Option) object.Object {
	namespace, name := splitPath(path)
	o := object.Object{
		Identity: object.Identity{
			APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name,
			UID: types.UID(kind + "/" + path),
		},
		Created: Taken.Add(-24 * time.Hour),
	}
	for _, option := range options {
		option(&o)
	}
	return o
}

// Pod returns a core/v1 Pod.
func Pod(path string, options ...Option) object.Object { return Object("v1", "Pod", path, options...) }

// Node returns a core/v1 Node, which is cluster-scoped.
func Node(name string, options ...Option) object.Object {
	return Object("v1", "Node", name, options...)
}

// ConfigMap returns a core/v1 ConfigMap.
func ConfigMap(path string, options ...Option) object.Object {
	return Object("v1", "ConfigMap", path, options...)
}

// Secret returns a core/v1 Secret.
func Secret(path string, options ...Option) object.Object {
	return Object("v1", "Secret", path, options...)
}

// Deployment returns an apps/v1 Deployment.
func Deployment(path string, options ...Option) object.Object {
	return Object("apps/v1", "Deployment", path, options...)
}

// Role returns an rbac.authorization.k8s.io/v1 Role, which Types also serves as v1beta1.
func Role(path string, options ...Option) object.Object {
	return Object("rbac.authorization.k8s.io/v1", "Role", path, options...)
}

// Namespace returns a core/v1 Namespace, whose type is one of TypesWithContents.
func Namespace(name string, options ...Option) object.Object {
	return Object("v1", "Namespace", name, options...)
}

// CRD returns a CustomResourceDefinition, whose type is one of TypesWithContents. Its name
// is that of the resource, as in "widgets.example.com".
func CRD(name string, options ...Option) object.Object {
	return Object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, options...)
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

// UID replaces the object's UID, including that of its aliases.
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

// WithFinalizers appends finalizers.
func WithFinalizers(finalizers ...string) Option {
	return func(o *object.Object) { o.Finalizers = append(o.Finalizers, finalizers...) }
}

// Terminating marks the object as terminating for a minute, and appends finalizers.
func Terminating(finalizers ...string) Option { return TerminatingFor(time.Minute, finalizers...) }

// TerminatingFor marks the object as terminating for that long, and appends finalizers.
func TerminatingFor(age time.Duration, finalizers ...string) Option {
	return func(o *object.Object) {
		deleted := Taken.Add(-age)
		o.Deleted = &deleted
		o.Finalizers = append(o.Finalizers, finalizers...)
	}
}

// Foreground marks the object as being deleted in the foreground.
func Foreground() Option { return Terminating(object.ForegroundFinalizer) }

// InGracePeriod marks the object as a Pod in its grace period, which was over a minute ago.
func InGracePeriod() Option { return InGracePeriodUntil(-time.Minute) }

// InGracePeriodUntil marks the object as a Pod whose grace period ends that long after the
// scan.
func InGracePeriodUntil(end time.Duration) Option {
	return func(o *object.Object) {
		TerminatingFor(-end)(o)
		grace := int64(30)
		o.GraceSeconds = &grace
	}
}

// OnNode sets the Node of a Pod past its grace period.
func OnNode(name string, state object.NodeState) Option {
	return func(o *object.Object) { o.Node = &object.PodNode{Name: name, State: state} }
}

// Running marks the object as a Pod that a kubelet has to stop.
func Running() Option { return func(o *object.Object) { o.Running = true } }

// WithClaims sets the claims that a Pod mounts, or the one that a volume is bound to.
func WithClaims(claims ...string) Option {
	return func(o *object.Object) { o.Claims = append([]string{}, claims...) }
}

// DeletedWith makes the object one that a controller deletes with another one, of the same namespace.
func DeletedWith(leader object.Identity) Option {
	return func(o *object.Object) { o.Lifecycle = &object.Lifecycle{With: leader} }
}

// Reporting sets the conditions of a terminating Namespace: those of the namespace controller
// that are true, as pairs of type and message. Without any, it has reported only success.
func Reporting(conditions ...string) Option {
	return func(o *object.Object) {
		o.NamespaceStatus = &object.NamespaceStatus{Conditions: []object.NamespaceCondition{{Type: object.GroupVersionFailure}}}
		for i := 0; i < len(conditions); i += 2 {
			o.NamespaceStatus.Conditions = append(o.NamespaceStatus.Conditions, object.NamespaceCondition{Type: conditions[i], True: true, Message: conditions[i+1]})
		}
	}
}

// AlsoServedAs adds an alias with another apiVersion and kind.
func AlsoServedAs(apiVersion, kind string) Option {
	return func(o *object.Object) {
		alias := o.Identity
		alias.APIVersion, alias.Kind = apiVersion, kind
		o.Aliases = append(o.Aliases, alias)
	}
}

// Edit changes a reference under construction.
type Edit func(*object.Reference)

// To returns a reference to the owner.
func To(owner object.Object, edits ...Edit) object.Reference {
	r := object.Reference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// As changes the reference's apiVersion and kind.
func As(apiVersion, kind string) Edit {
	return func(r *object.Reference) { r.APIVersion, r.Kind = apiVersion, kind }
}

// Named changes the reference's name.
func Named(name string) Edit { return func(r *object.Reference) { r.Name = name } }

// WithUID changes the reference's UID.
func WithUID(uid types.UID) Edit { return func(r *object.Reference) { r.UID = uid } }

// Controlling marks the reference as that of the managing controller.
func Controlling(r *object.Reference) { yes := true; r.Controller = &yes }

// Blocking makes the dependent block a foreground deletion of its owner.
func Blocking(r *object.Reference) { yes := true; r.BlockOwnerDeletion = &yes }

// Reversed returns a reversed copy of a list.
func Reversed[T any](list []T) []T {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func splitPath(path string) (namespace, name string) {
	if namespace, name, ok := strings.Cut(path, "/"); ok {
		return namespace, name
	}
	return "", path
}
