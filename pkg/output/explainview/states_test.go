package explainview_test

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// state is a situation in which a user asks about an object.
type state struct {
	name  string
	asked object.Object // looked for by its UID; where no object has that, it is gone
	seen  []st.Part
	told  explain.EventHistory
}

// Objects that most states share.
var (
	web     = st.Deployment("shop/web")
	canary  = st.Deployment("shop/canary")
	old     = st.Deployment("shop/old")
	recent  = st.Deployment("shop/old", st.UID("recent"))
	far     = st.Deployment("far/web")
	node    = st.Node("worker")
	leaving = st.Deployment("shop/web", st.Foreground())
)

const hold = "example.com/drain"

var (
	held        = st.TerminatingFor(3*time.Hour, hold)
	claims      = snapshot.Type{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Singular: "persistentvolumeclaim", Namespaced: true, Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}
	apiServices = snapshot.Type{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService", Singular: "apiservice", Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}
	notice      = object.ClusterEvent{Last: st.Taken.Add(-3 * time.Minute), Count: 2, Type: "Warning", Reason: "OwnerRefInvalidNamespace", Source: "garbage-collector-controller", Message: `ownerRef [apps/v1/Deployment, namespace: shop, name: web, uid: Deployment/far/web] does not exist in namespace "shop"`, UID: "ConfigMap/shop/flags"}
	scheduled   = object.ClusterEvent{Last: st.Taken.Add(-20 * time.Minute), Count: 1, Type: "Normal", Reason: "Scheduled", Source: "default-scheduler", Message: "Successfully assigned shop/worker to node-1", UID: "Pod/shop/worker"}
	killing     = object.ClusterEvent{Last: st.Taken.Add(-4 * time.Minute), Count: 1, Type: "Normal", Reason: "Killing", Source: "kubelet", Message: "Stopping container main", UID: "Pod/shop/worker"}
)

// stuck returns a Namespace that has been terminating for hours, with these conditions.
func stuck(conditions ...string) object.Object {
	return st.Namespace("shop", st.TerminatingFor(3*time.Hour), st.Reporting(conditions...))
}

// flags returns the object that most states explain.
func flags(with ...st.Option) object.Object { return st.ConfigMap("shop/flags", with...) }

func owned(refs ...object.Reference) object.Object { return flags(st.Owned(refs...)) }

func about(name string, asked object.Object, others ...object.Object) state {
	return state{name: name, asked: asked, seen: []st.Part{st.Listing(append(others, asked)...)}}
}

func (s state) but(parts ...st.Part) state {
	s.seen = append(s.seen, parts...)
	return s
}

func (s state) telling(events ...object.ClusterEvent) state {
	s.told = explain.EventHistory{Events: events}
	return s
}

func (s state) unread(why string) state {
	s.told.Unread = why
	return s
}

// absent returns a requested object that does not exist.
func absent(name string, asked object.Object, seen ...object.Object) state {
	return state{name: name, asked: asked, seen: []st.Part{st.Listing(seen...)}}
}

var states = []state{
	about("it has no owner", flags()),
	about("its one owner is there", owned(st.To(web, st.Controlling, st.Blocking)), web),
	about("its two owners are there", owned(st.To(web), st.To(canary)), web, canary),
	about("its owner is cluster-scoped", owned(st.To(node)), node),
	about("its one owner is missing, and what hangs on it goes with it", st.ConfigMap("shop/flags", st.OwnedBy(old)),
		st.Secret("shop/below", st.OwnedBy(flags())), st.Object("v1", "PersistentVolumeClaim", "shop/data-0", st.OwnedBy(st.Secret("shop/below")))).but(st.Serving(claims)),
	about("its owner is missing, and the server was asked for it by name", owned(st.To(old))).but(st.Absent("apps/v1", "Deployment", "shop/old")),
	about("one owner is missing, another is there", owned(st.To(old), st.To(web)), web),
	about("its owner was replaced", owned(st.To(old)), recent),
	about("its owner lives in another namespace", owned(st.To(far)), far).telling(notice, scheduled),
	about("its owner has another name", owned(st.To(web, st.Named("webb"))), web),
	about("its owner is of another kind", owned(st.To(web, st.As("v1", "Pod"))), web),
	about("it is cluster-scoped, and its owner is not", st.Node("edge", st.OwnedBy(web)), web),
	about("it is cluster-scoped, and its owner is not, on a server older than what this program knows", st.Node("edge", st.OwnedBy(web)), web).but(st.FromServer("v1.19.16")),
	about("its reference names a version that is not served", owned(st.To(web, st.As("apps/v1beta1", "Deployment"))), web),
	about("its reference names a version that is not served, and its other owner is missing", owned(st.To(web, st.As("apps/v1beta1", "Deployment")), st.To(old)), web),
	about("its reference names an unknown kind", owned(st.To(web, st.As("example.com/v1", "Gizmo")))),
	about("its reference names the kind of a list", owned(st.To(st.Pod("shop/worker"), st.As("v1", "PodList"))), st.Pod("shop/worker")),
	about("its reference spells the kind in lower case", owned(st.To(st.Pod("shop/worker"), st.As("v1", "pod"))), st.Pod("shop/worker")),
	about("its owner may not be asked for", owned(st.To(st.Secret("shop/token")))).but(st.Unlisted("secrets"), st.Failed("v1", "Secret", "shop/token", snapshot.Forbidden)),
	about("the type of its owner may not be listed", owned(st.To(st.Secret("shop/token")))).but(st.Unreadable("secrets", snapshot.Forbidden)),
	about("the group of its owner does not answer, and its other owner is missing", owned(st.To(web), st.To(st.Pod("shop/gone")))).but(st.Undiscovered("apps", snapshot.Unavailable)),
	about("its owner waits for it, and it blocks", owned(st.To(leaving, st.Controlling, st.Blocking)), leaving),
	about("its owner waits for its dependents, and it does not block", owned(st.To(leaving)), leaving),
	about("its owner waits for its dependents, and another is there", owned(st.To(leaving, st.Blocking), st.To(canary)), leaving, canary),
	about("its owner is being deleted, and held by a foreign finalizer", owned(st.To(web)), st.Deployment("shop/web", held)),
	about("one of its owners is being deleted, and held by a foreign finalizer", owned(st.To(web), st.To(canary)), st.Deployment("shop/web", held), canary),
	about("its owner is being deleted, and orphans it", owned(st.To(web)), st.Deployment("shop/web", st.Terminating(object.OrphanFinalizer))),
	about("its owner goes, as that one's owner is missing", owned(st.To(canary)), st.Deployment("shop/canary", st.OwnedBy(old))),
	about("one of its owners goes, another is there", owned(st.To(canary), st.To(web)), web, st.Deployment("shop/canary", st.OwnedBy(old))),
	about("its owner is missing, and a finalizer will hold it", flags(st.OwnedBy(old), st.WithFinalizers(hold))),
	about("it is being deleted, and held by a foreign finalizer", flags(held)),
	about("it is a Pod in its grace period", st.Pod("shop/worker", st.InGracePeriodUntil(20*time.Second))),
	about("it is a Pod past its grace period", st.Pod("shop/worker", st.InGracePeriod())),
	about("it is a Pod past its grace period, and its Node does not exist", st.Pod("shop/worker", st.InGracePeriod(), st.OnNode("worker-3\x1b[31m", object.NodeAbsent))),
	about("it is a Pod past its grace period that a finalizer holds, too", st.Pod("shop/worker", st.InGracePeriod(), st.WithFinalizers("example.com/drain"), st.OnNode("worker-3", object.NodeNotReady))),
	about("it is a running Pod whose owner is missing", st.Pod("shop/worker", st.Running(), st.OwnedBy(old))),
	about("it is being deleted in the foreground, and waits for what the collector deletes", leaving,
		st.ConfigMap("shop/a", st.Owned(st.To(leaving, st.Blocking))), st.ConfigMap("shop/b", st.Owned(st.To(leaving, st.Blocking))), st.ConfigMap("shop/c", st.Owned(st.To(leaving)))),
	about("it is being deleted in the foreground, and its dependent is held", leaving, st.ConfigMap("shop/a", held, st.Owned(st.To(leaving, st.Blocking)))),
	about("it waits at the head of a chain of three that ends at a finalizer", leaving,
		st.ConfigMap("shop/second", st.Foreground(), st.Owned(st.To(leaving, st.Blocking))),
		st.ConfigMap("shop/third", held, st.Owned(st.To(st.ConfigMap("shop/second"), st.Blocking)))),
	about("it is being deleted in the foreground, and its blocker cannot be judged", leaving,
		st.ConfigMap("shop/a", st.Owned(st.To(leaving, st.Blocking), st.To(old, st.As("apps/v1beta1", "Deployment"))))),
	about("it is being deleted in the foreground, in a circle", st.ConfigMap("shop/chicken", st.Foreground(), st.Owned(st.To(st.ConfigMap("shop/egg"), st.Blocking))),
		st.ConfigMap("shop/egg", st.Foreground(), st.Owned(st.To(st.ConfigMap("shop/chicken"), st.Blocking)))),
	about("it is in a circle, and nobody has deleted any of it", st.ConfigMap("shop/chicken", st.OwnedBy(st.ConfigMap("shop/egg"))),
		st.ConfigMap("shop/egg", st.OwnedBy(st.ConfigMap("shop/chicken")))),
	about("it owns itself", flags(st.OwnedBy(flags()))),
	about("it owns itself, and is being deleted in the foreground", flags(st.Foreground(), st.Owned(st.To(flags(), st.Blocking)))),
	about("nothing blocks its deletion any more, and nobody ends it", flags(st.TerminatingFor(time.Hour, object.ForegroundFinalizer))),
	about("it is being deleted, and lets go of its dependents", st.Deployment("shop/web", st.Terminating(object.OrphanFinalizer)), owned(st.To(web)), st.Secret("shop/token", st.OwnedBy(web))),
	about("it is a namespace that is being deleted, with contents", st.Namespace("shop", st.Terminating()), flags(), st.Secret("shop/token", st.WithFinalizers(hold))).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace that is being deleted, empty, and an API group cannot be discovered", st.Namespace("shop", st.Terminating())).but(st.Serving(st.TypesWithContents()...), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)),
	about("it is a namespace that is being deleted, empty, and a type cannot be listed", st.Namespace("shop", st.Terminating())).but(st.Serving(st.TypesWithContents()...), st.Unreadable("widgets.example.com", snapshot.Webhook)),
	about("it is a namespace that is being deleted, empty, and the user may not list a type", st.Namespace("shop", st.Terminating())).but(st.Serving(st.TypesWithContents()...), st.Unreadable("widgets.example.com", snapshot.Forbidden)),
	about("it is a namespace that is being deleted, and a Pod in it should have stopped", st.Namespace("shop", st.Terminating()), flags(), st.Pod("shop/worker", st.Running(), st.InGracePeriod())).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and an APIService without a server keeps it", stuck(object.DiscoveryFailure, "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"),
		st.Object("apiregistration.k8s.io/v1", "APIService", "v1beta1.metrics.k8s.io")).but(st.Serving(append(st.TypesWithContents(), apiServices)...), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)),
	about("it is a namespace, and an APIService kept it that has a server again", stuck(object.DiscoveryFailure, "1 failing: metrics.k8s.io/v1beta1: stale")).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and a version that cannot be parsed keeps it", stuck(object.GroupVersionFailure, "unexpected GroupVersion string: a/b/c")).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and a finalizer that nobody removes keeps it", stuck(object.ContentRemaining, "Some resources are remaining: configmaps. has 1 resource instances", object.FinalizersRemaining, "example.com/drain in 1 resource instances"),
		flags(held)).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and a dead conversion webhook keeps it", stuck(object.ContentFailure, "Failed to delete all resource types, 1 remaining: conversion webhook for example.com/v1, Kind=Widget failed"),
		flags(held), st.Secret("shop/token", st.Terminating(hold))).but(st.Serving(st.TypesWithContents()...), st.Unreadable("widgets.example.com", snapshot.Webhook)),
	about("it is a namespace, and the API server refuses to delete its contents", stuck(object.ContentFailure, `Failed to delete all resource types, 1 remaining: admission webhook "deny.example.com" denied the request`, object.ContentRemaining, "Some resources are remaining: configmaps. has 1 resource instances"),
		flags()).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and its conditions could not be read", st.Namespace("shop", st.TerminatingFor(3*time.Hour))).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and the namespace controller has reported nothing", st.Namespace("shop", st.TerminatingFor(3*time.Hour), func(o *object.Object) { o.NamespaceStatus = &object.NamespaceStatus{} }), flags()).but(st.Serving(st.TypesWithContents()...)),
	about("it is a namespace, and finalizers of its own keep it", stuck(), flags()).but(st.Serving(st.TypesWithContents()...), func(s *snapshot.Snapshot) {
		for _, o := range s.Objects {
			if o.IsNamespace() {
				o.Finalizers, o.NamespaceStatus.Finalizers = []string{hold}, []string{"example.com/audit"}
			}
		}
	}),
	about("it lives in a namespace whose controller fails", flags(), stuck(object.ContentFailure, "denied")).but(st.Serving(st.TypesWithContents()...)),
	about("it lives in a namespace whose owner is gone, with a Pod that stays", flags(), st.Namespace("shop", st.OwnedBy(st.Node("gone"))), st.Pod("shop/worker", st.WithFinalizers(hold))).but(st.Serving(st.TypesWithContents()...)),
	about("it lives in a namespace that is being deleted", owned(st.To(web)), web, st.Namespace("shop", st.Terminating())).but(st.Serving(st.TypesWithContents()...)),
	about("it is a CustomResourceDefinition that is being deleted", st.CRD("widgets.example.com", st.Terminating("customresourcecleanup.apiextensions.k8s.io")),
		st.Object("example.com/v1", "Widget", "shop/gear", st.Terminating(hold)), flags(st.OwnedBy(st.Object("example.com/v1", "Widget", "shop/gear")))).but(st.Serving(st.TypesWithContents()...)),
	about("two references carry one UID, one good and one bad", owned(st.To(web), st.To(web, st.Named("webb"))), web),
	about("two owners claim to be its controller, and a third is missing", owned(st.To(web, st.Controlling), st.To(canary, st.Controlling), st.To(old)), web, canary),
	about("its owner is of a kind that the collector does not watch", owned(st.To(st.Object("v1", "ComponentStatus", "scheduler")))).but(st.Found(st.Object("v1", "ComponentStatus", "scheduler"))),
	{name: "it is of a type that the collector does not watch", asked: st.Object("v1", "Event", "shop/told", st.OwnedBy(old)), seen: []st.Part{st.Found(st.Object("v1", "Event", "shop/told", st.OwnedBy(old)))}},
	absent("it is gone, and Events tell of it", st.Pod("shop/worker")).telling(killing, scheduled),
	absent("it is gone, and nothing tells of it", st.Pod("shop/worker")),
	absent("it is gone, and its Events could not be read", st.Pod("shop/worker"), st.Pod("far/worker")).unread("a file does not contain any"),
	absent("it is gone, and dependents still name it", old, owned(st.To(old)), st.Secret("shop/token", st.OwnedBy(old, web)), web),
	about("dependents name an earlier object of its name", recent, owned(st.To(old))),
	absent("it is gone, in a view that is not whole", st.Pod("shop/worker")).but(st.Unreadable("secrets", snapshot.Forbidden)),
	about("it goes, in a view that is not whole", owned(st.To(old))).but(st.Unreadable("secrets", snapshot.Forbidden), st.Unreadable("widgets.example.com", snapshot.Webhook), st.FromServer("v1.31.4")),
}
