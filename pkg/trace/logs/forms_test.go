package logs

import (
	gocmp "cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// wording is how releases say something, and what that is.
type wording struct {
	releases, message string
	level             int
	want              trace.Line // the first, without the time; no kind if it says nothing of interest
	file              string     // if it is not the collector's
}

// ofCollector has a line of each format string of the garbage collector.
func ofCollector() []wording {
	exporter := object.Identity{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "monitoring", Name: "redis-exporter", UID: "e-1"}
	redis := object.Identity{APIVersion: "app.example.com/v1", Kind: "RedisCluster", Name: "redis-0826", UID: "r-1"}
	elsewhere := redis
	elsewhere.Namespace = "data"
	withoutUID := redis
	withoutUID.UID = ""
	onlyUID := object.Identity{UID: "e-1"}
	withoutVersion := exporter
	withoutVersion.APIVersion = ""
	const (
		item  = "[apps/v1/StatefulSet, namespace: monitoring, name: redis-exporter, uid: e-1]"
		owner = "[app.example.com/v1/RedisCluster, namespace: data, name: redis-0826, uid: r-1]"
		ref   = `{"apiVersion":"app.example.com/v1","kind":"RedisCluster","name":"redis-0826","uid":"r-1","controller":true}`
	)
	inGo := func(of object.Identity) string {
		return fmt.Sprintf(`v1.OwnerReference{APIVersion:%q, Kind:%q, Name:%q, UID:%q, Controller:(*bool)(0xc000), BlockOwnerDeletion:(*bool)(nil)}`, of.APIVersion, of.Kind, of.Name, string(of.UID))
	}
	itemInGo := "garbagecollector.objectReference{OwnerReference:" + inGo(exporter) + `, Namespace:"monitoring"}`
	return []wording{
		{"1.13-1.26", `Starting garbage collector controller`, 0, trace.Line{Says: trace.Started}, ""},
		{"1.27-1.37", `"Starting controller" controller="garbagecollector"`, 0, trace.Line{Says: trace.Started}, ""},
		{"1.27-1.37", `"Starting controller" controller="podgc"`, 0, trace.Line{}, ""},
		{"1.13-1.18", `processing item ` + item, 2, trace.Line{Says: trace.Processes, Object: exporter}, ""},
		{"1.19", `"Processing object" object="monitoring/redis-exporter" objectUID=e-1 kind="StatefulSet"`, 2, trace.Line{Says: trace.Processes, Object: withoutVersion}, ""},
		{"1.20-1.26", `"Processing object" object="monitoring/redis-exporter" objectUID="e-1" kind="StatefulSet" virtual=false`, 2, trace.Line{Says: trace.Processes, Object: withoutVersion}, ""},
		{"1.20-1.26", `"Processing object" object="monitoring/redis-0826" objectUID="r-1" kind="RedisCluster" virtual=true`, 2, trace.Line{}, ""},
		{"1.27-1.37", `"Processing item" item="` + item + `" virtual=false`, 2, trace.Line{Says: trace.Processes, Object: exporter}, ""},
		{"1.30-1.37", `"Processing item" logger="garbage-collector-controller" item="` + item + `" virtual=false`, 2, trace.Line{Says: trace.Processes, Object: exporter}, ""},
		{"1.13-1.18", `processing item ` + item + ` returned at once, because its DeletionTimestamp is non-nil`, -1, trace.Line{}, ""},
		{"1.13-1.26", `object e-1's owner app.example.com/v1/RedisCluster, redis-0826 is not found`, 5, trace.Line{Says: trace.OwnerNotFound, Object: onlyUID, Owner: withoutUID}, ""},
		{"1.13-1.26", `object e-1's owner app.example.com/v1/RedisCluster, redis-0826 is not found, UID mismatch`, 5, trace.Line{Says: trace.OwnerNotFound, Object: onlyUID, Owner: withoutUID}, ""},
		{"1.27", `"item's owner is not found" item="` + item + `" owner={APIVersion:app.example.com/v1 Kind:RedisCluster Name:redis-0826 UID:r-1 Controller:0xc000 BlockOwnerDeletion:<nil>}`, 5, trace.Line{Says: trace.OwnerNotFound, Object: exporter, Owner: redis}, ""},
		{"1.28-1.37", `"item's owner is not found" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerNotFound, Object: exporter, Owner: redis}, ""},
		{"1.28-1.37", `"item's owner is not found, UID mismatch" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerNotFound, Object: exporter, Owner: redis}, ""},
		{"1.13-1.26", `according to the absentOwnerCache, object e-1's owner app.example.com/v1/RedisCluster, redis-0826 does not exist`, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: onlyUID, Owner: withoutUID}, ""},
		{"1.20-1.26", `according to the absentOwnerCache, object e-1's owner app.example.com/v1/RedisCluster, redis-0826 does not exist in namespace monitoring`, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: onlyUID, Owner: withoutUID}, ""},
		{"1.28-1.37", `"according to the absentOwnerCache, item's owner does not exist" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: exporter, Owner: redis}, ""},
		{"1.28-1.37", `"according to the absentOwnerCache, item's owner does not exist in namespace" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: exporter, Owner: redis}, ""},
		{"1.13-1.26", `classify references of ` + item + `.`, -1, trace.Line{}, ""},
		{"1.27-1.37", `"classify item's references" item="` + item + `" solid=null dangling=[` + ref + `] waitingForDependentsDeletion=null`, 5, trace.Line{Says: trace.Owned, Object: exporter, Owner: redis}, ""},
		{"1.28-1.37", `"classify item's references" item="` + item + `" solid=[` + ref + `] dangling=null waitingForDependentsDeletion=null`, 5, trace.Line{Says: trace.OwnerExists, Object: exporter, Owner: redis}, ""},
		{"1.28-1.37", `"classify item's references" item="` + item + `" solid=null dangling=[] waitingForDependentsDeletion=[` + ref + `]`, 5, trace.Line{Says: trace.OwnerWaits, Object: exporter, Owner: redis}, ""},
		{"1.27", `"classify item's references" item="` + item + `" solid=[] dangling=[] waitingForDependentsDeletion=[{APIVersion:app.example.com/v1 Kind:RedisCluster Name:redis-0826 UID:r-1 Controller:0xc000 BlockOwnerDeletion:<nil>}]`, 5, trace.Line{Says: trace.OwnerWaits, Object: exporter, Owner: redis}, ""},
		{"1.20-1.26", `node ` + item + ` references an owner ` + owner + ` but does not match namespaces`, 2, trace.Line{Says: trace.OwnerElsewhere, Object: exporter, Owner: elsewhere}, graph},
		{"1.27-1.37", `"item references an owner but does not match namespaces" item="` + item + `" owner="` + owner + `"`, 2, trace.Line{Says: trace.OwnerElsewhere, Object: exporter, Owner: elsewhere}, graph},
		{"1.13-1.26", `adding ` + item + ` to attemptToDelete, because its owner ` + owner + ` is deletingDependents`, 2, trace.Line{Says: trace.OwnerInForeground, Object: exporter, Owner: elsewhere}, ""},
		{"1.27-1.37", `"adding dependent to attemptToDelete, because its owner is deletingDependents" item="` + owner + `" dependent="` + item + `"`, 2, trace.Line{Says: trace.OwnerInForeground, Object: exporter, Owner: elsewhere}, ""},
		{"1.13-1.18", `delete object ` + item + ` with propagation policy Background`, 2, trace.Line{Says: trace.Deletes, By: trace.RoleCollector, Object: exporter, Policy: "Background"}, ""},
		{"1.19-1.26", `"Deleting object" object="monitoring/redis-exporter" objectUID="e-1" kind="StatefulSet" propagationPolicy=Orphan`, 2, trace.Line{Says: trace.Deletes, By: trace.RoleCollector, Object: withoutVersion, Policy: "Orphan"}, ""},
		{"1.27", `"Deleting item" item="` + item + `" propagationPolicy=Background`, 2, trace.Line{Says: trace.Deletes, By: trace.RoleCollector, Object: exporter, Policy: "Background"}, ""},
		{"1.28-1.37", `"Deleting item" item="` + item + `" propagationPolicy="Background"`, 2, trace.Line{Says: trace.Deletes, By: trace.RoleCollector, Object: exporter, Policy: "Background"}, ""},
		{"1.13-1.26", `at least one owner of object ` + item + ` has FinalizerDeletingDependents, and the object itself has dependents, so it is going to be deleted in Foreground`, 2, trace.Line{Says: trace.Deletes, By: trace.RoleCollector, Object: exporter, Policy: "Foreground"}, ""},
		{"1.27-1.37", `"at least one owner of item has FinalizerDeletingDependents, and the item itself has dependents, so it is going to be deleted in Foreground" item="` + item + `"`, 2, trace.Line{Says: trace.Deletes, By: trace.RoleCollector, Object: exporter, Policy: "Foreground"}, ""},
		{"1.13-1.26", `remove dangling references []v1.OwnerReference{` + inGo(redis) + `} and waiting references []v1.OwnerReference(nil) for object ` + item, 2, trace.Line{Says: trace.RemovesReference, Object: exporter, Owner: redis}, ""},
		{"1.27-1.37", `"remove dangling references and waiting references for item" item="` + item + `" dangling=[` + ref + `] waitingForDependentsDeletion=null`, 2, trace.Line{Says: trace.RemovesReference, Object: exporter, Owner: redis}, ""},
		{"1.13-1.19", `GraphBuilder process object: apps/v1/StatefulSet, namespace monitoring, name redis-exporter, uid e-1, event type delete`, -1, trace.Line{}, graph},
		{"1.20-1.26", `GraphBuilder process object: apps/v1/StatefulSet, namespace monitoring, name redis-exporter, uid e-1, event type delete, virtual=false`, 5, trace.Line{Says: trace.Gone, Object: exporter}, graph},
		{"1.20-1.26", `GraphBuilder process object: apps/v1/StatefulSet, namespace monitoring, name redis-exporter, uid e-1, event type delete, virtual=true`, 5, trace.Line{}, graph},
		{"1.27-1.37", `"GraphBuilder process object" apiVersion="apps/v1" kind="StatefulSet" object="monitoring/redis-exporter" uid="e-1" eventType="delete" virtual=false`, 5, trace.Line{Says: trace.Gone, Object: exporter}, graph},
		{"1.27-1.37", `"GraphBuilder process object" apiVersion="apps/v1" kind="StatefulSet" object="monitoring/redis-exporter" uid="e-1" eventType="update" virtual=false`, 5, trace.Line{}, graph},
		{"1.13-1.15", `object []v1.OwnerReference{` + inGo(redis) + `} has at least one existing owner: ` + itemInGo + `, will not garbage collect`, 2, trace.Line{Says: trace.OwnerExists, Object: exporter, Owner: redis}, ""},
		{"1.16-1.26", `object ` + itemInGo + ` has at least one existing owner: []v1.OwnerReference{` + inGo(redis) + `}, will not garbage collect`, 2, trace.Line{Says: trace.OwnerExists, Object: exporter, Owner: redis}, ""},
		{"1.27", `"item has at least one existing owner, will not garbage collect" item="` + item + `" owner=[{APIVersion:app.example.com/v1 Kind:RedisCluster Name:redis-0826 UID:r-1 Controller:0xc000 BlockOwnerDeletion:<nil>}]`, 2, trace.Line{Says: trace.OwnerExists, Object: exporter, Owner: redis}, ""},
		{"1.28-1.37", `"item has at least one existing owner, will not garbage collect" item="` + item + `" owner=[` + ref + `]`, 2, trace.Line{Says: trace.OwnerExists, Object: exporter, Owner: redis}, ""},
		{"1.13-1.26", `add ` + item + ` to the attemptToOrphan`, 5, trace.Line{Says: trace.Orphans, Object: exporter}, graph},
		{"1.27-1.37", `"add item to attemptToOrphan" item="` + item + `"`, 5, trace.Line{Says: trace.Orphans, Object: exporter}, graph},
		{"1.13-1.26", `successfully updated all dependents of owner ` + item, 5, trace.Line{Says: trace.Orphans, Object: exporter}, ""},
		{"1.27-1.37", `"successfully updated all dependents" owner="` + item + `"`, 5, trace.Line{Says: trace.Orphans, Object: exporter}, ""},
		{"1.13-1.26", `Garbage collector: all resource monitors have synced. Proceeding to collect garbage`, 0, trace.Line{Says: trace.Syncs}, ""},
		{"1.27-1.32", `"All resource monitors have synced. Proceeding to collect garbage" logger="garbage-collector-controller"`, 0, trace.Line{Says: trace.Syncs}, ""},
		{"1.33-1.37", `"Garbage collector: all resource monitors have synced" logger="garbage-collector-controller"`, 0, trace.Line{Says: trace.Syncs}, ""},
		{"1.13-1.26", `synced garbage collector`, 2, trace.Line{Says: trace.Syncs}, ""},
		{"1.27-1.37", `"synced garbage collector"`, 2, trace.Line{Says: trace.Syncs}, ""},
	}
}

// notWorking has a line of each error that means that the collector cannot look at some type, or at all.
func notWorking() []wording {
	not := func(text string) trace.Line { return trace.Line{Says: trace.NotWorking, Text: text} }
	return []wording{
		{"1.33-1.37", `"Garbage collector: not all resource monitors could be synced, proceeding anyways"`, 0, not("Garbage collector: not all resource monitors could be synced, proceeding anyways"), ""},
		{"1.13-1.26", `no resources reported by discovery (attempt 3)`, 2, not("no resources reported by discovery (attempt 3)"), ""},
		{"1.27-1.37", `"no resources reported by discovery, skipping garbage collector sync"`, 2, not("no resources reported by discovery, skipping garbage collector sync"), ""},
		{"1.27-1.30", `"no resources reported by discovery" attempt=3`, 2, not("no resources reported by discovery"), ""},
		{"1.13-1.27", `failed to discover some groups: map[metrics.k8s.io/v1beta1:the server is currently unable to handle the request]`, 0, not("failed to discover some groups: map[metrics.k8s.io/v1beta1:the server is currently unable to handle the request]"), ""},
		{"1.28-1.37", `"failed to discover some groups" groups="map[\"projectcalico.org/v3\":\"stale GroupVersion discovery\"]"`, 0, not(`failed to discover some groups: map["projectcalico.org/v3":"stale GroupVersion discovery"]`), ""},
		{"1.28-1.37", `"failed to discover preferred resources" error="EOF"`, 0, not("failed to discover preferred resources: EOF"), ""},
		{"1.13-1.30", `failed to sync resource monitors (attempt 1): couldn't start monitor`, 0, not("failed to sync resource monitors (attempt 1): couldn't start monitor"), ""},
		{"1.31-1.37", `"Unhandled Error" err="failed to sync resource monitors: couldn't start monitor" logger="UnhandledError"`, 0, not("failed to sync resource monitors: couldn't start monitor"), ""},
		{"1.13-1.30", `timed out waiting for dependency graph builder sync during GC sync (attempt 1)`, 0, not("timed out waiting for dependency graph builder sync during GC sync (attempt 1)"), ""},
		{"1.13-1.26", `garbage controller monitor not yet synced: example.com/v1, Resource=widgets`, 4, not("garbage controller monitor not yet synced: example.com/v1, Resource=widgets"), graph},
		{"1.27-1.37", `"garbage controller monitor not yet synced" resource="example.com/v1, Resource=widgets"`, 4, not("garbage controller monitor not yet synced: example.com/v1, Resource=widgets"), graph},
		{"1.13-1.15", `Unable to sync caches for garbage collector controller`, 0, not("Unable to sync caches for garbage collector controller"), podUtils},
		{"1.16-1.30", `unable to sync caches for garbage collector`, 0, not("unable to sync caches for garbage collector"), informer},
		{"1.16-1.30", `unable to sync caches for resource quota`, -1, trace.Line{}, informer},
		{"1.33-1.34", `"Unable to sync caches" logger="UnhandledError" controller="garbage collector"`, 0, not("Unable to sync caches"), informer},
		{"1.35-1.37", `"Unable to sync caches" logger="garbage-collector-controller.UnhandledError"`, 0, not("Unable to sync caches"), informer},
		{"1.13-1.30", `k8s.io/client-go/metadata/metadatainformer/informer.go:90: Failed to watch *v1.PartialObjectMetadata: failed to list *v1.PartialObjectMetadata: the server could not find the requested resource`, 0, not("k8s.io/client-go/metadata/metadatainformer/informer.go:90: Failed to watch *v1.PartialObjectMetadata: failed to list *v1.PartialObjectMetadata: the server could not find the requested resource"), reflector},
		{"1.13-1.29", `vendor/k8s.io/client-go/metadata/metadatainformer/informer.go:90: failed to list *v1.PartialObjectMetadata: forbidden`, 0, not("vendor/k8s.io/client-go/metadata/metadatainformer/informer.go:90: failed to list *v1.PartialObjectMetadata: forbidden"), reflector},
		{"1.33-1.37", `"Failed to watch" err="failed to list *v1.PartialObjectMetadata: forbidden" logger="UnhandledError" reflector="a" type="*v1.PartialObjectMetadata"`, 0, not("Failed to watch: failed to list *v1.PartialObjectMetadata: forbidden"), reflector},
		{"1.33-1.37", `"Failed to watch" err="failed to list *v1.Pod: forbidden" logger="UnhandledError" reflector="a" type="*v1.Pod"`, 0, trace.Line{}, reflector},
		{"1.37", `"Couldn't get resource list" err="the server is currently unable to handle the request" logger="UnhandledError" gv="metrics.k8s.io/v1beta1"`, 0, not("Couldn't get resource list: metrics.k8s.io/v1beta1: the server is currently unable to handle the request"), discovery},
		{"1.13-1.30", `couldn't get resource list for metrics.k8s.io/v1beta1: the server is currently unable to handle the request`, 0, not("couldn't get resource list for metrics.k8s.io/v1beta1: the server is currently unable to handle the request"), discovery},
	}
}

// ofOthers has a line of each format string of other controllers.
func ofOthers() []wording {
	deletes := func(apiVersion, kind, name string, by trace.Role, text string) trace.Line {
		return trace.Line{Says: trace.Deletes, Object: object.Identity{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: name}, By: by, Text: text}
	}
	pod := func(by trace.Role, text string) trace.Line { return deletes("v1", "Pod", "web-1", by, text) }
	const unscheduled, nodes = "it was terminating and on no Node", "node-lifecycle-controller"
	event := func(kind, reason, message string) string {
		return fmt.Sprintf(`"Event occurred" object="shop/web" fieldPath="" kind=%q apiVersion="v1" type="Normal" reason=%q message=%q`, kind, reason, message)
	}
	return []wording{
		{"1.13-1.23", `PodGC is force deleting Pod: shop/web-1`, 0, pod(trace.RolePodGC, ""), podGC},
		{"1.24-1.37", `"PodGC is force deleting Pod" pod="shop/web-1"`, 0, pod(trace.RolePodGC, ""), podGC},
		{"1.13-1.23", `Found orphaned Pod shop/web-1 assigned to the Node node-1. Deleting.`, 2, pod(trace.RolePodGC, "Node node-1 is gone"), podGC},
		{"1.24-1.27", `"Found orphaned Pod assigned to the Node, deleting." pod="shop/web-1" node="node-1"`, 2, pod(trace.RolePodGC, "Node node-1 is gone"), podGC},
		{"1.28-1.37", `"Found orphaned Pod assigned to the Node, deleting" pod="shop/web-1" node="node-1"`, 2, pod(trace.RolePodGC, "Node node-1 is gone"), podGC},
		{"1.13-1.23", `Found unscheduled terminating Pod shop/web-1 not assigned to any Node. Deleting.`, 2, pod(trace.RolePodGC, unscheduled), podGC},
		{"1.28-1.37", `"Found unscheduled terminating Pod not assigned to any Node, deleting" pod="shop/web-1"`, 2, pod(trace.RolePodGC, unscheduled), podGC},
		{"1.28-1.37", `"Garbage collecting pod that is terminating" pod="shop/web-1" phase="Running"`, 4, pod(trace.RolePodGC, "it was terminating on a Node that is out of service"), podGC},
		{"1.13-1.37", `garbage collecting 12 pods`, -1, trace.Line{}, podGC},
		{"1.13-1.26", `Cleaning up Job shop/import`, 4, deletes("batch/v1", "Job", "import", trace.RoleTTL, ""), "ttlafterfinished_controller.go"},
		{"1.27-1.37", `"Cleaning up Job" logger="ttlafterfinished-controller" job="shop/import"`, 4, deletes("batch/v1", "Job", "import", trace.RoleTTL, ""), "ttlafterfinished_controller.go"},
		{"1.13-1.21", `NoExecuteTaintManager is deleting Pod: shop/web-1`, 0, pod(trace.RoleTaint, ""), "taint_manager.go"},
		{"1.22-1.28", `"NoExecuteTaintManager is deleting pod" pod="shop/web-1"`, 0, pod(trace.RoleTaint, ""), "taint_manager.go"},
		{"1.29-1.37", `"Deleting pod" logger="taint-eviction-controller" controller="taint-eviction-controller" pod="shop/web-1"`, 0, pod(trace.RoleTaint, ""), "taint_eviction.go"},
		{"1.13-1.22", `Starting deletion of pod shop/web-1`, 2, pod(trace.RoleController, nodes), podUtils},
		{"1.23-1.37", `"Starting deletion of pod" pod="shop/web-1"`, 2, pod(trace.RoleController, nodes), podUtils},
		{"1.13-1.18", `Controller web deleting pod shop/web-1`, 2, pod(trace.RoleController, "web"), podUtils},
		{"1.19-1.37", `"Deleting pod" controller="web" pod="shop/web-1"`, 2, pod(trace.RoleController, "web"), podUtils},
		{"1.13-1.26", `Deleting expired secret shop/token`, 3, deletes("v1", "Secret", "token", trace.RoleController, "token-cleaner"), "tokencleaner.go"},
		{"1.27-1.37", `"Deleting expired secret" secret="shop/token"`, 3, deletes("v1", "Secret", "token", trace.RoleController, "token-cleaner"), "tokencleaner.go"},
		{"1.13-1.26", `namespace controller - deleteAllContent - namespace: shop, estimate: 0, errors: <nil>`, 4, trace.Line{Says: trace.Deletes, By: trace.RoleNamespace, Object: object.Identity{Namespace: "shop"}}, purger},
		{"1.27-1.37", `"namespace controller - deleteAllContent" namespace="shop"`, 4, trace.Line{Says: trace.Deletes, By: trace.RoleNamespace, Object: object.Identity{Namespace: "shop"}}, purger},
		{"1.13-1.26", `Namespace has been deleted shop`, 0, trace.Line{Says: trace.Gone, Object: object.Identity{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}, "namespace_controller.go"},
		{"1.27-1.37", `"Namespace has been deleted" namespace="shop"`, 0, trace.Line{Says: trace.Gone, Object: object.Identity{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}, "namespace_controller.go"},
		{"1.13-1.19", `Event(v1.ObjectReference{Kind:"ReplicaSet", Namespace:"shop", Name:"web", UID:"u", APIVersion:"apps/v1", ResourceVersion:"1", FieldPath:""}): type: 'Normal' reason: 'SuccessfulDelete' Deleted pod: web-1`, 0, pod(trace.RoleController, "ReplicaSet/web"), anEvent},
		{"1.20-1.37", event("ReplicaSet", "SuccessfulDelete", "Deleted pod: web-1"), 0, pod(trace.RoleController, "ReplicaSet/web"), anEvent},
		{"1.20-1.37", event("StatefulSet", "SuccessfulDelete", "delete Pod web-1 in StatefulSet web successful"), 0, pod(trace.RoleController, "StatefulSet/web"), anEvent},
		{"1.20-1.37", event("CronJob", "SuccessfulDelete", "Deleted job web-1"), 0, deletes("batch/v1", "Job", "web-1", trace.RoleController, "CronJob/web"), anEvent},
		{"1.20-1.37", event("Pod", "TaintManagerEviction", "Marking for deletion Pod shop/web-1"), 0, pod(trace.RoleTaint, ""), anEvent},
		{"1.20-1.37", event("Pod", "TaintManagerEviction", "Cancelling deletion of Pod shop/web-1"), -1, trace.Line{}, anEvent},
		{"1.20-1.37", event("Pod", "NodeControllerEviction", "Marking for deletion Pod web-1 from Node node-1"), 0, pod(trace.RoleController, nodes), anEvent},
		{"1.20-1.37", event("ReplicaSet", "SuccessfulCreate", "Created pod: web-1"), 0, trace.Line{}, anEvent},
		{"1.20-1.37", event("Deployment", "ScalingReplicaSet", "Scaled up replica set web-1 to 1"), 0, trace.Line{}, anEvent},
		{"1.20-1.37", event("Pod", "Killing", "Container web failed liveness probe, will be restarted"), -1, trace.Line{}, anEvent},
		{"1.20-1.37", event("Pod", "Preempted", "Preempted by pod u on node node-1"), 0, deletes("v1", "Pod", "web", trace.RoleScheduler, ""), anEvent},
		{"1.20-1.37", event("Widget", "OwnerRefInvalidNamespace", `ownerRef [v1/Pod, namespace: shop, name: boss, uid: b-1] does not exist in namespace "shop"`), 0, trace.Line{
			Says: trace.OwnerElsewhere, Object: object.Identity{APIVersion: "v1", Kind: "Widget", Namespace: "shop", Name: "web"}, Owner: object.Identity{APIVersion: "v1", Kind: "Pod", Name: "boss", UID: "b-1"},
		}, anEvent},
	}
}

func TestEachFormOfALineIsRead(t *testing.T) {
	read := map[*form]bool{}
	for _, tt := range slices.Concat(ofCollector(), notWorking(), ofOthers()) {
		file := gocmp.Or(tt.file, collector)
		lines, source, err := readLines(t, "I1127 21:00:01.500000       1 controllermanager.go:1] x\nI1127 21:00:01.500000       1 "+file+":1] "+tt.message+"\n")
		if err != nil || source.Unreadable != 0 || source.Verbosity != tt.level {
			t.Errorf("%s: error %v, %d unreadable, level %d, want %d", tt.message, err, source.Unreadable, source.Verbosity, tt.level)
		}
		var want []trace.Line
		if tt.want.Says != "" {
			tt.want.Time = at
			want = append(want, tt.want)
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.message, diff)
		}
		e := structured(tt.message)
		if e.message == "Unhandled Error" {
			e.message = e.values["err"]
		}
		if file == anEvent {
			e = ofEvent(e)
		}
		f, _ := byFile[file].find(&e)
		read[f] = true
	}
	for i := range forms {
		if !read[&forms[i]] {
			t.Errorf("no line of %s is tested: %s", forms[i].file, forms[i].words)
		}
	}
}
