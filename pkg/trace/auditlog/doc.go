// Package auditlog reads the audit log of kube-apiserver: events of audit.k8s.io/v1, one a line.
//
// What Kubernetes 1.37 writes about a request depends on the level of the policy:
//
//   - Metadata: who asked for what, and the code of the answer. The UID is known for an update, and for a
//     deletion that nothing held, whose answer is a Status. Neither options nor owners are. A deletion with dryRun in its body, as kubectl sends it, looks like
//     one that was done.
//   - Request: also the options, if the request has a body. kubectl and the controllers send one. Then the
//     server ignores options in the URL (endpoints/handlers/delete.go, DeleteResource). The UID of an
//     object that something held is known if it is a precondition: the garbage collector and kubelets set it.
//   - RequestResponse: also the UID. The answer to a deletion is the whole object while a finalizer or a
//     grace period keeps it, and for the types whose store returns deleted objects, such as Pod and
//     PersistentVolumeClaim. For others it is a Status, whose details have the UID and, as kind, the
//     resource. The answer to the deletion of a collection is a list of the objects as they were before.
//     The answer to the garbage collector's patches is a PartialObjectMetadata.
//
// An object that a finalizer keeps goes with the update or patch that removes the last one, also one of
// its status: so ends a CustomResourceDefinition. A Namespace goes with an update of namespaces/finalize.
// The log has no event for instances that are deleted with their CustomResourceDefinition, as the
// API server deletes them in its storage.
package auditlog
