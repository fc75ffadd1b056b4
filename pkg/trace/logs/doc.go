// Package logs reads what tells who deleted what: audit logs of kube-apiserver, those of Google Cloud, and logs of
// kube-controller-manager, with whatever collectors, exports and people put around them.
//
// A text is cut into lines and JSON objects (split.go), what is around these is removed (wrap.go), and what is inside is an
// event of audit.k8s.io (audit.go), an entry of Google Cloud (google.go), a line of klog (klog.go), whose words are in forms.go,
// or an Event of the API (event.go). Whoever may create Events in a namespace can make one up, about objects in that namespace.
//
// What Kubernetes 1.37 writes about a request depends on the level of the audit policy:
//
//   - Metadata: who asked for what, and the code of the answer. The UID is known for an update, and for a
//     deletion that nothing held, whose answer is a Status. Neither options nor owners are. A deletion with dryRun in its
//     body, as kubectl sends it, looks like one that was done, and one that was done may have dryRun in its URL.
//   - Request: also the options, if the request has a body. kubectl and the controllers send one. The UID of an
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
//
// What a log of kube-controller-manager shows depends on its level (--v); most installations have 2. That has what the
// collector deleted, and of the owners only those that exist, that are deleted in the foreground, or that it knows to be in
// another namespace. Absent owners are at level 5, named as the reference does; before 1.27 without their UID. As JSON,
// since 1.27, identities have no kind.
//
// Before 1.27 klog did not escape a line break in the name or the UID of an owner, so whoever could create an
// object could write lines of this log.
package logs
