package logs

import (
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// form is how releases of Kubernetes say something in a line of klog.
type form struct {
	file   string // of the source, without its folder
	of     string // the releases, 1.x
	level  int    // --v
	common bool   // other components write it, too
	words  string // in quotes the message of a structured line, which has values; else an expression whose groups are values
	when   string // key=value that the values have
	says   trace.LineKind
	kind   string // of the object that the value of this name has; else see form.object
	by     trace.Role
	policy string // if the values do not have it
	text   string // {key} is the name in a value
}

// The files, of k8s.io/kubernetes/pkg/controller unless said otherwise.
const (
	collector = "garbagecollector.go" // garbagecollector
	graph     = "graph_builder.go"    // garbagecollector
	podGC     = "gc_controller.go"    // podgc; storageversiongc has one, too
	anEvent   = "event.go"            // client-go/tools/record
	informer  = "shared_informer.go"  // client-go/tools/cache
	reflector = "reflector.go"        // client-go/tools/cache
	discovery = "memcache.go"         // client-go/discovery/cached/memory
	podUtils  = "controller_utils.go" // that of the controllers, and that of util/node
	purger    = "namespaced_resources_deleter.go"
)

// forms are all that is read. What is not structured is of 1.26 or older, but for errors.
var forms = []form{
	{file: collector, of: "13-26", words: `Starting garbage collector controller`, says: trace.Started},
	{file: collector, of: "27-37", words: `"Starting controller"`, when: "controller=garbagecollector", says: trace.Started},
	{file: collector, of: "13-26", words: `Garbage collector: all resource monitors have synced\. Proceeding to collect garbage`, says: trace.Syncs},
	{file: collector, of: "27-32", words: `"All resource monitors have synced. Proceeding to collect garbage"`, says: trace.Syncs},
	{file: collector, of: "33-37", words: `"Garbage collector: all resource monitors have synced"`, says: trace.Syncs},
	{file: collector, of: "13-37", level: 2, words: `"synced garbage collector"`, says: trace.Syncs},

	{file: collector, of: "33-37", words: `"Garbage collector: not all resource monitors could be synced, proceeding anyways"`, says: trace.NotWorking},
	{file: collector, of: "13-26", level: 2, words: `no resources reported by discovery.*`, says: trace.NotWorking},
	{file: collector, of: "27-37", level: 2, words: `"no resources reported by discovery, skipping garbage collector sync"`, says: trace.NotWorking},
	{file: collector, of: "27-30", level: 2, words: `"no resources reported by discovery"`, says: trace.NotWorking},
	{file: collector, of: "13-27", words: `failed to discover (?:some groups|preferred resources): .*`, says: trace.NotWorking},
	{file: collector, of: "28-37", words: `"failed to discover some groups"`, says: trace.NotWorking},
	{file: collector, of: "28-37", words: `"failed to discover preferred resources"`, says: trace.NotWorking},
	{file: collector, of: "13-37", words: `failed to sync (?:resource|all) monitors.*`, says: trace.NotWorking},
	{file: collector, of: "13-37", words: `timed out waiting for dependency graph builder sync during GC sync.*`, says: trace.NotWorking},
	{file: graph, of: "13-26", level: 4, words: `garbage controller monitor not yet synced: .*`, says: trace.NotWorking},
	{file: graph, of: "27-37", level: 4, words: `"garbage controller monitor not yet synced"`, says: trace.NotWorking},
	{file: podUtils, of: "13-15", words: `Unable to sync caches for garbage collector controller`, says: trace.NotWorking},
	{file: informer, of: "16-32", words: `unable to sync caches for garbage collector`, says: trace.NotWorking},
	{file: informer, of: "33-34", words: `"Unable to sync caches"`, when: "controller=garbage collector", says: trace.NotWorking},
	{file: informer, of: "35-37", words: `"Unable to sync caches"`, when: "logger=garbage-collector-controller.UnhandledError", says: trace.NotWorking},
	{file: reflector, of: "15-29", words: `vendor/k8s\.io/client-go/metadata/metadatainformer/.*: [Ff]ailed to (?:list|watch) \*v1\.PartialObjectMetadata.*`, says: trace.NotWorking},
	{file: reflector, of: "15-32", common: true, words: `.*: [Ff]ailed to (?:list|watch) \*v1\.PartialObjectMetadata.*`, says: trace.NotWorking},
	{file: reflector, of: "33-37", common: true, words: `"Failed to watch"`, when: "type=*v1.PartialObjectMetadata", says: trace.NotWorking},
	{file: discovery, of: "13-36", common: true, words: `couldn't get resource list for .*`, says: trace.NotWorking},
	{file: discovery, of: "37", common: true, words: `"Couldn't get resource list"`, says: trace.NotWorking},

	{file: collector, of: "13-18", level: 2, words: `processing item (?<item>\[.*\])`, says: trace.Processes},
	{file: collector, of: "19-26", level: 2, words: `"Processing object"`, says: trace.Processes},
	{file: collector, of: "27-37", level: 2, words: `"Processing item"`, says: trace.Processes},
	{file: collector, of: "13-26", level: 5, words: `object (?<objectUID>\S+)'s owner ` + ownerByName + ` is not found(?:, UID mismatch)?`, says: trace.OwnerNotFound},
	{file: collector, of: "27-37", level: 5, words: `"item's owner is not found"`, says: trace.OwnerNotFound},
	{file: collector, of: "27-37", level: 5, words: `"item's owner is not found, UID mismatch"`, says: trace.OwnerNotFound},
	{file: collector, of: "13-26", level: 5, words: `according to the absentOwnerCache, object (?<objectUID>\S+)'s owner ` + ownerByName + ` does not exist(?: in namespace \S*)?`, says: trace.OwnerKnownAbsent},
	{file: collector, of: "27-37", level: 5, words: `"according to the absentOwnerCache, item's owner does not exist"`, says: trace.OwnerKnownAbsent},
	{file: collector, of: "27-37", level: 5, words: `"according to the absentOwnerCache, item's owner does not exist in namespace"`, says: trace.OwnerKnownAbsent},
	{file: collector, of: "27-37", level: 5, words: `"classify item's references"`, says: trace.OwnerWaits},
	{file: collector, of: "13-26", level: 2, words: `object (?<item>.*) has at least one existing owner: (?<owner>.*), will not garbage collect`, says: trace.OwnerExists},
	{file: collector, of: "27-37", level: 2, words: `"item has at least one existing owner, will not garbage collect"`, says: trace.OwnerExists},
	{file: graph, of: "20-26", level: 2, words: `node (?<item>\[.*\]) references an owner (?<owner>\[.*\]) but does not match namespaces`, says: trace.OwnerElsewhere},
	{file: graph, of: "27-37", level: 2, words: `"item references an owner but does not match namespaces"`, says: trace.OwnerElsewhere},
	{file: collector, of: "13-26", level: 2, words: `adding (?<dependent>\[.*\]) to attemptToDelete, because its owner (?<item>\[.*\]) is deletingDependents`, says: trace.OwnerInForeground},
	{file: collector, of: "27-37", level: 2, words: `"adding dependent to attemptToDelete, because its owner is deletingDependents"`, says: trace.OwnerInForeground},
	{file: collector, of: "13-26", level: 2, words: `remove dangling references (?<dangling>.*) and waiting references (?<waitingForDependentsDeletion>.*) for object (?<item>\[.*\])`, says: trace.RemovesReference},
	{file: collector, of: "27-37", level: 2, words: `"remove dangling references and waiting references for item"`, says: trace.RemovesReference},
	{file: graph, of: "13-26", level: 5, words: `add (?<item>\[.*\]) to the attemptToOrphan`, says: trace.Orphans},
	{file: graph, of: "27-37", level: 5, words: `"add item to attemptToOrphan"`, says: trace.Orphans},
	{file: collector, of: "13-26", level: 5, words: `successfully updated all dependents of owner (?<item>\[.*\])`, says: trace.Orphans},
	{file: collector, of: "27-37", level: 5, words: `"successfully updated all dependents"`, says: trace.Orphans},
	{file: collector, of: "13-18", level: 2, words: `delete object (?<item>\[.*\]) with propagation policy (?<propagationPolicy>\w+)`, says: trace.Deletes, by: trace.RoleCollector},
	{file: collector, of: "19-26", level: 2, words: `"Deleting object"`, says: trace.Deletes, by: trace.RoleCollector},
	{file: collector, of: "27-37", level: 2, words: `"Deleting item"`, says: trace.Deletes, by: trace.RoleCollector},
	{file: collector, of: "13-26", level: 2, words: `at least one owner of object (?<item>\[.*\]) has FinalizerDeletingDependents, .*`, says: trace.Deletes, by: trace.RoleCollector, policy: "Foreground"},
	{file: collector, of: "27-37", level: 2, words: foreground, says: trace.Deletes, by: trace.RoleCollector, policy: "Foreground"},
	// Without the last word, before 1.20, the event might be the collector's own.
	{file: graph, of: "20-26", level: 5, words: processed, when: "virtual=false", says: trace.Gone},
	{file: graph, of: "27-37", level: 5, words: `"GraphBuilder process object"`, when: "virtual=false", says: trace.Gone},

	// Other controllers. They name an object by its name alone.
	{file: podGC, of: "13-23", words: `PodGC is force deleting Pod: (?:(?<namespace>[^\s:/]+)[:/])?(?<pod>[^\s:/]+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC},
	{file: podGC, of: "24-37", words: `"PodGC is force deleting Pod"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC},
	{file: podGC, of: "13-23", level: 2, words: `Found orphaned Pod (?<pod>\S+) assigned to the Node (?<node>.*)\. Deleting\.`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC, text: "Node {node} is gone"},
	{file: podGC, of: "24-37", level: 2, words: `"Found orphaned Pod assigned to the Node, deleting"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC, text: "Node {node} is gone"},
	{file: podGC, of: "13-23", level: 2, words: `Found unscheduled terminating Pod (?<pod>\S+) not assigned to any Node\. Deleting\.`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC, text: unscheduled},
	{file: podGC, of: "24-37", level: 2, words: `"Found unscheduled terminating Pod not assigned to any Node, deleting"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC, text: unscheduled},
	{file: podGC, of: "28-37", level: 4, words: `"Garbage collecting pod that is terminating"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RolePodGC, text: "it was terminating on a Node that is out of service"},
	{file: "ttlafterfinished_controller.go", of: "13-26", level: 4, words: `Cleaning up Job (?<job>\S+)`, says: trace.Deletes, kind: "batch/v1/Job", by: trace.RoleTTL},
	{file: "ttlafterfinished_controller.go", of: "27-37", level: 4, words: `"Cleaning up Job"`, says: trace.Deletes, kind: "batch/v1/Job", by: trace.RoleTTL},
	{file: "taint_manager.go", of: "13-21", words: `NoExecuteTaintManager is deleting Pod: (?<pod>\S+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleTaint},
	{file: "taint_manager.go", of: "22-28", words: `"NoExecuteTaintManager is deleting pod"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleTaint},
	{file: "taint_eviction.go", of: "29-37", words: `"Deleting pod"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleTaint},
	{file: podUtils, of: "13-22", level: 2, words: `Starting deletion of pod (?<pod>\S+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: nodeLifecycle},
	{file: podUtils, of: "23-37", level: 2, words: `"Starting deletion of pod"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: nodeLifecycle},
	{file: podUtils, of: "13-18", level: 2, words: `Controller (?<controller>\S+) deleting pod (?<pod>\S+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: "{controller}"},
	{file: podUtils, of: "19-37", level: 2, words: `"Deleting pod"`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: "{controller}"},
	{file: "tokencleaner.go", of: "13-26", level: 3, words: `Deleting expired secret (?<secret>\S+)`, says: trace.Deletes, kind: "v1/Secret", by: trace.RoleController, text: "token-cleaner"},
	{file: "tokencleaner.go", of: "27-37", level: 3, words: `"Deleting expired secret"`, says: trace.Deletes, kind: "v1/Secret", by: trace.RoleController, text: "token-cleaner"},
	{file: purger, of: "13-26", level: 4, words: `namespace controller - deleteAllContent - namespace: (?<namespace>[^ ,]+).*`, says: trace.Deletes, by: trace.RoleNamespace},
	{file: purger, of: "27-37", level: 4, words: `"namespace controller - deleteAllContent"`, says: trace.Deletes, by: trace.RoleNamespace},
	{file: "namespace_controller.go", of: "13-26", words: `Namespace has been deleted (?<namespace>\S+)`, says: trace.Gone, kind: "v1/Namespace"},
	{file: "namespace_controller.go", of: "27-37", words: `"Namespace has been deleted"`, says: trace.Gone, kind: "v1/Namespace"},

	// Events. The sentence is the reason and the message; who is the object that the Event is about.
	{file: anEvent, of: "13-37", words: `SuccessfulDelete: Deleted pod: (?<pod>\S+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: "{who}"},
	{file: anEvent, of: "13-37", words: `SuccessfulDelete: delete Pod (?<pod>\S+) in StatefulSet \S+ successful`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: "{who}"},
	{file: anEvent, of: "13-37", words: `SuccessfulDelete: Deleted job:? (?<job>\S+)`, says: trace.Deletes, kind: "batch/v1/Job", by: trace.RoleController, text: "{who}"},
	{file: anEvent, of: "13-37", words: `TaintManagerEviction: Marking for deletion Pod (?<pod>\S+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleTaint},
	{file: anEvent, of: "13-37", words: `Preempted: Preempted by .*`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleScheduler},
	{file: anEvent, of: "20-37", words: `OwnerRefInvalidNamespace: ownerRef (?<owner>\[.*\]) does not exist in namespace .*`, says: trace.OwnerElsewhere},
	// Of interest is only that kube-controller-manager logs them.
	{file: anEvent, of: "13-37", words: `(?:SuccessfulCreate|ScalingReplicaSet): .*`},
	{file: anEvent, of: "13-37", words: `NodeControllerEviction: Marking for deletion Pod (?<pod>\S+) from Node (?<node>\S+)`, says: trace.Deletes, kind: "v1/Pod", by: trace.RoleController, text: nodeLifecycle},
}

const (
	ownerByName   = `(?<ownerVersion>[^ ,]+)/(?<ownerKind>[^ ,/]+), (?<ownerName>.+?)`
	foreground    = `"at least one owner of item has FinalizerDeletingDependents, and the item itself has dependents, so it is going to be deleted in Foreground"`
	processed     = `GraphBuilder process object: (?<apiVersion>[^ ,]+)/(?<kind>[^ ,/]+), namespace (?<namespace>[^ ,]*), name (?<object>[^ ,]+), uid (?<objectUID>[^ ,]+), event type (?<eventType>delete), virtual=(?<virtual>\w+)`
	unscheduled   = "it was terminating and on no Node"
	nodeLifecycle = "node-lifecycle-controller"
)

// fileForms are the forms of a source file.
type fileForms struct {
	shared    bool               // other components write such lines, too
	messages  map[string][]*form // that differ in when
	sentences []sentence
}

type sentence struct {
	*form
	begin   string
	pattern *regexp.Regexp
}

// byFile are the forms by their file. The other files tell that a log is one of kube-controller-manager.
var byFile = map[string]*fileForms{}

func init() {
	for _, file := range []string{
		"controllermanager.go", "replica_set.go", "replication_controller.go", "deployment_controller.go", "stateful_set.go", "daemon_controller.go", "job_controller.go",
		"cronjob_controllerv2.go", "endpoints_controller.go", "endpointslice_controller.go", "resource_quota_controller.go", "horizontal.go",
		"node_lifecycle_controller.go", "pv_controller.go", "attach_detach_controller.go", "disruption.go", "range_allocator.go",
		collector, graph, podGC, purger,
	} {
		byFile[file] = &fileForms{messages: map[string][]*form{}}
	}
	for i := range forms {
		f := &forms[i]
		of := byFile[f.file]
		if of == nil {
			of = &fileForms{messages: map[string][]*form{}}
			byFile[f.file] = of
		}
		if message, ok := strings.CutPrefix(f.words, `"`); ok {
			message = strings.TrimRight(message, `."`)
			of.messages[message] = append(of.messages[message], f)
			continue
		}
		begin := f.words[:strings.IndexAny(f.words+"(", `(\[.*:`)]
		of.sentences = append(of.sentences, sentence{f, begin, regexp.MustCompile(`(?s)^(?:` + f.words + `)$`)})
	}
	for _, file := range []string{anEvent, informer, reflector, discovery} {
		byFile[file].shared = true
	}
}
