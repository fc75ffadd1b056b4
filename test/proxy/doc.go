// Package proxy runs a proxy between kubectl gc and a test control plane, which injects the
// faults that happen between a client and a real API server.
//
// Start listens on loopback and forwards requests as the control plane's admin. The caller
// chooses the faults: FirstMatch responds by explicit rules, and a FaultInjector by a seed,
// with the faults of error_responses.go, body_faults.go and connection_faults.go. A Liar also
// responds by a seed, but changes what the responses say (lie.go and the files lie_*.go).
//
// A Liar tells only lies that a client can detect: from the response alone, from the request,
// or because another response contradicts it. It does not tell these, which no client could
// detect:
//
//   - a well-formed list that lacks an object, or has one that does not exist, if no other
//     response contradicts it. It leaves out owners only if an object in all lists refers to
//     them, so that a GET finds them.
//   - an empty list in protobuf, or "items": null in JSON, which are valid empty lists.
//   - a metadata list of another type, in an envelope without that type's name, as metadata
//     does not have its type.
//   - an object in the wrong namespace, in a list of all namespaces.
//   - an older state in the first list of a type. The resourceVersions of different types
//     cannot be compared, since a server may store them separately.
//   - a repeated response with the same resourceVersion.
//   - discovery without a built-in type from the first request on. A client can check only
//     types with a CustomResourceDefinition and groups with an APIService; other types are
//     left out only after they were discovered once.
//   - an API server's exact 404 for the metadata of an object that exists.
//   - a wrong UID, owner reference, finalizer or deletionTimestamp in all responses about an
//     object. UIDs change between responses, or are those of other objects.
//   - a whole object with other contents.
//   - the success of a write, as an API server reports it, with a matching object. But it
//     responds to a DELETE with Success without forwarding it, as a later read shows that the
//     object still exists.
//
// The proxy forwards only to a control plane that testcluster.RequireTestCluster accepts. The
// kubeconfig that it writes has only the proxy.
package proxy
